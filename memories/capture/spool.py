"""The durable queue between a hook, which must return at once, and the worker that files turns.

Each process appends to a file of its own, ``<pid>.jsonl``, and holds a lock beside it for as long as it
lives; who gets the lock of a file has found what a dead process left, and takes it up. How far a file
has been filed stands in ``<name>.done``, so that a restart repeats one batch at most, and lines filed
before are known by their ids.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from memories.capture.line import LineError, SpoolLine
from memories.settings import private_directory

MOST_BYTES = 64 * 2**20
"""What all spool files may hold together; a turn beyond it is counted and dropped (spec 05)."""

READ_AHEAD = 4 * 2**20
"""Bytes read at a time: more than one batch of the longest turns."""

_LINES, _DONE, _LOCK = ".jsonl", ".done", ".lock"


def spool_folder(database: Path) -> Path:
    """Where the turns of a database wait."""
    return database / ".memsuite" / "spool"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A line with the place in its file where the next one begins."""

    line: SpoolLine
    end: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines to file; ``end`` is where the file goes on after them, ``torn`` counts lines that were
    skipped because they were not whole."""

    waiting: Sequence[Waiting]
    end: int
    torn: int = 0


class SpoolFile:
    """One file of the spool, whoever wrote it. For the one who holds its lock, or wrote it."""

    def __init__(self, path: Path, *, finished: bool) -> None:
        self.path = path
        self._finished = finished
        self._done = path.with_suffix(_DONE)

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def batch(self, limit: int) -> Batch | None:
        """The next lines, at most ``limit``; None where all has been filed."""
        start = self._filed_up_to()
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                content = file.read(READ_AHEAD)
        except FileNotFoundError:
            return None
        return self._parsed(content, start, limit)

    def filed(self, end: int) -> None:
        """Everything before ``end`` is filed and need not be read again."""
        temporary = self._done.with_name(f"{self._done.name}.{os.getpid()}.tmp")
        temporary.write_text(f"{self._first_id()} {end}", encoding="utf-8")
        temporary.replace(self._done)

    def remove(self) -> None:
        """Delete the file, all of which is filed. Its mark goes last: alone it means nothing."""
        self.path.unlink(missing_ok=True)
        self._done.unlink(missing_ok=True)

    def _parsed(self, content: bytes, start: int, limit: int) -> Batch | None:
        waiting: list[Waiting] = []
        torn, at = 0, 0
        while len(waiting) < limit:
            end = content.find(b"\n", at)
            if end < 0:
                break
            try:
                waiting.append(Waiting(SpoolLine.parse(content[at:end]), start + end + 1))
            except LineError:
                torn += bool(content[at:end].strip())
            at = end + 1
        if not waiting and self._finished and at < len(content):
            # The last line of a dead process, half-written.
            torn, at = torn + 1, len(content)
        return Batch(waiting, start + at, torn) if at else None

    def _filed_up_to(self) -> int:
        """Where to go on. The mark names the file's first line, so that a mark left by a file of the
        same name says nothing about this one."""
        try:
            first, end = self._done.read_text(encoding="utf-8").rsplit(" ", 1)
        except (FileNotFoundError, ValueError):
            return 0
        return int(end) if first == self._first_id() and int(end) <= self.size else 0

    def _first_id(self) -> str:
        try:
            with self.path.open("rb") as file:
                return SpoolLine.parse(file.readline(READ_AHEAD)).id
        except (FileNotFoundError, LineError):
            return "-"


class Spool:
    """The spool of one database, as one process uses it. Thread safe."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.RLock()
        self._own: _OwnFile | None = None
        self._others = 0
        """Bytes of other processes' files, as they were last looked at: asking the disk each time would
        make a hook wait for the interpreter as often."""

    def append(self, line: SpoolLine) -> bool:
        """Put a turn on the disk; False where the spool is full or the disk refuses it."""
        content = line.as_bytes()
        try:
            with self._lock:
                own = self._opened()
                if self._others + own.size + len(content) > self._most_bytes:
                    return False
                return own.append(content)
        except OSError:
            return False

    def prepare(self) -> None:
        """Make the folder and the file, so that the first turn need not, and see what others hold."""
        try:
            with self._lock:
                self._opened().open()
            self.look_around()
        except OSError:
            return  # the first turn meets it again, and is counted

    def look_around(self) -> None:
        """See how much the files of other processes hold now."""
        own = self._own_path()
        self._others = sum(_size(path) for path in files_in(self._folder) if path != own)

    def bytes_waiting(self) -> int:
        """Bytes of all spool files, of other processes too."""
        return sum(_size(path) for path in files_in(self._folder))

    def files(self) -> Generator[SpoolFile]:
        """The files to take lines from: those that dead processes left, each held while it is the current
        one, then this process's own."""
        for path in files_in(self._folder, empty_too=True):
            if path == self._own_path():
                continue
            with _held(path) as is_held:
                if is_held:
                    yield SpoolFile(path, finished=True)
        own = self._own_path()
        if own is not None:
            yield SpoolFile(own, finished=False)

    def finish(self, file: SpoolFile) -> None:
        """Remove a file whose lines are all filed, unless one has come meanwhile."""
        with self._lock:
            if self._own is not None and file.path == self._own.path:
                if self._own.size and file.batch(1) is None:
                    self._own.start_anew()
                    file.remove()
                    self._own.open()
            else:
                file.remove()

    def is_empty(self) -> bool:
        """Whether this process has no line that is not filed. Others' files are not looked at."""
        with self._lock:
            return self._own is None or SpoolFile(self._own.path, finished=False).batch(1) is None

    def close(self) -> None:
        """Let the own file go: whoever finds lines in it takes them up."""
        with self._lock:
            own, self._own = self._own, None
            if own is not None:
                own.close()

    def _own_path(self) -> Path | None:
        with self._lock:
            return self._own.path if self._own is not None else None

    def _opened(self) -> _OwnFile:
        if self._own is None or self._own.pid != os.getpid():
            # A forked child must not append to its parent's file, nor let go of its lock.
            self._own = _OwnFile.made_in(private_directory(self._folder))
        return self._own


