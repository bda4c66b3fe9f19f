"""A run of maintenance from plan to answer: a backup first, each step checked, nothing half done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memories.contract import ErrorCode, MemsuiteError
from memories.repository.backup import MANUAL, PRE_COMPACT, Backup, Backups, require_room
from memories.repository.engine import as_ours, unavailable
from memories.repository.files import DatabaseFiles
from memories.repository.health import bytes_below
from memories.repository.locks import WriteLock
from memories.repository.manifest import ManifestError
from memories.repository.snapshot import Snapshot
from memories.repository.store import Store
from memories.repository.transaction import Upkeep
from memories.repository.upkeep.checks import Expected, verify_contents, verify_kept_versions
from memories.repository.upkeep.journal import Journal, TableRecord, journal_path, read_journal, write_journal
from memories.repository.upkeep.planning import Action, Mode, Plan, make_plan
from memories.repository.upkeep.policy import Policy
from memories.repository.upkeep.results import MaintenanceResult, Status, Step, TableWork
from memories.repository.upkeep.work import Work
from memories.settings import Settings

LOCK_WAIT = 10.0
"""Seconds to wait for writers, and for readers where none may be left."""

Progress = Callable[[str], None]
"""Told the step that begins."""


class Maintenance:
    """The upkeep of one database. One run at a time for all processes; needs no embedding model."""

    def __init__(self, settings: Settings) -> None:
        self._store = Store(settings.db_path, fsync=settings.fsync)
        self._policy = Policy.of(settings)
        self.backups = Backups(self._store.files, settings.backups_dir)

    @property
    def files(self) -> DatabaseFiles:
        return self._store.files

    def plan(self, mode: Mode = Mode.ROUTINE) -> Plan:
        """What a run would do now. Writes nothing and waits for nobody."""
        return self._store.read(lambda snapshot: self.planned(snapshot, mode))

    def journal(self) -> Journal:
        return read_journal(journal_path(self.files))

    def run(self, mode: Mode = Mode.ROUTINE, progress: Progress | None = None) -> MaintenanceResult:
        """Do what there is to do. Failures are in the answer rather than raised; only that another run
        is under way is raised, as ``store_busy``."""
        with self.alone():
            return _Run(self, self._store, mode, progress or _silent).run()

    def back_up(self, kind: str = MANUAL) -> Backup:
        """A verified backup of the newest state. Raises what ``Backups.make`` does, and ``store_busy``
        while other maintenance is under way."""
        with self.alone():
            snapshot = self._store.snapshot()
            self.backups.require_room(self.planned(snapshot, Mode.ROUTINE).live_bytes)
            return self.backups.make(snapshot, kind)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other maintenance out: what is copied must not be pruned meanwhile. Raises
        ``store_unavailable`` where there is no database."""
        if not self.files.tables_present():
            raise MemsuiteError(
                ErrorCode.STORE_UNAVAILABLE,
                "db_path",
                f"There is no database at {self.files.root}.",
                received=str(self.files.root),
            )
        try:
            self.files.create()
        except OSError as error:
            raise as_ours(error, self.files.root) from error
        with WriteLock(self.files.side / "maintenance.lock").held(0.0):
            yield

    def planned(self, snapshot: Snapshot, mode: Mode) -> Plan:
        """The plan for a state. Raises ``store_unavailable`` naming a damaged file."""
        try:
            now = datetime.now(UTC)
            return make_plan(self.files, snapshot, mode, self._policy, self.journal(), now)
        except ManifestError as error:
            raise unavailable(self.files.root, str(error)) from error

    def record(self, journal: Journal) -> None:
        """Raises ``OSError``."""
        write_journal(journal_path(self.files), journal)


