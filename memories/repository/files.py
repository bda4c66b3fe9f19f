"""Where things lie inside a database directory, and how they reach the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DatabaseFiles:
    """The fixed places of one database directory."""

    root: Path

    @property
    def head(self) -> Path:
        return self.root / "HEAD"

    @property
    def write_lock(self) -> Path:
        return self.root / ".write.lock"

    @property
    def readers_lock(self) -> Path:
        return self.root / ".readers.lock"

    @property
    def side(self) -> Path:
        """Side stores of ours: usage, spool, cache. No memory lives there."""
        return self.root / ".memsuite"

    @property
    def heads(self) -> Path:
        """The last lines HEAD held, newest last."""
        return self.side / "heads"

    @property
    def place(self) -> str:
        """Which directory this is, whatever its name; "" where it does not exist."""
        try:
            found = self.root.stat()
        except OSError:
            return ""
        return f"{found.st_dev}:{found.st_ino}"

    @property
    def usage(self) -> Path:
        return self.side / "usage.db"

    def table(self, name: str) -> Path:
        return self.root / f"{name}.lance"

    def tables_present(self) -> frozenset[str]:
        """Names of the table directories found, whoever made them."""
        if not self.root.is_dir():
            return frozenset()
        return frozenset(path.stem for path in self.root.glob("*.lance") if path.is_dir())

    def create(self) -> None:
        """Make the directory and its side folder, readable by the owner alone."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.side.mkdir(mode=0o700, exist_ok=True)


def flush_file(path: Path) -> None:
    """Ask the kernel to put a file's bytes on the disk; a file gone meanwhile needs none."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_directory(path: Path) -> None:
    """Make the names in a directory durable. Windows has no such call and needs none."""
    if os.name == "posix":
        flush_file(path)


class NewFiles:
    """Tells which files have come to a table since it was last asked, so that just these are flushed.

    Lance itself never calls fsync. Names are compared, not times: a directory listing is a
    millisecond at 4,000 versions, and a clock that steps back cannot hide a file. The
    ``_transactions`` folder is left out, since a table reads whole without it.
    """

    _FOLDERS = ("data", "_deletions", "_indices", "_versions")

    def __init__(self, table: Path) -> None:
        self._table = table
        self._known = set(self._paths())

    def flush(self) -> int:
        """Flush what has appeared since; returns how many files that were. What another process
        added meanwhile is flushed once more, which costs little."""
        now = set(self._paths())
        added = now - self._known
        flush_all(Path(path) for path in added)
        self._known = now
        return len(added)

    def _paths(self) -> Iterator[str]:
        for folder in self._FOLDERS:
            yield from _walk(self._table / folder)


def flush_all(paths: Iterable[Path]) -> None:
    """Flush files, then each directory that names one of them, once."""
    folders: set[Path] = set()
    for path in paths:
        flush_file(path)
        folders.add(path.parent)
    for folder in folders:
        flush_directory(folder)


def _walk(folder: Path) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        else:
            yield entry.path
