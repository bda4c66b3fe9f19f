"""The neighbour graph: each memory's nearest memories, computed once for each state and shared by all that
look at many memories together.

A later state costs what changed: rows that came are compared with all, lists that held what went or changed
are made anew. The graph is kept on the disk, so that a new process pays no more than that either.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from memories.analysis import neighbour_file
from memories.analysis.join import Lists, Matrix, Rows, nearest_of_all, refreshed
from memories.analysis.neighbour_file import Kept
from memories.repository import MemoryRepository, Snapshot
from memories.repository.snapshot import State
from memories.repository.vectors import VectorRows

_MOST_CHANGED = 0.25
"""With a larger share of changed rows all lists are made anew, which is then the shorter way."""

_SAVED_EVERY = 0.01
"""The share of changed rows after which the file is written again: reading them anew costs less than that."""

_UNIT = 1e-3


@dataclass(frozen=True, slots=True)
class NeighbourGraph:
    """``ids`` are those of the memories with a usable vector, ascending; ``lists`` has their rows in that
    order."""

    state: State
    embedding_id: str
    ids: tuple[str, ...]
    lists: Lists

    def __len__(self) -> int:
        return len(self.ids)

    def row_of(self, memory_id: str) -> int | None:
        """The row of a memory; None for one that has none."""
        at = bisect_left(self.ids, memory_id)
        return at if at < len(self.ids) and self.ids[at] == memory_id else None

    def of(self, memory_id: str) -> list[tuple[str, float]]:
        """The nearest of a memory with their cosines, best first."""
        row = self.row_of(memory_id)
        if row is None:
            return []
        pairs = zip(self.lists.near[row].tolist(), self.lists.cosines[row].tolist(), strict=True)
        return [(self.ids[near], cosine) for near, cosine in pairs if near >= 0]

    def pairs(self, least: float) -> tuple[Rows, Rows, Matrix]:
        """Rows of two memories, the smaller one first, and their cosine: each pair once, in order, of which
        one lists the other with at least this cosine."""
        rows, places = np.nonzero((self.lists.near >= 0) & (self.lists.cosines >= least))
        near = self.lists.near[rows, places].astype(np.int64)
        first, second = np.minimum(rows, near), np.maximum(rows, near)
        keys, at = np.unique(first * len(self) + second, return_index=True)
        one, other = np.divmod(keys, max(1, len(self)))
        return one, other, self.lists.cosines[rows[at], places[at]]

    def rows_in(self, other: NeighbourGraph) -> Rows:
        """For each row here the row of the same memory there, -1 where there is none."""
        return _places(self.ids, other.ids)


def neighbour_graph(repository: MemoryRepository) -> NeighbourGraph:
    """The graph of the newest state. Who asks while it is computed waits for it.

    Raises ``store_unavailable``, and ``payload_too_large`` above two million memories.
    """
    with _registry_lock:
        graphs = _registry.setdefault(repository, _Graphs(repository.path))
    return graphs.newest(repository)


class _Graphs:
    """The latest graph of one repository."""

    def __init__(self, database: Path) -> None:
        self._folder = database / ".memsuite" / "cache"
        self._lock = threading.Lock()
        self._latest: NeighbourGraph | None = None
        self._unsaved = 0

    def newest(self, repository: MemoryRepository) -> NeighbourGraph:
        with self._lock:
            seen = repository.read(self._reader())
            if self._latest is None or self._latest.state != seen.state:
                self._latest = self._advanced(seen)
            return self._latest

    def _reader(self) -> Callable[[Snapshot], _Seen]:
        earlier = self._latest

        def read(snapshot: Snapshot) -> _Seen:
            if earlier is not None and earlier.state == snapshot.state:
                return _Seen(snapshot.state, snapshot.embedding_id, earlier, VectorRows(), ())
            base = next((graph for graph in self._bases(earlier) if _leads_to(graph, snapshot)), None)
            written = snapshot.changes_since(base.state.generation).written if base else ()
            return _Seen(snapshot.state, snapshot.embedding_id, base, snapshot.all_vectors(), written)

        return read

    def _bases(self, earlier: NeighbourGraph | None) -> list[NeighbourGraph]:
        if earlier is not None:
            return [earlier]
        kept = neighbour_file.load(self._folder)
        return [NeighbourGraph(kept.state, kept.embedding_id, kept.ids, kept.lists)] if kept else []

    def _advanced(self, seen: _Seen) -> NeighbourGraph:
        made, changed = _graph(seen)
        self._unsaved += changed
        if changed and self._unsaved >= _SAVED_EVERY * len(made):
            neighbour_file.save(self._folder, Kept(made.state, made.embedding_id, made.ids, made.lists))
            self._unsaved = 0
        return made


_registry: WeakKeyDictionary[MemoryRepository, _Graphs] = WeakKeyDictionary()
_registry_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is read of one state: an earlier graph to start from, if any, and what was written since."""

    state: State
    embedding_id: str
    base: NeighbourGraph | None
    vectors: VectorRows
    written: tuple[str, ...]


def _graph(seen: _Seen) -> tuple[NeighbourGraph, int]:
    """The graph of what was seen, and how many rows differ from the base."""
    base = seen.base or NeighbourGraph(seen.state, seen.embedding_id, (), _no_lists())
    position, written = seen.vectors.position, set(seen.written)
    before = set(base.ids)
    candidates = [name for name in position if name not in before or name in written]
    usable = set(_usable(candidates, seen.vectors))
    there = (name for name in base.ids if name in position and name not in written)
    ids = tuple(sorted([*there, *usable]))
    changed = np.array([name in usable for name in ids], dtype=np.bool_)
    places = _places(ids, base.ids)
    places[changed] = -1
    differing = int(changed.sum()) + len(base) - int((places >= 0).sum())
    matrix = _matrix(seen.vectors, ids)
    if differing > _MOST_CHANGED * len(ids):
        lists = nearest_of_all(matrix)
    elif differing:
        lists = refreshed(base.lists, matrix, places, np.flatnonzero(changed))
    else:
        lists = base.lists
    return NeighbourGraph(seen.state, seen.embedding_id, ids, lists), differing


def _leads_to(graph: NeighbourGraph, snapshot: Snapshot) -> bool:
    return graph.embedding_id == snapshot.embedding_id and graph.state.reaches(snapshot.state)


def _usable(ids: list[str], vectors: VectorRows) -> list[str]:
    """Those of some memories whose vector is finite and of length one."""
    if not ids:
        return []
    rows = vectors.matrix[[vectors.position[name] for name in ids]]
    with np.errstate(all="ignore"):
        unit = np.abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT
    return [name for name, good in zip(ids, unit.tolist(), strict=True) if good]


def _matrix(vectors: VectorRows, ids: tuple[str, ...]) -> Matrix:
    """The vectors in the order of the ids; no copy where they lie so already."""
    rows = np.array([vectors.position[name] for name in ids], dtype=np.int64)
    if len(rows) and len(rows) == rows[-1] + 1 and bool(np.all(np.diff(rows) == 1)):
        return vectors.matrix[: len(rows)]
    return vectors.matrix[rows]


def _places(ids: tuple[str, ...], among: tuple[str, ...]) -> npt.NDArray[np.int64]:
    known = {name: row for row, name in enumerate(among)}
    return np.array([known.get(name, -1) for name in ids], dtype=np.int64)


def _no_lists() -> Lists:
    return nearest_of_all(np.zeros((0, 1), dtype=np.float32))