@dataclass
class _Run:
    maintenance: Maintenance
    store: Store
    mode: Mode
    progress: Progress
    step: Step = Step.PLAN
    backup: str = ""
    done: Mapping[str, TableWork] = field(default_factory=dict)

    def run(self) -> MaintenanceResult:
        """From a first look under the lock, which decides whether anything happens at all, to the note
        of what did."""
        files, backups = self.maintenance.files, self.maintenance.backups
        before = bytes_below(files.root), bytes_below(backups.folder)
        error: MemsuiteError | None = None
        status = Status.NOT_NEEDED
        try:
            if (plan := self._first_look()).needed:
                self._back_up(plan)
                status = self._act()
        except MemsuiteError as failure:
            status, error = Status.FAILED, failure
        except OSError as failure:
            status, error = Status.FAILED, as_ours(failure, files.root)
        grown = bytes_below(files.root) - before[0]
        result = MaintenanceResult(
            status=status,
            mode=str(self.mode),
            tables=self.done,
            database_delta_bytes=grown,
            footprint_delta_bytes=grown + bytes_below(backups.folder) - before[1],
            backup_created=self.backup,
            failed_step=str(self.step) if error is not None else "",
            error=error,
        )
        return self._recorded(result)

    def _first_look(self) -> Plan:
        self._begin(Step.PLAN)
        with self.store.upkeep(LOCK_WAIT) as upkeep:
            return self.maintenance.planned(upkeep.snapshot(), self.mode)

    def _back_up(self, plan: Plan) -> None:
        """Writers go on meanwhile: files are only added, and the copy is of the state it began with."""
        self._begin(Step.SPACE)
        self.maintenance.backups.require_room(plan.live_bytes)
        require_room(self.maintenance.files.root, plan.largest)
        self._begin(Step.BACKUP)
        self.backup = self.maintenance.backups.make(self.store.snapshot(), PRE_COMPACT).name

    def _act(self) -> Status:
        self._begin(Step.LOCK)
        with ExitStack() as held:
            upkeep = held.enter_context(self.store.upkeep(LOCK_WAIT))
            if self.mode is Mode.RECLAIM:
                held.enter_context(self.store.without_readers(LOCK_WAIT))
            plan = self.maintenance.planned(upkeep.snapshot(), self.mode)
            if not plan.needed:
                return Status.NOT_NEEDED
            work = Work(upkeep, plan)
            self._rewrite(upkeep, work)
            self._prune(upkeep, work)
            self.done = work.done
        return Status.MAINTAINED

    def _rewrite(self, upkeep: Upkeep, work: Work) -> None:
        """New versions of the same rows; HEAD names them only once they have proved to be that."""
        expected = Expected.of(upkeep.snapshot())
        try:
            self._begin(Step.COMPACT)
            versions = work.compact()
            self._begin(Step.INDEX)
            versions |= work.index_vectors()
            self._begin(Step.VERIFY)
            verify_contents(expected, upkeep.snapshot(versions))
        except BaseException:
            self._take_back(upkeep)
            raise
        upkeep.move(versions)
        work.note(versions)

    def _prune(self, upkeep: Upkeep, work: Work) -> None:
        self._begin(Step.PRUNE)
        if self.mode is Mode.RECLAIM:
            upkeep.move({}, forget_previous=True)
        upkeep.move(work.prune())
        self._begin(Step.VERIFY_PRUNED)
        verify_kept_versions(self.maintenance.files, upkeep.head)

    @staticmethod
    def _take_back(upkeep: Upkeep) -> None:
        """Bring the tables back to HEAD; where that fails too, the next writer does it."""
        for name, version in upkeep.head.tables.items():
            try:
                upkeep.tables.realign(name, version)
            except MemsuiteError:
                continue

    def _recorded(self, result: MaintenanceResult) -> MaintenanceResult:
        """The result with what the journal makes of it. Where there was nothing to do, nothing is kept."""
        if result.status is Status.NOT_NEEDED:
            return replace(result, alarm=self.maintenance.journal().alarm)
        now = datetime.now(UTC)
        tables = self._records(now) if result.success else {}
        journal = self.maintenance.journal()
        journal = journal.with_run(tables, result.as_answer(), now, failed=not result.success)
        result = replace(result, alarm=journal.alarm)
        try:
            self.maintenance.record(journal)
        except OSError as error:
            if not result.success:
                return result
            failure = as_ours(error, self.maintenance.files.root)
            return replace(result, status=Status.FAILED, failed_step=str(Step.RECORD), error=failure)
        return result

    def _records(self, now: datetime) -> dict[str, TableRecord]:
        journal, head = self.maintenance.journal(), self.store.snapshot().head
        records: dict[str, TableRecord] = {}
        for name, work in self.done.items():
            known = journal.of(name)
            pruned = str(Action.PRUNE) in work.actions
            # Pruning compacts as well.
            records[name] = TableRecord(now if pruned else known.cleaned_at, now, head.tables[name])
        return records

    def _begin(self, step: Step) -> None:
        self.step = step
        self.progress(str(step))


def _silent(step: str) -> None:
    """Nobody watches."""
