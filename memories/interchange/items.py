"""What a reader finds in a source, one thing after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories.contract import MemsuiteError
from memories.repository.edges import Edge
from memories.repository.ledger import Conflict
from memories.repository.records import Row


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory as a source has it. ``payload`` is what the contract takes, not checked yet; ``id`` is ""
    where the source has none; ``original`` is the row it was made from, None where nothing of it is lost.
    ``vector`` counts only where ``embedding_id`` is that of the model in use."""

    place: str
    id: str
    payload: Mapping[str, Any]
    created_at: datetime | None = None
    updated_at: datetime | None = None
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    original: Mapping[str, Any] | None = None
    edges: tuple[Edge, ...] = ()
    vector: Sequence[float] | None = None
    embedding_id: str = ""
    recalls: int = 0
    recalled_at: datetime | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns that are taken as they are: from an export of our own."""


@dataclass(frozen=True, slots=True)
class ConflictItem:
    place: str
    conflict: Conflict


@dataclass(frozen=True, slots=True)
class TurnItem:
    """A turn as a source has it; ``columns`` are those of the table that it says something about."""

    place: str
    id: str
    text: str
    columns: Mapping[str, Any]
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    embedding_id: str = ""


@dataclass(frozen=True, slots=True)
class LessonItem:
    """Something a person may make a memory of. ``proposed`` is in contract form."""

    place: str
    id: str
    rule: str
    proposed: Mapping[str, Any]
    said_at: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowItem:
    """A row of our own export that is kept as it is, already checked."""

    table: str
    row: Row
    text: str = ""
    """What is embedded for it, where it needs a vector that the export left out."""


@dataclass(frozen=True, slots=True)
class MisfitItem:
    """A row the reader could make nothing of."""

    place: str
    kind: str
    id: str
    error: MemsuiteError
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the source that a person should know; counted by its text."""

    text: str


Item = MemoryItem | ConflictItem | TurnItem | LessonItem | RowItem | MisfitItem | Note
