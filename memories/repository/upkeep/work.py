"""The actions of a plan, under the write lock. Each leaves the database whole if it is the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import KEEP_EVERY_VERSION
from memories.repository.manifest import Manifest
from memories.repository.tables import Optimized
from memories.repository.transaction import Upkeep
from memories.repository.upkeep.planning import MARGIN, Action, Mode, Plan, keep_from, spared_versions
from memories.repository.upkeep.results import TableWork

STABLE_AFTER = 3
"""Optimizations in which a table must come to have no more to write."""


@dataclass
class Work:
    """A plan on its way. ``done`` says what became of each table."""

    upkeep: Upkeep
    plan: Plan
    done: dict[str, TableWork] = field(default_factory=dict)

    def compact(self) -> dict[str, int]:
        """Write tables anew in one piece, as versions that nobody counts yet; returns those. A table that
        is to be pruned too is compacted first, since the engine prunes only what it has compacted."""
        versions: dict[str, int] = {}
        for name, table in self.plan.tables.items():
            if {Action.COMPACT, Action.INDEX_TEXT, Action.PRUNE} & set(table.actions):
                self.upkeep.tables.realign(name, self.upkeep.head.tables[name])
                versions[name] = self._optimize(name, KEEP_EVERY_VERSION, unreferenced=False)
        return versions

    def index_vectors(self) -> dict[str, int]:
        versions: dict[str, int] = {}
        for name, table in self.plan.tables.items():
            if Action.INDEX_VECTORS not in table.actions:
                continue
            for column in schema.VECTORS[name]:
                versions[name] = self.upkeep.tables.index_vectors(name, column, fsync=self.upkeep.fsync)
        return versions

    def prune(self) -> dict[str, int]:
        """Remove the versions past their time; returns the newest versions, which HEAD names already
        where the engine has found nothing more to write."""
        versions: dict[str, int] = {}
        for name, table in self.plan.tables.items():
            if Action.PRUNE in table.actions:
                age = self._age(name, table.retention)
                unreferenced = self.plan.mode is Mode.RECLAIM
                versions[name] = self._optimize(name, age, unreferenced=unreferenced)
        return versions

    def note(self, versions: Mapping[str, int]) -> None:
        """Say in the answer what the plan had said of each table, once it is done."""
        for name in versions:
            self._of(name).actions = [str(action) for action in self.plan.tables[name].actions]

    def _age(self, name: str, retention: timedelta) -> timedelta:
        """Since when the oldest version to keep is there, by the engine's own times. Told after HEAD has
        moved: the state before the one before is then only old."""
        if self.plan.mode is Mode.RECLAIM:
            settle(self.upkeep, name, lambda: self._optimize(name, KEEP_EVERY_VERSION, unreferenced=False))
            return timedelta(0)
        now, made = datetime.now(UTC), self.upkeep.tables.versions(name)
        oldest = keep_from(made, spared_versions(self.upkeep.head, name, self.plan.mode), retention, now)
        since = min(at for number, at in made.items() if number >= oldest)
        return max(datetime.now(UTC) - since, timedelta(0)) + MARGIN

    def _optimize(self, name: str, age: timedelta, *, unreferenced: bool) -> int:
        """Optimize once more, with its indexes made anew, where one of them stands in the way."""
        tables, work = self.upkeep.tables, self._of(name)
        try:
            done = self._engine(name, age, unreferenced)
        except MemsuiteError:
            indexes = Manifest(self.upkeep.files.table(name), tables.version(name)).indexes
            if not indexes:
                raise
            tables.rebuild_indexes(name, {index.name for index in indexes}, fsync=self.upkeep.fsync)
            work.index_rebuilt = True
            done = self._engine(name, age, unreferenced)
        work.fragments_removed += done.fragments_removed
        work.fragments_added += done.fragments_added
        work.versions_removed += done.versions_removed
        work.bytes_removed += done.bytes_removed
        return done.version

    def _engine(self, name: str, age: timedelta, unreferenced: bool) -> Optimized:
        return self.upkeep.tables.optimize(
            name, older_than=age, unreferenced=unreferenced, fsync=self.upkeep.fsync
        )

    def _of(self, name: str) -> TableWork:
        return self.done.setdefault(name, TableWork())


def settle(upkeep: Upkeep, name: str, optimize: Callable[[], int]) -> None:
    """Optimize a table until there is no more to write. At age zero the engine keeps the newest version
    alone; that has to be the one HEAD names: were one more written just then, a kill before HEAD follows
    would leave nothing. Raises ``store_unavailable`` when it never comes to an end."""
    for _ in range(STABLE_AFTER):
        version = optimize()
        if version == upkeep.head.tables[name]:
            return
        upkeep.move({name: version}, forget_previous=True)
    raise MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"The engine finds more to write in {name} each time. Nothing of it was removed.",
        received=name,
    )