class _OwnFile:
    """The file this process appends to, with its lock."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self.pid = os.getpid()
        self._lock = lock
        self.size = _size(path)
        self._descriptor: int | None = None
        self._is_torn = _ends_torn(path)

    @classmethod
    def made_in(cls, folder: Path) -> _OwnFile:
        """The first free name: a process of another container may have the same number."""
        number = 0
        while True:
            name = f"{os.getpid()}-{number}" if number else str(os.getpid())
            path = folder / f"{name}{_LINES}"
            lock = _lock_of(path)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                number += 1
                continue
            return cls(path, lock)

    def open(self) -> int:
        """The descriptor to append to; the file is made where it is not there."""
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(self.path, flags, 0o600)
        return self._descriptor

    def append(self, content: bytes) -> bool:
        if self._is_torn:
            content = b"\n" + content
        written = os.write(self.open(), content)
        self.size += written
        # A full disk takes a part: the next line must not be joined to it.
        self._is_torn = written < len(content)
        return not self._is_torn

    def start_anew(self) -> None:
        """The file is about to be removed; the next line makes another."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self.size, self._is_torn = 0, False

    def close(self) -> None:
        self.start_anew()
        empty = _size(self.path) == 0
        if empty:
            self.path.unlink(missing_ok=True)
        self._lock.release()
        if empty:
            self.path.with_suffix(_LOCK).unlink(missing_ok=True)


def files_in(folder: Path, *, empty_too: bool = False) -> list[Path]:
    """The spool files of a folder that hold anything, in the order of their names."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == _LINES)
    except FileNotFoundError:
        return []
    return [path for path in found if empty_too or _size(path)]


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Hold the lock of a file nobody owns any more; False where its owner lives."""
    lock = _lock_of(path)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        yield False
        return
    try:
        yield path.exists()
    finally:
        gone = not path.exists()
        lock.release()
        if gone:
            path.with_suffix(_LOCK).unlink(missing_ok=True)


def _lock_of(path: Path) -> FileLock:
    return FileLock(path.with_suffix(_LOCK), thread_local=False, mode=0o600)


def _ends_torn(path: Path) -> bool:
    """Whether a file of an earlier process with this number ends in the middle of a line."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # not there, or empty
        return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
