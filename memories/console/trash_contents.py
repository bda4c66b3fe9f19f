"""What lies in the trash, read once for each state of the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from memories.console.memory_history import who
from memories.console.per_state import PerState
from memories.repository import MemoryRepository, schema

if TYPE_CHECKING:
    from memories.repository.revisions import Revision

EVERYTHING = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Trashed:
    """A memory in the trash as it stood, and how it came there: by whom, when, in which operation."""

    id: str
    domain: str
    subject: str
    facts: tuple[str, ...]
    tier: int
    category: str
    tags: tuple[str, ...]
    actor: str
    at: datetime
    note: str
    operation_id: str

    @property
    def by(self) -> str:
        """Who moved it there, in words."""
        return who(self.actor)

    def says(self, folded: str) -> bool:
        """Whether the subject or a fact holds a text, given in lower case."""
        texts = (f"{self.domain}:{self.subject}", *self.facts)
        return any(folded in text.lower() for text in texts)


def in_trash(repository: MemoryRepository, text: str = "") -> list[Trashed]:
    """What lies in the trash and says ``text``, case apart; last deleted first."""
    found = _contents.of(repository)
    folded = text.strip().lower()
    return [trashed for trashed in found if trashed.says(folded)] if folded else list(found)


def count_in_trash(repository: MemoryRepository) -> int:
    """How many memories lie in the trash, without reading what they said: every page shows it."""
    return _count.of(repository)


def _counted(repository: MemoryRepository) -> int:
    removed = repository.read(lambda snapshot: snapshot.arrow(schema.REVISIONS, "removed", ["memory_id"]))
    if removed is None:
        return 0
    once = pc.unique(removed["memory_id"])
    stored = pc.is_in(once, value_set=repository.catalogue().table["id"].combine_chunks())
    return len(once) - (pc.sum(stored).as_py() or 0)


_count = PerState(_counted)


def _read(repository: MemoryRepository) -> list[Trashed]:
    _, revisions = repository.trash(limit=EVERYTHING)
    return [_trashed(revision) for revision in revisions]


# Every revision that took a memory away carries its whole text.
_contents = PerState(_read)


def _trashed(revision: Revision) -> Trashed:
    row = json.loads(revision.before)["row"]
    return Trashed(
        id=revision.memory_id,
        domain=row["domain"],
        subject=row["subject"],
        facts=tuple(row["facts"] or ()),
        tier=row["tier"],
        category=row["category"],
        tags=tuple(row["tags"] or ()),
        actor=revision.actor,
        at=revision.at,
        note=revision.note,
        operation_id=revision.operation_id,
    )
