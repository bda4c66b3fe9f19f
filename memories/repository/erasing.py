"""Erasing memories from one database directory: out of every table, and every file that held them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.repository.engine import KEEP_EVERY_VERSION, as_ours
from memories.repository.files import DatabaseFiles
from memories.repository.store import Store
from memories.repository.traces import Traces
from memories.repository.transaction import Upkeep
from memories.repository.upkeep.checks import verify_kept_versions
from memories.repository.upkeep.work import settle

WAIT = 10.0
"""Seconds to wait for writers and readers to leave."""


@dataclass(frozen=True, slots=True)
class Erased:
    """``rows`` are how many left each table, ``known`` the ids of which there was anything."""

    rows: Mapping[str, int]
    known: frozenset[str]
    spool_lines: int = 0


def erase(store: Store, ids: Collection[str]) -> Erased:
    """Take memories out of every table, and leave no file that existed before.

    Each table is written anew from the rows that stay; then HEAD names only that; then everything else
    is removed, while nobody reads. A kill in between leaves files to remove, and never half an erasure
    of the rows. Raises ``store_busy``, ``store_unavailable``, ``disk_full``.
    """
    files = store.files
    with store.upkeep(WAIT) as upkeep, store.without_readers(WAIT):
        before = set(_table_files(files))
        snapshot = upkeep.snapshot()
        traces = Traces.of(snapshot, ids)
        rows: dict[str, int] = {}
        versions: dict[str, int] = {}
        try:
            for name in upkeep.head.tables:
                table = snapshot.arrow(name)
                if table is not None:
                    left = traces.without(name, table)
                    versions[name] = _write_anew(upkeep, name, left)
                    rows[name] = len(table) - len(left)
        except BaseException:
            for name, version in upkeep.head.tables.items():
                upkeep.tables.realign(name, version)
            raise
        upkeep.begin_history(versions)
        _remove_old_files(upkeep, before)
        spool_lines = _erase_beside(files, traces)
    return Erased(rows, traces.known, spool_lines)


def _write_anew(upkeep: Upkeep, name: str, left: pa.Table) -> int:
    """The version that holds just these rows. Raises ``store_unavailable`` where it does not."""
    upkeep.tables.realign(name, upkeep.head.tables[name])
    version = upkeep.tables.overwrite(name, left.to_batches(), left.schema, fsync=upkeep.fsync)
    found = upkeep.snapshot({name: version}).row_count(name)
    if found != len(left):
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "db_path",
            f"{name} was written with {found} rows instead of {len(left)}; nothing was erased.",
            received=name,
        )
    return version


def _remove_old_files(upkeep: Upkeep, before: Collection[Path]) -> None:
    """Every file that was there before the rows were written anew. The engine removes what versions are
    made of; what it keeps a record of its commits in is no part of any version, and goes here."""
    for name in upkeep.head.tables:
        settle(upkeep, name, partial(_optimized, upkeep, name, KEEP_EVERY_VERSION))
        _optimized(upkeep, name, timedelta(0))
    for path in before:
        path.unlink(missing_ok=True)
    for folder in sorted({path.parent for path in before}, reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    verify_kept_versions(upkeep.files, upkeep.head)


def _optimized(upkeep: Upkeep, name: str, age: timedelta) -> int:
    return upkeep.tables.optimize(name, older_than=age, unreferenced=True, fsync=upkeep.fsync).version


def _table_files(files: DatabaseFiles) -> Iterator[Path]:
    for folder in files.root.glob("*.lance"):
        yield from (path for path in folder.rglob("*") if path.is_file())


def _erase_beside(files: DatabaseFiles, traces: Traces) -> int:
    """What lies beside the tables: counts of use, staged vectors, caches, earlier states, the spool."""
    try:
        files.heads.write_text(files.head.read_text(encoding="utf-8"), encoding="utf-8")
        for folder in ("cache", "reembed"):
            shutil.rmtree(files.side / folder, ignore_errors=True)
        return _erase_from_spool(files.side / "spool", traces)
    except OSError as error:
        raise as_ours(error, files.side) from error
    finally:
        _erase_usage(files.usage, traces.ids)


def _erase_usage(path: Path, ids: Collection[str]) -> None:
    """The rows of some memories, and the pages they were on."""
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.executemany("DELETE FROM usage WHERE memory_id = ?", [(name,) for name in sorted(ids)])
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "db_path",
            f"The counts of use could not be erased ({error}). Run the purge again.",
            received=str(path),
        ) from error


def _erase_from_spool(spool: Path, traces: Traces) -> int:
    """Turns that wait to be filed and quote the memories. A line keeps its length, since places in the
    file are remembered by it: it becomes blanks, which are skipped as a line that is not whole."""
    erased = 0
    for path in sorted(spool.glob("*.jsonl")) if spool.is_dir() else ():
        with path.open("r+b") as file:
            lines, place = file.readlines(), 0
            for line in lines:
                if traces.quoted_in(line.decode(errors="replace")):
                    file.seek(place)
                    file.write(b" " * (len(line) - 1))
                    erased += 1
                place += len(line)
            file.flush()
            os.fsync(file.fileno())
    return erased
