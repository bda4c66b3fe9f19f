"""The database as HEAD says it is: one state to read, one transaction at a time to change it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding import EmbeddingIdentity
from memories.repository import migration, schema
from memories.repository.caches import Caches
from memories.repository.copies import remember, state_named
from memories.repository.engine import VersionGone, as_ours, unavailable
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head, read_line, remove_unfinished, write_head
from memories.repository.ids import new_id
from memories.repository.locks import ReadersLock, WriteLock
from memories.repository.mending import damaged_indexes, require_versions, set_aside, torn_beyond
from memories.repository.records import Author, now
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Changes, Snapshot, State
from memories.repository.tables import TableChange, Tables
from memories.repository.transaction import Reembedded, Transaction, Upkeep

if TYPE_CHECKING:
    pass

T = TypeVar("T")

_NOTHING = Head(generation=0, tables={}, embedding="")

MEND_WAIT = 1.0
"""Seconds a read that met damage waits for the write lock to mend it, before it says what it met."""

MIGRATION_WAIT = 10.0
"""Seconds the first one to open an older layout waits for whoever writes there."""

_OLDER_SUITE_COLUMNS = frozenset({"links", "access_count"})


class Store:
    """One database directory. Thread safe."""

    def __init__(self, path: Path, *, fsync: bool) -> None:
        self.files = DatabaseFiles(path)
        self._fsync = fsync
        self._write_lock = WriteLock(self.files.write_lock)
        self._readers_lock = ReadersLock(self.files.readers_lock)
        self._tables = Tables(self.files)
        self._caches = Caches()
        self._latest: tuple[str | None, Snapshot] | None = None
        self._latest_lock = threading.Lock()

    # -- reading ----------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The newest state; the same object as long as HEAD stays.

        Raises ``store_unavailable`` or ``schema_too_new``; a directory that does not exist yet
        is an empty database.
        """
        line = read_line(self.files.head)
        if (known := self._latest) is None or known[0] != line:
            line = self._in_this_layout(line)
        with self._latest_lock:
            if self._latest is None or self._latest[0] != line:
                self._latest = self._newest(line)
            return self._latest[1]

    def _in_this_layout(self, line: str | None) -> str | None:
        """The line of HEAD once the tables have the layout of this version."""
        if line is None or not migration.is_older(state_named(self.files, line)):
            return line
        with self._write_lock.held(MIGRATION_WAIT):
            line = read_line(self.files.head)
            if line is not None and migration.is_older(head := state_named(self.files, line)):
                self._migrate(head)
        return read_line(self.files.head)

    def _migrate(self, head: Head) -> None:
        head.require_writer()
        require_versions(self.files, head)
        self._clear_leftovers(head)
        before = Snapshot(self._tables.connection, self.files, head)
        schemas = schema.schemas(self._dimension_of(head))
        versions = dict(head.tables)
        try:
            for name, columns in migration.columns_to_add(head).items():
                self._tables.realign(name, head.tables[name])
                rows = migration.in_new_layout(before, name, columns, schemas[name])
                versions[name] = self._tables.overwrite(name, rows, schemas[name], fsync=self._fsync)
                after = Snapshot(self._tables.connection, self.files, replace(head, tables=versions))
                migration.verify(before, after, name, schemas[name])
            # A history of its own: no cache of the older layout is a beginning of this one.
            self._move(head.in_layout(versions, lineage=new_id()))
        except BaseException:
            self._take_back(head)
            raise

    @staticmethod
    def _dimension_of(head: Head) -> int:
        return EmbeddingIdentity.parse(head.embedding).dimension

    def _newest(self, line: str | None) -> tuple[str | None, Snapshot]:
        try:
            return line, self._open(line)
        except MemsuiteError:
            newer = read_line(self.files.head)
            if newer == line:
                raise
            # Maintenance pruned between our reading HEAD and looking for what it names.
            return newer, self._open(newer)

    def read(self, work: Callable[[Snapshot], T]) -> T:
        """Run ``work`` on the newest state, and once more on the then newest one if maintenance
        has meanwhile pruned the version it was reading."""
        try:
            with self._readers_lock.shared():
                return work(self.snapshot())
        except VersionGone:
            self._forget()
            self._mend()
        except MemsuiteError as error:
            if error.code is not ErrorCode.STORE_UNAVAILABLE or not self._mend():
                raise
        try:
            with self._readers_lock.shared():
                return work(self.snapshot())
        except VersionGone as error:
            raise unavailable(self.files.root, str(error)) from error

    def _forget(self) -> None:
        with self._latest_lock:
            self._latest = None

    def _open(self, line: str | None) -> Snapshot:
        if line is None:
            self._require_nothing_else()
            return Snapshot(None, self.files, _NOTHING, self._caches)
        head = state_named(self.files, line)
        missing = sorted(set(head.tables) - self.files.tables_present())
        if missing:
            raise unavailable(self.files.table(missing[0]), f"{self.files.table(missing[0])} is missing.")
        require_versions(self.files, head)
        self._tables.follow(head.lineage)
        return Snapshot(self._tables.connection, self.files, head, self._caches)

    def _require_nothing_else(self) -> None:
        """Without HEAD there may be nothing here, or what an interrupted creation left."""
        present = self.files.tables_present() & set(schema.ALL_TABLES)
        for name in sorted(present):
            columns = self._tables.columns(name)
            if name == schema.MEMORIES and columns >= _OLDER_SUITE_COLUMNS:
                raise _older_suite(self.files.root)
            if self._tables.rows(name):
                raise unavailable(self.files.head, f"{self.files.head} is missing, but {name} holds rows.")

    def _mend(self) -> bool:
        """Put right what a failed read may have tripped over and what nothing is lost by; False
        where there is nothing of the kind, or no way to write here now."""
        line = read_line(self.files.head)
        if line is None:
            return False
        head = state_named(self.files, line)
        if not torn_beyond(self.files, head) and not self._damaged_indexes(head, head.tables):
            return False
        try:
            with self._write_lock.held(MEND_WAIT):
                head = self._current(None).head
                self._rebuild_indexes(head, head.tables)
        except MemsuiteError:
            return False
        return True

    def _damaged_indexes(self, head: Head, among: Iterable[str]) -> dict[str, list[str]]:
        """Names of damaged indexes, for each of some tables that has any."""
        found = {name: damaged_indexes(self.files.table(name), head.tables[name]) for name in among}
        return {name: indexes for name, indexes in found.items() if indexes}

    def _rebuild_indexes(self, head: Head, among: Iterable[str], *, text: bool = False) -> None:
        """Make damaged indexes anew from the rows, and the text index where a search says so.
        Content stays, so the generation does."""
        damaged = self._damaged_indexes(head, among)
        if text:
            damaged.setdefault(schema.MEMORIES, []).append(schema.TEXT_INDEX)
        if not damaged:
            return
        versions: dict[str, int] = {}
        for name, indexes in damaged.items():
            self._tables.realign(name, head.tables[name])
            versions[name] = self._tables.rebuild_indexes(name, set(indexes), fsync=self._fsync)
        self._move(replace(head, tables={**head.tables, **versions}, previous=dict(head.tables)))

    # -- writing ----------------------------------------------------------------------

    @contextmanager
    def transaction(
        self,
        author: Author,
        operation: str,
        *,
        wait: float,
        identity: EmbeddingIdentity | None = None,
        note: str = "",
    ) -> Iterator[Transaction]:
        """Change the database in one step, or not at all.

        ``identity`` is the model of the vectors that may be written; the first one given makes
        the database. What writes no vectors of its own leaves it out, and needs no model.

        Raises ``store_busy`` when the lock is not free within ``wait`` seconds. An exception in
        the block changes nothing; a kill at any instant leaves the state before or after.
        """
        try:
            self.files.create()
        except OSError as error:
            raise as_ours(error, self.files.root) from error
        with self._write_lock.held(wait):
            snapshot = self._current(identity)
            transaction = Transaction(snapshot, _stamp(author, operation, note, snapshot.generation + 1))
            try:
                yield transaction
            except VersionGone as error:
                # Under the lock nobody prunes: a file of the newest state itself is missing.
                raise unavailable(self.files.root, str(error)) from error
            self._commit(transaction)

    @contextmanager
    def upkeep(self, wait: float) -> Iterator[Upkeep]:
        """The write lock, for work on files rather than on content; damaged indexes are made anew first.
        Raises ``store_busy``."""
        with self._write_lock.held(wait):
            head = self._current(None).head
            self._rebuild_indexes(head, head.tables)
            head = self.snapshot().head
            yield Upkeep(head, self._tables, self._fsync, self.files, self._move)

    def without_readers(self, wait: float) -> AbstractContextManager[None]:
        """Held while nobody reads. Inside, read only with what ``upkeep`` gives. Raises ``store_busy``."""
        return self._readers_lock.alone(wait)

    def _current(self, identity: EmbeddingIdentity | None) -> Snapshot:
        """The state to change, made first where there is none."""
        snapshot = self.snapshot()
        snapshot.head.require_writer()
        require_versions(self.files, snapshot.head)
        self._clear_leftovers(snapshot.head)
        if identity is None and snapshot.embedding_id:
            identity = EmbeddingIdentity.parse(snapshot.embedding_id)
        if identity is None or set(schema.TABLES) <= set(snapshot.head.tables):
            return snapshot
        versions = self._tables.create(identity.dimension)
        known = dict(snapshot.head.tables)
        tables = {name: known.get(name, version) for name, version in versions.items()}
        embedding = snapshot.head.embedding or str(identity)
        self._move(replace(snapshot.head, tables=tables, embedding=embedding))
        return self.snapshot()

    def _clear_leftovers(self, head: Head) -> None:
        """What a writer that died has left and the next one must not trip over."""
        try:
            set_aside(torn_beyond(self.files, head))
            remove_unfinished(self.files.head)
        except OSError as error:
            raise as_ours(error, self.files.root) from error

    def _commit(self, transaction: Transaction) -> None:
        head = transaction.snapshot.head
        changed = {name: change for name, change in transaction.changes.items() if change}
        whole = transaction.reembedded
        if not changed and whole is None:
            return
        try:
            versions = dict(head.tables) | self._committed(head, changed)
            if whole is not None:
                versions |= self._rewritten(head, whole)
            moved = self._move(
                replace(
                    head,
                    generation=transaction.stamp.generation,
                    lineage=new_id() if transaction.another_history else head.lineage,
                    tables=versions,
                    embedding=str(whole.identity) if whole else head.embedding,
                    previous=dict(head.tables),
                )
            )
        except BaseException:
            self._take_back(head)
            raise
        if whole is None and not any(change.streamed or change.emptied for change in changed.values()):
            change = changed.get(schema.MEMORIES, TableChange())
            written = Changes((*change.added, *change.replaced), tuple(change.deleted))
            self._caches.recent.note(State(moved.lineage, moved.generation), written)
        self._upkeep(changed, transaction.snapshot)

    def _committed(self, head: Head, changed: Mapping[str, TableChange]) -> dict[str, int]:
        dimension = self._tables.dimension()
        schemas = schema.schemas(dimension)
        versions: dict[str, int] = {}
        for name in (name for name in schema.ALL_TABLES if name in changed):
            if name in head.tables:
                self._tables.realign(name, head.tables[name])
            else:
                self._tables.create_on_demand(name, dimension, fsync=self._fsync)
            versions[name] = self._tables.commit(name, changed[name], schemas[name], fsync=self._fsync)
        return versions

    def _rewritten(self, head: Head, whole: Reembedded) -> dict[str, int]:
        schemas = schema.schemas(whole.identity.dimension)
        versions: dict[str, int] = {}
        for name, rows in whole.tables.items():
            self._tables.realign(name, head.tables[name])
            versions[name] = self._tables.overwrite(name, rows(), schemas[name], fsync=self._fsync)
        return versions

    def _take_back(self, head: Head) -> None:
        """Bring the tables back to HEAD at once; where that fails too (a full disk), the next
        writer does it, and nobody sees the difference meanwhile."""
        for name, version in head.tables.items():
            try:
                self._tables.realign(name, version)
            except MemsuiteError:
                continue

    def _upkeep(self, changed: Mapping[str, TableChange], before: Snapshot) -> None:
        """Compact what has grown past its bound. A failure here undoes nothing: the change
        itself is committed."""
        try:
            self._rebuild_indexes(self.snapshot().head, changed, text=before.text_index_failed)
            head = self.snapshot().head
            versions = {
                name: self._tables.upkeep(name, head.tables[name], change, fsync=self._fsync)
                for name, change in changed.items()
            }
            tables = {**head.tables, **versions}
            if tables != head.tables:
                self._move(replace(head, tables=tables, previous=dict(head.tables)))
        except MemsuiteError:
            return

    def _move(self, head: Head) -> Head:
        """Make this the database; returns it as it was written."""
        place = self.files.place
        if head.place != place:
            # Made here, or a copy from here on: it goes on as a history of its own.
            head = replace(head, place=place, lineage=new_id())
        try:
            write_head(self.files.head, head, fsync=self._fsync)
        except OSError as error:
            raise as_ours(error, self.files.head) from error
        remember(self.files, head)
        return head


def _stamp(author: Author, operation: str, note: str, generation: int) -> Stamp:
    return Stamp(
        operation_id=author.operation_id or new_id(),
        operation=operation,
        actor=author.actor,
        session_id=author.session_id,
        at=now(),
        note=note,
        generation=generation,
    )


def _older_suite(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"{path} holds a database of the older suite. It is left exactly as it is: "
        "`manage.py adopt` moves it aside and imports it into its place.",
        received=str(path),
    )
