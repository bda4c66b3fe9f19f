"""Who may write, and who is reading.

Writers exclude one another with ``.write.lock`` (flock on POSIX; the older suite's plugin
honours the same file). Readers share ``.readers.lock``, which only reclaim and purge take alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from memories.contract import ErrorCode, MemsuiteError

POLL_SECONDS = 0.004
"""How often a waiting writer looks again: well below one commit, so that a lock set free is
taken soon, and long enough not to burn a core."""


class WriteLock:
    """Exclusive among the threads of this process and among all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._file = FileLock(path, thread_local=False, mode=0o600)

    @contextmanager
    def held(self, wait: float) -> Iterator[None]:
        """Hold the lock; ``wait`` seconds at most are spent getting it.

        Raises ``store_busy`` (retryable) after that, and ``store_read_only`` where the lock
        file cannot be made. A failure leaves nothing behind: the next try starts afresh.
        """
        deadline = time.monotonic() + wait
        if not self._threads.acquire(timeout=max(wait, 0.0)):
            raise self._busy(wait)
        try:
            self._take_file(deadline, wait)
            try:
                yield
            finally:
                self._file.release()
        finally:
            self._threads.release()

    def _take_file(self, deadline: float, wait: float) -> None:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            self._file.acquire(timeout=left, poll_interval=POLL_SECONDS)
        except Timeout as error:
            raise self._busy(wait) from error
        except OSError as error:
            raise MemsuiteError(
                ErrorCode.STORE_READ_ONLY,
                "db_path",
                f"The database cannot be written: {self._path} cannot be locked ({error.strerror}).",
                received=str(self._path),
            ) from error

    def _busy(self, wait: float) -> MemsuiteError:
        return MemsuiteError(
            ErrorCode.STORE_BUSY,
            "db_path",
            f"Another process is writing; the lock was not free within {wait:g} seconds. Try again.",
            received=str(self._path),
        )


def held_elsewhere(path: Path) -> bool:
    """Whether anybody, this process too, holds the write lock of this file just now. Waits for
    nobody, and writes nothing: where the file is not there, nobody has ever written."""
    if not path.is_file():
        return False
    if os.name != "posix":
        try:
            with FileLock(path, timeout=0):
                return False
        except (Timeout, OSError):
            return True
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class ReadersLock:
    """Shared while somebody reads, so that reclaim and purge can wait for readers to leave.

    Where the platform has no flock, or the directory cannot be written, reading goes on
    without it: a reader must never need a right that only writers have.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def shared(self) -> Iterator[None]:
        descriptor = self._open()
        if descriptor is None:
            yield
            return
        try:
            _lock_shared(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _open(self) -> int | None:
        if os.name != "posix":
            return None
        try:
            return os.open(self._path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None


def _lock_shared(descriptor: int) -> None:
    import fcntl  # POSIX only, so not at the top

    fcntl.flock(descriptor, fcntl.LOCK_SH)
