"""The vectors of the newest state held in memory, so that an exact scan is one product."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from memories.repository.snapshot import Snapshot

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class VectorRows:
    """Vectors beside the ids they belong to: ``matrix`` is float32, shape (len(ids), dimension)."""

    ids: tuple[str, ...] = ()
    matrix: Vector = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.ids)}

    def of(self, ids: Iterable[str]) -> VectorRows:
        """The rows of some ids, in the order asked for; unknown ones are left out."""
        known = [name for name in dict.fromkeys(ids) if name in self._position]
        return VectorRows(tuple(known), self.matrix[[self._position[name] for name in known]])

    def nearest(self, vector: Vector, *, kept: Collection[str] | None, limit: int) -> list[tuple[str, float]]:
        """Ids and cosines, best first, ties by id; only those in ``kept`` where it is given."""
        if not self.ids:
            return []
        scores = self.matrix @ vector
        if kept is not None:
            mask = np.fromiter((name in kept for name in self.ids), dtype=bool, count=len(self.ids))
            scores = np.where(mask, scores, np.float32(-np.inf))
        best = range(len(scores)) if limit >= len(scores) else np.argpartition(-scores, limit)[:limit]
        pairs = [(self.ids[index], float(scores[index])) for index in best if np.isfinite(scores[index])]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


class VectorCache:
    """The matrix of the last generation asked for, one a process. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = -1
        self._rows = VectorRows()

    def at(self, snapshot: Snapshot) -> VectorRows:
        with self._lock:
            if snapshot.generation != self._generation:
                self._rows = snapshot.read_vectors()
                self._generation = snapshot.generation
            return self._rows
