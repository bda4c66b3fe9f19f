"""All declared relations of the newest state in memory: a search asks for some of them every time, and
two queries of the engine would cost it more than its ranking does.

Rows stay as the engine gave them, in Arrow; only those asked for become objects. A later state is reached
by the addresses of its rows: what has one that was not there before is new, what has none any more is
gone. So it does not matter which operation, or whose, has changed what.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memories.repository import schema
from memories.repository.edges import Edge, edge_of

if TYPE_CHECKING:
    from memories.repository.snapshot import Snapshot, State

MOST_EDGES = 300_000
"""Beyond this many nothing is kept and the engine is asked each time."""

MOST_NEW = 2_000
"""When more rows than this are new, reading all edges anew is the shorter way."""

Numbers = npt.NDArray[np.int64]
Addresses = npt.NDArray[np.uint64]


class EdgeCache:
    """The edges of the last state asked for. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._version = 0
        self._rows: _Rows | None = None

    def of(self, snapshot: Snapshot, ids: Iterable[str]) -> list[Edge] | None:
        """Edges that leave or reach one of these memories, oldest first; None where they are not kept,
        so that the engine must be asked: there are too many, or the snapshot is an older one."""
        with self._lock:
            if not self._follow(snapshot) or self._rows is None:
                return None
            edges = self._rows.of(ids)
        return sorted(edges, key=lambda edge: (edge.created_at, edge.edge_key))

    def _follow(self, snapshot: Snapshot) -> bool:
        """Bring the edges to the snapshot's state; False where they are beyond it."""
        state, version = snapshot.state, snapshot.head.tables.get(schema.EDGES, 0)
        if self._state == state and self._version == version:
            return True
        if self._state is not None and self._state != state and state.reaches(self._state):
            return False
        same_history = self._state is not None and self._state.lineage == state.lineage
        if not (same_history and (self._version == version or self._refresh(snapshot))):
            self._rows = _read(snapshot)
        self._state, self._version = state, version
        return True

    def _refresh(self, snapshot: Snapshot) -> bool:
        """False where reading everything anew is the shorter way."""
        if self._rows is None:
            return False
        addresses = snapshot.addresses(schema.EDGES)
        fresh = self._rows.missing(addresses)
        if len(fresh) + self._rows.added > MOST_NEW:
            return False
        if len(fresh):
            self._rows.append(snapshot.rows_at(schema.EDGES, fresh.tolist()))
        self._rows.keep(addresses)
        return True


class _Rows:
    """Edges with the numbers of those at each memory: those read first sorted by memory, those that came
    later listed beside."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._addresses: Addresses = table["_rowid"].to_numpy()
        self._alive = np.ones(table.num_rows, dtype=np.bool_)
        ends = pa.chunked_array([*table["source_id"].chunks, *table["target_id"].chunks], pa.string())
        coded = ends.combine_chunks().dictionary_encode()
        codes = coded.indices.to_numpy(zero_copy_only=False)
        self._by_end: Numbers = np.argsort(codes, kind="stable") % max(table.num_rows, 1)
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(coded.dictionary)))))
        self._code = {name: code for code, name in enumerate(coded.dictionary.to_pylist())}
        self._later: dict[str, list[int]] = {}
        self.added = 0
        """Rows that came later."""

    def of(self, ids: Iterable[str]) -> list[Edge]:
        numbers: set[int] = set()
        for name in ids:
            code = self._code.get(name) if name else None
            if code is not None:
                numbers.update(self._by_end[self._starts[code] : self._starts[code + 1]].tolist())
            numbers.update(self._later.get(name, ()))
        alive = [number for number in sorted(numbers) if self._alive[number]]
        return [edge_of(row) for row in self._table.take(alive).to_pylist()] if alive else []

    def missing(self, addresses: Addresses) -> Addresses:
        """Those of some addresses at which no row is known."""
        known = np.sort(self._addresses[self._alive])
        missing: Addresses = addresses[~_among(addresses, known)]
        return missing

    def keep(self, addresses: Addresses) -> None:
        """Forget the rows at other addresses than these."""
        self._alive &= _among(self._addresses, np.sort(addresses))

    def append(self, found: pa.Table) -> None:
        start, count = self._table.num_rows, found.num_rows
        self._table = pa.concat_tables([self._table, found.select(self._table.column_names)])
        self._addresses = np.concatenate((self._addresses, found["_rowid"].to_numpy()))
        self._alive = np.concatenate((self._alive, np.ones(count, dtype=np.bool_)))
        self.added += count
        ends = zip(found["source_id"].to_pylist(), found["target_id"].to_pylist(), strict=True)
        for number, pair in enumerate(ends, start):
            for end in {*pair} - {"", None}:
                self._later.setdefault(end, []).append(number)


def _read(snapshot: Snapshot) -> _Rows | None:
    if snapshot.row_count(schema.EDGES) > MOST_EDGES:
        return None
    found = snapshot.arrow_with_addresses(schema.EDGES)
    if found is None:
        found = schema.EDGE_SCHEMA.append(pa.field("_rowid", pa.uint64())).empty_table()
    return _Rows(found.combine_chunks())


def _among(values: Addresses, ordered: Addresses) -> npt.NDArray[np.bool_]:
    """Which of some addresses are in an ordered array."""
    if not len(ordered):
        return np.zeros(len(values), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: npt.NDArray[np.bool_] = ordered[places] == values
    return found
