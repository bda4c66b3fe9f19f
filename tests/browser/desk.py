"""A database with work for a curator: disagreements, duplicates, and a review of more than forty items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.old_rows import store_as_it_was

if TYPE_CHECKING:
    from memories.repository import MemoryRepository

DISPUTED = ("Tide_API", "Harbour_map", "Gauge_feed", "Parcel_desk")
"""Subjects of which two memories state another ``timeout``: 900 and 600."""

JUNK, DRIFTED, BROKEN, SECRETS = 16, 14, 10, 4

KEPT_FACT, LOST_FACT, SPARE_FACT = (
    "The ferry leaves at noon from quay=4 for the island",
    "Tickets are sold on board",
    "The old timetable ends in June",
)


@contextmanager
def repository_of(home: Path) -> Iterator[MemoryRepository]:
    """The database beside the server, as the agent opens it."""
    from memories.embedding.static import static_embedder
    from memories.repository import MemoryRepository
    from memories.settings import load_settings

    settings = load_settings(
        hermes_home=home, environ={"MEMSUITE_EMBED_MODEL": "builtin:static", "MEMSUITE_FSYNC": "off"}
    )
    with MemoryRepository(settings, static_embedder()) as opened:
        yield opened


def fill_desk(home: Path) -> None:
    with repository_of(home) as store:
        for subject in DISPUTED:
            _dispute(store, subject)
        _add(store, "Ferry", KEPT_FACT, LOST_FACT, quality=0.9)
        _add(store, "Ferry_time", KEPT_FACT, SPARE_FACT)
        for number in range(JUNK):
            _add(store, f"Trial_{number}", "test")
        for number in range(DRIFTED):
            _drifted(store, number)
        for number in range(BROKEN):
            label = {"type": "part_of", "target": f"Havlys:Absent_{number}"}
            _add(store, f"Lock_{number}", f"It shuts door={number} of the depot", relations=[label])
        for number in range(SECRETS):
            _add(store, f"Login_{number}", f"password: Sommer-202{number}!")


def agent_says(home: Path, subject: str, fact: str) -> str:
    """What becomes of the agent's add: its status, or the code of its refusal."""
    from memories.contract import MemsuiteError

    with repository_of(home) as store:
        try:
            return str(store.add(_payload(subject, fact), _author()).status)
        except MemsuiteError as error:
            return str(error.code)


def facts_of(home: Path, subject: str) -> list[tuple[str, ...]]:
    """The facts of every memory of a subject, in order of age."""
    key = f"havlys:{subject}".casefold()
    with repository_of(home) as store:
        found = store.read(lambda snapshot: snapshot.same_subject([key]))
        return [memory.facts for memory in found.get(key, [])]


def change(home: Path, subject: str, **patch: object) -> None:
    """The agent changes the one memory of a subject."""
    key = f"havlys:{subject}".casefold()
    with repository_of(home) as store:
        (memory,) = store.read(lambda snapshot: snapshot.same_subject([key]))[key]
        store.update(memory.id, patch, _author(), patch=True)


def _dispute(store: MemoryRepository, subject: str) -> None:
    _add(store, subject, f"The service answers with timeout=900 for {subject}")
    other = _add(store, f"{subject}_too", f"It waits, timeout=600 on {subject}")
    store.update(other, {"subject": subject}, _author(), patch=True)


def _drifted(store: MemoryRepository, number: int) -> None:
    subject = f"Link_checker_{number}"
    name = _add(store, subject, "Runs on pull requests")
    joined = f"Havlys:{subject} runs on branch={number} ::fact:: links are checked on Sunday"
    store_as_it_was(store, name, facts=[joined])


def _add(store: MemoryRepository, subject: str, *facts: str, **more: object) -> str:
    return store.add(_payload(subject, *facts) | more, _author()).memory_id


def _payload(subject: str, *facts: str) -> dict[str, Any]:
    return {"domain": "Havlys", "subject": subject, "facts": list(facts), "tier": 2, "category": "tech"}


def _author() -> Any:
    from memories.repository import Author

    return Author("agent", session_id="s-1")
