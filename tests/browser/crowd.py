"""A large database of made-up memories, of which a known number carries one tag more."""

from __future__ import annotations

from pathlib import Path
from random import Random

ROWS = 20_000
MARKED = 1_200
MARK = "harbour sensors"

FACT_WORDS = 8
BATCH = 2_000
_EVERY, _OF = 50, MARKED * 50 // ROWS


def fill_crowd(home: Path) -> None:
    """Store ``ROWS`` memories with vectors of the quick model that the servers here use."""
    from maintenance.bench.made_up import domain_of, words
    from memories.contract import MemsuiteError
    from memories.embedding import create_embedder
    from memories.repository import Author, MemoryRepository
    from memories.settings import load_settings

    def member(number: int) -> dict[str, object]:
        marks = [MARK] if number % _EVERY < _OF else []
        return {
            "domain": domain_of(number),
            "subject": f"service_{number}",
            "facts": [" ".join(words(Random(number), FACT_WORDS)), f"port={1024 + number}"],
            "tier": 2 + number % 2,
            "category": ("tech", "project", "decision", "reference")[number % 4],
            "tags": [f"area {number % 40}", f"team {number % 7}", *marks],
        }

    settings = load_settings(
        hermes_home=home, environ={"MEMSUITE_EMBED_MODEL": "builtin:static", "MEMSUITE_FSYNC": "off"}
    )
    with MemoryRepository(settings, create_embedder(settings)) as repository:
        for start in range(0, ROWS, BATCH):
            rows = [member(number) for number in range(start, start + BATCH)]
            for result in repository.add_many(rows, Author("import:crowd", source="import:crowd")):
                if isinstance(result, MemsuiteError):
                    raise result
