"""What maintenance would do to each table, and why. Read only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

from memories.contract import CONTRACT_VERSION
from memories.repository import schema
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head
from memories.repository.health import bytes_below, live_bytes
from memories.repository.manifest import Manifest, versions_made
from memories.repository.snapshot import Snapshot
from memories.repository.tables import MOST_UNINDEXED
from memories.repository.upkeep.journal import Journal, TableRecord
from memories.repository.upkeep.policy import INDEX_LAG, MOST_FRAGMENTS, Policy
from memories.repository.vectors import EXACT_BYTES

MARGIN = timedelta(seconds=2)
"""By how much a version must be older than all that stay before it is removed: the engine removes by
age alone, and comes to look at the clock a moment after we did."""


class Mode(StrEnum):
    """``RECLAIM`` keeps no old version at all, and so needs that nobody reads."""

    ROUTINE = "routine"
    RECLAIM = "reclaim"


class Action(StrEnum):
    COMPACT = "compact"
    INDEX_TEXT = "index_text"
    INDEX_VECTORS = "index_vectors"
    PRUNE = "prune"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """``retention`` is how long a superseded version is kept, ``expired`` how many are past that.
    ``size`` is all bytes of the table's directory, ``live`` those that HEAD needs."""

    name: str
    actions: tuple[Action, ...]
    reasons: tuple[str, ...]
    version: int
    retention: timedelta
    expired: int
    fragments: int
    size: int
    live: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "actions": [str(action) for action in self.actions],
            "reasons": list(self.reasons),
            "version": self.version,
            "expired_versions": self.expired,
            "fragments": self.fragments,
            "bytes": self.size,
            "live_bytes": self.live,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    mode: Mode
    tables: Mapping[str, TablePlan] = field(default_factory=dict)

    @property
    def needed(self) -> bool:
        return any(table.actions for table in self.tables.values())

    @property
    def live_bytes(self) -> int:
        """What a backup of the state takes."""
        return sum(table.live for table in self.tables.values())

    @property
    def largest(self) -> int:
        """Bytes of the largest table that is written anew."""
        return max((table.live for table in self.tables.values() if table.actions), default=0)

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "planned" if self.needed else "not_needed",
            "mode": str(self.mode),
            "tables": {name: table.as_dict() for name, table in self.tables.items()},
            "contract_version": CONTRACT_VERSION,
        }


def make_plan(
    files: DatabaseFiles, snapshot: Snapshot, mode: Mode, policy: Policy, journal: Journal, now: datetime
) -> Plan:
    """What there is to do. Raises ``ManifestError`` where the state itself is damaged."""
    tables = {
        name: _Table(files, snapshot, name, now).plan(mode, policy, journal.of(name))
        for name in snapshot.head.tables
    }
    return Plan(mode, tables)


def keep_from(
    made: Mapping[int, datetime], spared: Collection[int], retention: timedelta, now: datetime
) -> int:
    """The oldest version to keep: a version is old once another one took its place ``retention`` ago,
    and a version that HEAD or the HEAD before names (``spared``) never is."""
    numbers = sorted(made)
    recent = [number for number, successor in pairwise(numbers) if now - made[successor] < retention]
    return min([numbers[-1], *recent, *(number for number in spared if number in made)])


def expired_versions(made: Mapping[int, datetime], oldest: int, margin: timedelta) -> list[int]:
    """The versions that go when ``oldest`` and all after it stay. A clock may have been set back, so the
    earliest time among those that stay counts."""
    since = min(at for number, at in made.items() if number >= oldest)
    return [number for number, at in made.items() if number < oldest and at < since - margin]


def spared_versions(head: Head, name: str, mode: Mode) -> set[int]:
    """The versions of a table that must stay whatever their age."""
    if mode is Mode.RECLAIM:
        return {head.tables[name]}
    return {head.tables[name], head.previous.get(name, head.tables[name])}


