"""All light columns of the memories at one HEAD, as Arrow: what lists and counts are made from."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from memories.repository import schema

if TYPE_CHECKING:
    from memories.repository.snapshot import Snapshot, State

COLUMNS = (
    "id",
    "domain",
    "subject",
    "subject_key",
    "tier",
    "category",
    "type",
    "tags",
    "entities",
    "quality",
    "source",
    "session_id",
    "user_id",
    "created_at",
    "updated_at",
    "reviewed_at",
    "approved_by",
    "revision",
    "operation_id",
    "generation",
)

ORDERS: dict[str, list[tuple[str, str]]] = {
    "newest": [("created_at", "descending"), ("generation", "descending"), ("id", "descending")],
    "oldest": [("created_at", "ascending"), ("generation", "ascending"), ("id", "ascending")],
    "quality": [("quality", "descending"), ("created_at", "descending"), ("id", "descending")],
}


@dataclass(frozen=True)
class Catalogue:
    """``table`` has one row a memory with ``COLUMNS``."""

    state: State
    table: pa.Table

    def select(
        self,
        *,
        category: str | None = None,
        tier: int | None = None,
        tag: str | None = None,
        quality_min: float | None = None,
    ) -> Catalogue:
        """The memories for which everything asked holds."""
        table = self.table
        if category is not None:
            table = table.filter(pc.equal(table["category"], category))
        if tier is not None:
            table = table.filter(pc.equal(table["tier"], tier))
        if quality_min is not None:
            table = table.filter(pc.greater_equal(table["quality"], quality_min))
        if tag is not None:
            table = table.filter(_has(table["tags"], tag))
        return Catalogue(self.state, table)

    def page(self, order: str, limit: int, offset: int) -> tuple[str, ...]:
        """Ids in one of the ``ORDERS``, ties by id."""
        ranked = pc.sort_indices(self.table, sort_keys=ORDERS[order])
        ids = self.table["id"].take(ranked.slice(offset, limit))
        return tuple(ids.to_pylist())

    def counts(self, column: str) -> dict[str, int]:
        """How many memories hold each value of a column; of each element for a list column."""
        values = self.table[column]
        if pa.types.is_list(values.type):
            values = pc.list_flatten(values)
        counted = pc.value_counts(values)
        pairs = [(entry["values"], entry["counts"]) for entry in counted.to_pylist()]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], str(pair[0]))))

    def __len__(self) -> int:
        return int(self.table.num_rows)


class CatalogueCache:
    """The catalogue of the last state asked for, one a process; brought up to date by what
    changed. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: Catalogue | None = None

    def at(self, snapshot: Snapshot) -> Catalogue:
        with self._lock:
            latest = self._latest
            if latest is None or latest.state != snapshot.state:
                reaches = latest is not None and latest.state.reaches(snapshot.state)
                table = _refreshed(latest, snapshot) if latest is not None and reaches else _read(snapshot)
                self._latest = latest = Catalogue(snapshot.state, table)
            return latest


def _refreshed(latest: Catalogue, snapshot: Snapshot) -> pa.Table:
    """The newer table from the older one: rows that changed replaced, those removed left out."""
    changes = snapshot.changes_since(latest.state.generation)
    touched = pa.array([*changes.written, *changes.removed], pa.string())
    kept = latest.table.filter(pc.invert(pc.is_in(latest.table["id"], value_set=touched)))
    where = f"generation > {latest.state.generation}"
    added = snapshot.arrow(schema.MEMORIES, where, COLUMNS)
    return kept if added is None else pa.concat_tables([kept, added]).combine_chunks()


def _read(snapshot: Snapshot) -> pa.Table:
    found = snapshot.arrow(schema.MEMORIES, columns=COLUMNS)
    if found is not None:
        return found.combine_chunks()
    fields: Sequence[pa.Field] = [schema.memories(1).field(name) for name in COLUMNS]
    return pa.schema(fields).empty_table()


def _has(lists: pa.ChunkedArray, value: str) -> pa.Array:
    """A mask of the rows whose list holds a value."""
    combined = lists.combine_chunks()
    parents = pc.list_parent_indices(combined).filter(pc.equal(pc.list_flatten(combined), value))
    return pc.is_in(pa.array(range(len(combined)), pa.int64()), value_set=parents.cast(pa.int64()))
