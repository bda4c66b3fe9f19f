"""Reading a directory of tables that another program wrote, without changing a byte of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import ROWS_UNLIMITED, VersionGone, connect, engine_errors, unavailable
from memories.repository.locks import POLL_SECONDS
from memories.repository.manifest import newest_version

if TYPE_CHECKING:
    from lancedb.table import Table

ROWS_AT_ONCE = 1_000
"""Rows held at a time while a table is read through."""


class ForeignTables:
    """The tables of a directory at the versions they had when it was opened."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._versions = _versions(root)
        self._tables: dict[str, Table] = {}
        self._connection: Any = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._versions)

    @property
    def versions(self) -> dict[str, int]:
        """The newest version of each table, as its files name it."""
        return dict(self._versions)

    def columns(self, name: str) -> dict[str, pa.DataType]:
        """The columns of a table with their types; none where there is no such table."""
        if name not in self._versions:
            return {}
        with self._errors(name):
            return {field.name: field.type for field in self._table(name).schema}

    def count(self, name: str) -> int:
        if name not in self._versions:
            return 0
        with self._errors(name):
            return int(self._table(name).count_rows())

    def batches(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Every row of a table, ``ROWS_AT_ONCE`` at a time, in the order they are stored."""
        if name not in self._versions:
            return
        query: Any = self._table(name).search().limit(ROWS_UNLIMITED)
        if columns is not None:
            query = query.select(list(columns))
        with self._errors(name):
            yield from query.to_batches(ROWS_AT_ONCE)

    def require_unchanged(self) -> None:
        """Raises ``store_busy`` where something was written since the directory was opened."""
        if _versions(self._root) != self._versions:
            raise MemsuiteError(
                ErrorCode.STORE_BUSY,
                "source",
                f"{self._root} was written while it was read. Stop what writes there and try again.",
                received=str(self._root),
            )

    def _table(self, name: str) -> Table:
        with self._errors(name):
            if self._connection is None:
                self._connection = connect(self._root)
            if name not in self._tables:
                table = self._connection.open_table(name)
                table.checkout(self._versions[name])
                self._tables[name] = table
            return self._tables[name]

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        path = self._root / f"{name}.lance"
        try:
            with engine_errors(path):
                yield
        except VersionGone as error:
            raise unavailable(path, str(error)) from error


@contextmanager
def foreign_tables(root: Path, *, wait: float) -> Iterator[ForeignTables]:
    """The tables at ``root`` with its write lock held, as its own writers hold it.

    Raises ``store_busy`` where the lock is not free within ``wait`` seconds, and where the tables have
    changed by the end all the same (a program that knows no lock).
    """
    with lock_held(root, wait=wait):
        tables = ForeignTables(root)
        yield tables
        tables.require_unchanged()


@contextmanager
def lock_held(root: Path, *, wait: float) -> Iterator[None]:
    """The write lock of a directory, by a file that is opened for reading only; where there is none, nobody
    has ever locked, and making one would change what is only to be read."""
    path = root / ".write.lock"
    if os.name != "posix" or not path.is_file():
        yield
        return
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    deadline = time.monotonic() + wait
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise MemsuiteError(
                        ErrorCode.STORE_BUSY,
                        "source",
                        f"Another process holds {path}; it was not free within {wait:g} seconds. Try again.",
                        received=str(path),
                    ) from error
                time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _versions(root: Path) -> dict[str, int]:
    found = {}
    for folder in sorted(root.glob("*.lance")):
        version = _version(folder) if folder.is_dir() and not folder.is_symlink() else None
        if version is not None:
            found[folder.stem] = version
    return found


def _version(folder: Path) -> int | None:
    """Engines before 2024 named a version by its plain number."""
    plain = (path.stem for path in (folder / "_versions").glob("*.manifest"))
    older = [int(name) for name in plain if name.isdigit() and len(name) < 20]
    return newest_version(folder) or max(older, default=None)


def is_older_suite(root: Path) -> bool:
    """Memories without HEAD and without history, which this suite makes together with them."""
    ours = (root / "HEAD").exists() or (root / f"{schema.REVISIONS}.lance").exists()
    return (root / f"{schema.MEMORIES}.lance").is_dir() and not ours
