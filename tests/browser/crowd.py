"""A large database of made-up memories, of which a known number carries one tag more."""

from __future__ import annotations

from pathlib import Path

ROWS = 20_000
MARKED = 1_200
MARK = "harbour sensors"

BATCH = 2_000
_EVERY, _OF = 50, MARKED * 50 // ROWS


def fill_crowd(home: Path) -> None:
    """Store ``ROWS`` memories with vectors of the quick model that the servers here use."""
    from maintenance.bench.made_up import payload
    from memories.contract import MemsuiteError
    from memories.embedding import create_embedder
    from memories.repository import Author, MemoryRepository
    from memories.settings import load_settings

    def member(number: int) -> dict[str, object]:
        made = payload(number)
        return made | {"tags": [*made["tags"], MARK]} if number % _EVERY < _OF else made

    settings = load_settings(
        hermes_home=home, environ={"MEMSUITE_EMBED_MODEL": "builtin:static", "MEMSUITE_FSYNC": "off"}
    )
    with MemoryRepository(settings, create_embedder(settings)) as repository:
        for start in range(0, ROWS, BATCH):
            rows = [member(number) for number in range(start, start + BATCH)]
            for result in repository.add_many(rows, Author("import:crowd", source="import:crowd")):
                if isinstance(result, MemsuiteError):
                    raise result
