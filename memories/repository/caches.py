"""What one process keeps of the newest state, so that reading it again costs nothing.

Each cache belongs to a state and is brought up to a later one by what changed in between. What this
process changed itself it knows without asking the engine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memories.repository import schema
from memories.repository.edge_cache import EdgeCache
from memories.repository.vectors import VectorCache

if TYPE_CHECKING:
    from memories.repository.snapshot import Changes, Snapshot, State

REMEMBERED = 1_024
"""Operations of this process whose memories are remembered."""


class RecentChanges:
    """Which memories the operations of this process wrote and removed, by generation. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lineage = ""
        self._known: dict[int, Changes] = {}

    def note(self, state: State, changes: Changes) -> None:
        """An operation that has been committed: ``state`` is the one it led to."""
        with self._lock:
            if state.lineage != self._lineage:
                self._lineage, self._known = state.lineage, {}
            self._known[state.generation] = changes
            for generation in list(self._known)[: max(0, len(self._known) - REMEMBERED)]:
                del self._known[generation]

    def between(self, generation: int, state: State) -> list[Changes] | None:
        """The operations after a generation up to a state, oldest first; None unless all of them are
        known, since another process may have made one."""
        with self._lock:
            wanted = range(generation + 1, state.generation + 1)
            if state.lineage != self._lineage or any(one not in self._known for one in wanted):
                return None
            return [self._known[one] for one in wanted]


class OpenConflicts:
    """How many open conflicts each memory is part of; read anew when the ledger's table has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: tuple[str, int] | None = None
        self._counts: dict[str, int] = {}

    def of(self, snapshot: Snapshot, ids: Iterable[str]) -> dict[str, int]:
        """The counts of those of ``ids`` that have any."""
        at = (snapshot.head.lineage, snapshot.head.tables.get(schema.CONFLICTS, 0))
        with self._lock:
            if self._at != at:
                self._counts = _counted(snapshot)
                self._at = at
            counts = self._counts
        return {name: counts[name] for name in ids if name in counts}


def _counted(snapshot: Snapshot) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in snapshot.rows(schema.CONFLICTS, "status = 'open'", ["memory_a_id", "memory_b_id"]):
        for side in {row["memory_a_id"], row["memory_b_id"]}:
            counts[side] = counts.get(side, 0) + 1
    return counts


@dataclass(frozen=True)
class Caches:
    """The caches of one database directory in one process."""

    vectors: VectorCache = field(default_factory=VectorCache)
    edges: EdgeCache = field(default_factory=EdgeCache)
    conflicts: OpenConflicts = field(default_factory=OpenConflicts)
    recent: RecentChanges = field(default_factory=RecentChanges)
