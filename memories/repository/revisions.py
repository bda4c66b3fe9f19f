"""Earlier states of memories, kept so that any change can be taken back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.repository.edges import Edge, edge_of
from memories.repository.ids import new_id
from memories.repository.ledger import Conflict, conflict_of
from memories.repository.records import Row, as_json, from_json

MEMORY_TIMES = ("created_at", "updated_at", "reviewed_at")
EDGE_TIMES = ("created_at",)
CONFLICT_TIMES = ("created_at", "resolved_at", "archived_at")


@dataclass(frozen=True, slots=True)
class BeforeImage:
    """A memory as it stood: its whole row with the vector (None where it did not exist) and its
    edges both ways."""

    row: Row | None
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """One entry of a memory's history: what an operation replaced.

    ``revision`` is the number of the state kept here, 0 where the memory did not exist before.
    ``removed`` tells that the operation took the memory away (to the trash).
    """

    memory_id: str
    revision: int
    operation_id: str
    operation: str
    actor: str
    session_id: str
    at: datetime
    note: str
    generation: int
    removed: bool
    before_operation_id: str
    before: str
    before_vector: Sequence[float] | None = None

    def image(self) -> BeforeImage:
        """The state kept, ready to be written again; needs the vector to have been read."""
        kept: dict[str, Any] = json.loads(self.before)
        edges = tuple(edge_of(from_json(edge, EDGE_TIMES)) for edge in kept["edges"])
        if kept["row"] is None:
            return BeforeImage(None, edges)
        row = from_json(kept["row"], MEMORY_TIMES)
        row["vector"] = list(self.before_vector or ())
        return BeforeImage(row, edges)

    def ledger(self) -> tuple[Conflict, ...]:
        """Ledger rows the operation closed, decided or reopened, as they stood before."""
        kept = json.loads(self.before)["closed"]
        return tuple(conflict_of(from_json(row, CONFLICT_TIMES)) for row in kept)

    def memory(self) -> Row | None:
        """The row kept, as plain JSON values, without its vector."""
        row: Row | None = json.loads(self.before)["row"]
        return row


LIGHT = tuple(name for name in Revision.__slots__ if name != "before_vector")
"""The columns for showing a history; the vector is read only to restore."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every row of one operation shares."""

    operation_id: str
    operation: str
    actor: str
    session_id: str
    at: datetime
    note: str
    generation: int


def revision_row(
    stamp: Stamp,
    memory_id: str,
    before: BeforeImage,
    *,
    removed: bool = False,
    ledger: Sequence[Conflict] = (),
) -> Row:
    """The table row that keeps ``before``, with the ledger rows this change closed, decided or
    reopened, as they stood."""
    row = dict(before.row) if before.row is not None else None
    vector = row.pop("vector") if row is not None else None
    kept = {
        "row": row,
        "edges": [edge.as_row() for edge in before.edges],
        "closed": [conflict.as_row() for conflict in ledger],
    }
    return {
        "revision_key": new_id(),
        "memory_id": memory_id,
        "revision": row["revision"] if row is not None else 0,
        "operation_id": stamp.operation_id,
        "operation": stamp.operation,
        "actor": stamp.actor,
        "session_id": stamp.session_id,
        "at": stamp.at,
        "note": stamp.note,
        "generation": stamp.generation,
        "removed": removed,
        "before_operation_id": row["operation_id"] if row is not None else "",
        "before": as_json(kept),
        "before_vector": vector,
    }


def revision_of(row: Row) -> Revision:
    values: dict[str, Any] = {name: row.get(name) for name in Revision.__slots__}
    return Revision(**values)