class _Table:
    """What is known of one table."""

    def __init__(self, files: DatabaseFiles, snapshot: Snapshot, name: str, now: datetime) -> None:
        self._snapshot, self._name, self._now = snapshot, name, now
        self._version = snapshot.head.tables[name]
        folder = files.table(name)
        manifest = Manifest(folder, self._version)
        self._fragments = len(manifest.fragments)
        self._made = {number: datetime.fromtimestamp(at, UTC) for number, at in versions_made(folder).items()}
        self._live = live_bytes(manifest)
        self._size = bytes_below(folder)

    def plan(self, mode: Mode, policy: Policy, record: TableRecord) -> TablePlan:
        policy = policy.pressed(self._size - self._live, self._live)
        retention = timedelta(0) if mode is Mode.RECLAIM else policy.retention
        oldest = keep_from(
            self._made, spared_versions(self._snapshot.head, self._name, mode), retention, self._now
        )
        expired = len(expired_versions(self._made, oldest, timedelta(0) if mode is Mode.RECLAIM else MARGIN))
        chosen = self._chosen(mode, policy, record, expired)
        return TablePlan(
            name=self._name,
            actions=tuple(chosen),
            reasons=tuple(chosen.values()),
            version=self._version,
            retention=retention,
            expired=expired,
            fragments=self._fragments,
            size=self._size,
            live=self._live,
        )

    def _chosen(self, mode: Mode, policy: Policy, record: TableRecord, expired: int) -> dict[Action, str]:
        """The actions, each with its reason, in the order in which they are done."""
        chosen: dict[Action, str] = {}
        if mode is Mode.RECLAIM:
            if len(self._made) > 1 or self._fragments > 1:
                chosen[Action.COMPACT] = f"{self._fragments} fragments become one"
        elif self._fragments > MOST_FRAGMENTS and self._may_compact(policy, record):
            chosen[Action.COMPACT] = f"{self._fragments} fragments, more than {MOST_FRAGMENTS}"
        if (lag := self._text_lag()) > MOST_UNINDEXED:
            chosen[Action.INDEX_TEXT] = f"{lag} rows are not in the text index"
        if why := self._vector_need():
            chosen[Action.INDEX_VECTORS] = why
        if self._may_prune(mode, policy, record, expired):
            chosen[Action.PRUNE] = f"{expired} versions are past their time"
        return chosen

    def _may_compact(self, policy: Policy, record: TableRecord) -> bool:
        rested = record.compacted_at is None or self._now - record.compacted_at >= policy.compact_cooldown
        return rested and record.compacted_version != self._version

    def _may_prune(self, mode: Mode, policy: Policy, record: TableRecord, expired: int) -> bool:
        if mode is Mode.RECLAIM:
            # Compaction leaves versions to remove even where there are none now.
            return expired > 0 or self._fragments > 1
        rested = record.cleaned_at is None or self._now - record.cleaned_at >= policy.cleanup_interval
        return expired > 0 and rested

    def _text_lag(self) -> int:
        if self._name not in schema.WITH_TEXT:
            return 0
        counted = self._snapshot.index_rows(self._name, schema.TEXT_INDEX)
        return counted[1] if counted is not None else self._snapshot.row_count(self._name)

    def _vector_need(self) -> str:
        """Why a vector index is to be made; "" while the vectors fit into memory, or it is there."""
        columns = schema.VECTORS.get(self._name, ())
        if not columns:
            return ""
        rows = self._snapshot.row_count(self._name)
        if rows * self._snapshot.dimension_of(self._name) * 4 * len(columns) <= EXACT_BYTES:
            return ""
        for column in columns:
            counted = self._snapshot.index_rows(self._name, f"{column}_idx")
            if counted is None:
                return f"{rows} vectors are searched without an index"
            if counted[1] > INDEX_LAG * rows:
                return f"{counted[1]} rows are not in the vector index"
        return ""
