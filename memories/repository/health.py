"""What state a database is in. Read only, and table by table, so that a damaged one hides no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memories.contract import MemsuiteError
from memories.repository import schema
from memories.repository.copies import state_named
from memories.repository.engine import VersionGone, connect
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head, read_line
from memories.repository.locks import ReadersLock, held_elsewhere
from memories.repository.manifest import Manifest, ManifestError, damaged_files, manifest_path
from memories.repository.mending import torn_beyond
from memories.repository.snapshot import Snapshot
from memories.repository.usage import UsageStore

ENGINES = ("hermes-memory-suite", "lancedb", "pyarrow", "numpy", "onnxruntime")
"""Packages whose version decides what is stored, found or computed."""


class TableState(StrEnum):
    CURRENT = "current"
    MISSING = "missing"
    DAMAGED = "damaged"


class IndexState(StrEnum):
    """``LAGGING``: some rows are searched without it, which costs time and loses nothing. ``NONE``:
    there is none and none is needed. ``MISSING`` and ``DAMAGED``: made anew by the next write.
    ``UNKNOWN``: the table it belongs to cannot be opened."""

    CURRENT = "current"
    LAGGING = "lagging"
    MISSING = "missing"
    DAMAGED = "damaged"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Damage:
    """A file or a place that is not as it was written, and in what way."""

    path: Path
    what: str

    def as_dict(self) -> dict[str, str]:
        return {"path": str(self.path), "what": self.what}


@dataclass(frozen=True, slots=True)
class TableHealth:
    """``version`` is the one HEAD names; ``rows`` and ``fragments`` are None where they cannot be read;
    ``size`` is all bytes of its directory, ``live`` those of the files of that version."""

    name: str
    state: TableState
    version: int
    rows: int | None
    versions_kept: int
    fragments: int | None
    size: int
    live: int

    def as_dict(self) -> dict[str, object]:
        return {
            "state": str(self.state),
            "rows": self.rows,
            "version": self.version,
            "versions_kept": self.versions_kept,
            "fragments": self.fragments,
            "bytes": self.size,
        }


@dataclass(frozen=True, slots=True)
class IndexHealth:
    state: IndexState
    indexed_rows: int = 0
    unindexed_rows: int = 0

    def as_dict(self) -> dict[str, object]:
        return {
            "state": str(self.state),
            "indexed_rows": self.indexed_rows,
            "unindexed_rows": self.unindexed_rows,
        }


@dataclass(frozen=True, slots=True)
class StorageHealth:
    """In bytes. What maintenance could free is not known before it has run, and never guessed."""

    database: int
    backups: int
    active: int
    index_directories: int

    def as_dict(self) -> dict[str, object]:
        return {
            "database_bytes": self.database,
            "managed_backup_bytes": self.backups,
            "total_footprint_bytes": self.database + self.backups,
            "active_bytes_estimate": self.active,
            "overhead_bytes_estimate": self.database - self.active,
            "reclaimable_bytes": None,
            "index_directories": self.index_directories,
        }


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """``head`` is None where there is no database yet, or where ``problem`` says why it cannot be read."""

    path: Path
    head: Head | None
    problem: str
    tables: tuple[TableHealth, ...]
    text_index: IndexHealth
    vector_index: IndexHealth
    storage: StorageHealth
    damage: tuple[Damage, ...]
    lock_held: bool
    spool_files: int | None
    quarantine_rows: int
    usage_fault: str

    @property
    def exists(self) -> bool:
        return self.head is not None or bool(self.problem)

    @property
    def sound(self) -> bool:
        return not self.problem and not self.damage


def examine(path: Path, backups: Path) -> DatabaseHealth:
    """Look at the database at ``path`` and the managed backups in ``backups``. Writes nothing, waits
    for nobody, and raises nothing about damage: the answer says it."""
    files = DatabaseFiles(path)
    head, problem = _head(files)
    with ReadersLock(files.readers_lock).shared():
        tables, snapshot = _tables(files, head) if head is not None else ((), None)
        counts = {table.name: table.rows or 0 for table in tables}
        return DatabaseHealth(
            path=path,
            head=head,
            problem=problem,
            tables=tables,
            text_index=_index(files, snapshot, schema.TEXT_INDEX, IndexState.MISSING),
            vector_index=_index(files, snapshot, schema.VECTOR_INDEX, IndexState.NONE),
            storage=_storage(files, tables, backups),
            damage=tuple(_damage(files, head)),
            lock_held=held_elsewhere(files.write_lock),
            spool_files=_spool(files),
            quarantine_rows=counts.get(schema.QUARANTINE, 0),
            usage_fault=UsageStore(files.usage).fault(),
        )


def engine_versions() -> dict[str, str]:
    """Versions of what the answers depend on; those not installed are left out."""
    found: dict[str, str] = {}
    for name in ENGINES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _head(files: DatabaseFiles) -> tuple[Head | None, str]:
    """HEAD, or why there is none to go by."""
    try:
        line = read_line(files.head)
        if line is not None:
            return state_named(files, line), ""
    except MemsuiteError as error:
        return None, error.message
    if files.tables_present() & set(schema.TABLES):
        return None, f"{files.head} is missing, but there are tables: it says which versions count."
    return None, ""


def _tables(files: DatabaseFiles, head: Head) -> tuple[tuple[TableHealth, ...], Snapshot]:
    snapshot = Snapshot(connect(files.root), files, head)
    return tuple(_table(files, snapshot, name, at) for name, at in head.tables.items()), snapshot


def _table(files: DatabaseFiles, snapshot: Snapshot, name: str, at: int) -> TableHealth:
    folder = files.table(name)
    manifest = _manifest(folder, at)
    rows = _rows(snapshot, name) if manifest is not None else None
    return TableHealth(
        name=name,
        state=_state(folder, manifest, rows),
        version=at,
        rows=rows,
        versions_kept=len(list((folder / "_versions").glob("*.manifest"))),
        fragments=len(manifest.fragments) if manifest is not None else None,
        size=bytes_below(folder),
        live=live_bytes(manifest) if manifest is not None else _size_of(manifest_path(folder, at)),
    )


def _manifest(folder: Path, at: int) -> Manifest | None:
    try:
        manifest = Manifest(folder, at)
        list(manifest.files())
    except ManifestError:
        return None
    return manifest


def _state(folder: Path, manifest: Manifest | None, rows: int | None) -> TableState:
    """Of the rows alone: an index is made anew from them whenever it must be."""
    if not folder.is_dir():
        return TableState.MISSING
    if manifest is None or rows is None:
        return TableState.DAMAGED
    damaged = any(part.damage for fragment in manifest.fragments for part in fragment.files)
    return TableState.DAMAGED if damaged else TableState.CURRENT


def _rows(snapshot: Snapshot, name: str) -> int | None:
    try:
        return snapshot.row_count(name)
    except (MemsuiteError, VersionGone):
        return None


def _index(files: DatabaseFiles, snapshot: Snapshot | None, index: str, without: IndexState) -> IndexHealth:
    """The state of one index of the memories; ``without`` is what its absence means."""
    if snapshot is None or schema.MEMORIES not in snapshot.head.tables:
        return IndexHealth(IndexState.NONE)
    try:
        counted = snapshot.index_rows(schema.MEMORIES, index)
        manifest = Manifest(files.table(schema.MEMORIES), snapshot.head.tables[schema.MEMORIES])
        parts = [part for found in manifest.indexes if found.name == index for part in found.files]
    except (MemsuiteError, VersionGone, ManifestError):
        return IndexHealth(IndexState.UNKNOWN)
    if counted is None:
        return IndexHealth(without)
    if any(part.damage for part in parts):
        return IndexHealth(IndexState.DAMAGED, *counted)
    return IndexHealth(IndexState.LAGGING if counted[1] else IndexState.CURRENT, *counted)


def _storage(files: DatabaseFiles, tables: tuple[TableHealth, ...], backups: Path) -> StorageHealth:
    return StorageHealth(
        database=bytes_below(files.root),
        backups=bytes_below(backups),
        active=sum(table.live for table in tables),
        index_directories=sum(1 for path in files.root.glob("*.lance/_indices/*") if path.is_dir()),
    )


def _damage(files: DatabaseFiles, head: Head | None) -> Iterator[Damage]:
    if head is None:
        return
    for path in torn_beyond(files, head):
        yield Damage(path, "cut short; it is past HEAD, and the next read or write sets it aside")
    for name, at in head.tables.items():
        folder = files.table(name)
        if not folder.is_dir():
            yield Damage(folder, "missing")
            continue
        for path, what in damaged_files({folder: at}):
            yield Damage(path, what)


def _spool(files: DatabaseFiles) -> int | None:
    """How many files of captured turns wait in the spool; None where there is none."""
    spool = files.side / "spool"
    if not spool.is_dir():
        return None
    # Beside each file lies the lock of its writer; an empty one waits for its next turn.
    return sum(1 for path in spool.glob("*.jsonl") if path.stat().st_size)


def live_bytes(manifest: Manifest) -> int:
    """Bytes of everything one version of a table is made of."""
    return sum(_size_of(path) for path in [manifest.path, *(part.path for part in manifest.files())])


def bytes_below(path: Path) -> int:
    """Bytes of all files below a directory; 0 where it does not exist."""
    found = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    return sum(_size_of(file) for file in found)


def _size_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0  # missing, or gone since it was listed
