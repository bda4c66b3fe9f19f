"""All declared relations of the newest state in memory: a search asks for some of them every time, and
two queries of the engine would cost it more than its ranking does.

Rows stay as the engine gave them, in Arrow; only those asked for become objects. Measured at 96,000
edges: 50 MB, 0.2 s to read them all.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from memories.repository import schema
from memories.repository.edges import Edge, edge_of
from memories.repository.engine import is_in

if TYPE_CHECKING:
    from memories.repository.snapshot import Snapshot, State

MOST_EDGES = 300_000
"""Beyond this many nothing is kept and the engine is asked each time."""

MOST_TOUCHED = 200
"""When more memories than this have changed, reading all edges anew is the shorter way."""

MOST_PARTS = 64
"""Appended parts after which the rows are put together into one again."""


class EdgeCache:
    """The edges of the last state asked for. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._version = 0
        self._rows: pa.Table | None = None
        self._touching: dict[str, list[int]] = {}
        """Memory id → numbers of the rows that leave or reach it."""
        self._dead = 0
        """Rows that nothing points at any more."""

    def of(self, snapshot: Snapshot, ids: Iterable[str]) -> list[Edge] | None:
        """Edges that leave or reach one of these memories; None where they are not kept, so that the
        engine must be asked: there are too many, or the snapshot is an older one."""
        with self._lock:
            if not self._follow(snapshot):
                return None
            numbers = {number for name in ids for number in self._touching.get(name, ())}
            return self._edges_at(sorted(numbers))

    def _follow(self, snapshot: Snapshot) -> bool:
        """Bring the edges to the snapshot's state."""
        state, version = snapshot.state, snapshot.head.tables.get(schema.EDGES, 0)
        if self._state != state:
            if self._state is not None and state.reaches(self._state):
                return False
            reaches = self._state is not None and self._state.reaches(state)
            if not (reaches and (version == self._version or self._refresh(snapshot))):
                self._read(snapshot)
            self._state, self._version = state, version
        return self._rows is not None

    def _read(self, snapshot: Snapshot) -> None:
        few = snapshot.row_count(schema.EDGES) <= MOST_EDGES
        found = snapshot.arrow(schema.EDGES) if few else None
        self._touching, self._rows, self._dead = {}, None, 0
        if few:
            self._append(schema.EDGE_SCHEMA.empty_table() if found is None else found)

    def _refresh(self, snapshot: Snapshot) -> bool:
        """Read the edges anew that an operation on the changed memories may have changed: theirs, and
        those by which others point at them, whose labels may have found or lost their memory."""
        assert self._state is not None
        changes = snapshot.changes_since(self._state.generation)
        touched = {*changes.written, *changes.removed}
        if self._rows is None or len(touched) > MOST_TOUCHED or self._dead > self._rows.num_rows / 2:
            return False
        numbers = sorted({number for name in touched for number in self._touching.get(name, ())})
        sources = touched | {edge.source_id for edge in self._edges_at(numbers)}
        listed = f"{is_in('source_id', sorted(sources))} OR {is_in('target_id', sorted(touched))}"
        found = snapshot.arrow(schema.EDGES, listed)
        newly = set() if found is None else set(found["source_id"].to_pylist()) - sources
        if newly:
            sources |= newly
            found = snapshot.arrow(schema.EDGES, is_in("source_id", sorted(sources)))
        self._forget(sources)
        if found is not None:
            self._append(found)
        return True

    def _forget(self, sources: Collection[str]) -> None:
        """Drop the edges that these memories declare."""
        numbers = sorted({number for name in sources for number in self._touching.get(name, ())})
        for number, edge in zip(numbers, self._edges_at(numbers, in_order=False), strict=True):
            if edge.source_id in sources:
                self._dead += 1
                for end in {edge.source_id, edge.target_id} - {""}:
                    self._touching[end].remove(number)

    def _append(self, found: pa.Table) -> None:
        start = 0 if self._rows is None else self._rows.num_rows
        rows = found if self._rows is None else pa.concat_tables([self._rows, found])
        chunked = rows.num_columns and rows.column(0).num_chunks > MOST_PARTS
        self._rows = rows.combine_chunks() if chunked or not start else rows
        ends = zip(found["source_id"].to_pylist(), found["target_id"].to_pylist(), strict=True)
        for number, pair in enumerate(ends, start):
            for end in set(pair):
                if end:
                    self._touching.setdefault(end, []).append(number)

    def _edges_at(self, numbers: list[int], *, in_order: bool = True) -> list[Edge]:
        if not numbers or self._rows is None:
            return []
        edges = [edge_of(row) for row in self._rows.take(numbers).to_pylist()]
        return sorted(edges, key=lambda edge: (edge.created_at, edge.edge_key)) if in_order else edges
