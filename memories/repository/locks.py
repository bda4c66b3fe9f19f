"""Who may write, and who is reading.

Writers exclude one another with ``.write.lock`` (flock on POSIX; the older suite's plugin
honours the same file). Readers share ``.readers.lock``, which only reclaim and purge take alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from memories.contract import ErrorCode, MemsuiteError

POLL_SECONDS = 0.004
"""How often a waiting writer looks again: well below one commit, so that a lock set free is
taken soon, and long enough not to burn a core."""


class WriteLock:
    """Exclusive among the threads of this process and among all processes, which get it about in the
    order in which they have come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()

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
            release = self._take_file(deadline, wait)
            try:
                yield
            finally:
                release()
        finally:
            self._threads.release()

    def _take_file(self, deadline: float, wait: float) -> Callable[[], None]:
        try:
            release = _take(self._path, deadline)
        except OSError as error:
            raise MemsuiteError(
                ErrorCode.STORE_READ_ONLY,
                "db_path",
                f"The database cannot be written: {self._path} cannot be locked ({error.strerror}).",
                received=str(self._path),
            ) from error
        if release is None:
            raise self._busy(wait)
        return release

    def _busy(self, wait: float) -> MemsuiteError:
        return MemsuiteError(
            ErrorCode.STORE_BUSY,
            "db_path",
            f"Another process is writing; the lock was not free within {wait:g} seconds. Try again.",
            received=str(self._path),
        )


def _take(path: Path, deadline: float) -> Callable[[], None] | None:
    """Lock a file; returns what sets it free again, None where the deadline came first."""
    if os.name != "posix":
        return _take_by_polling(path, deadline)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _lock(descriptor, deadline):
            return None
        if _names(path, descriptor):
            return partial(os.close, descriptor)
        # The directory was put aside meanwhile, as restoring a backup does: the lock of another one.
        os.close(descriptor)


def _take_by_polling(path: Path, deadline: float) -> Callable[[], None] | None:
    lock = FileLock(path, thread_local=False, mode=0o600)
    try:
        lock.acquire(timeout=max(deadline - time.monotonic(), 0.0), poll_interval=POLL_SECONDS)
    except Timeout:
        return None
    return lock.release


def _names(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock(descriptor: int, deadline: float) -> bool:
    """Lock an open file; where the deadline comes first, see that it is closed and say False."""
    import fcntl  # POSIX only, so not at the top

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        left = deadline - time.monotonic()
    except OSError:
        os.close(descriptor)
        raise
    if left <= 0:
        os.close(descriptor)
        return False
    return _Waiter(descriptor).gets_it_within(left)


class _Waiter(threading.Thread):
    """Stands in the kernel's queue for a lock, which serves who came first. Looking again and again, as
    there is no other way to wait with a limit, leaves it to chance who is next: with four writers one in
    twenty waited for more than seven others."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="memsuite-write-lock", daemon=True)
        self._descriptor = descriptor
        self._decided = threading.Event()
        self._deciding = threading.Lock()
        self._is_wanted = True
        self._holds = False
        self._error: OSError | None = None

    def gets_it_within(self, seconds: float) -> bool:
        """Wait. What comes too late is given back at once."""
        self.start()
        interrupted = True
        try:
            self._decided.wait(seconds)
            interrupted = False
        finally:
            with self._deciding:
                self._is_wanted = False
                if interrupted and self._holds:
                    os.close(self._descriptor)
        if self._error is not None:
            raise self._error
        return self._holds

    def run(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._deciding:
            self._holds = self._is_wanted and self._error is None
            if not self._holds:
                os.close(self._descriptor)
        self._decided.set()


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

    @contextmanager
    def alone(self, wait: float) -> Iterator[None]:
        """Held while nobody reads; who comes to read meanwhile waits. Whoever holds it must not read
        through ``shared``. Raises ``store_busy`` when readers have not left within ``wait`` seconds."""
        descriptor = self._open()
        if descriptor is None:
            yield
            return
        try:
            _lock_alone(descriptor, wait, self._path)
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


def _lock_alone(descriptor: int, wait: float, path: Path) -> None:
    import fcntl

    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if time.monotonic() >= deadline:
                raise MemsuiteError(
                    ErrorCode.STORE_BUSY,
                    "db_path",
                    f"Somebody was reading all the while; no pause came within {wait:g} seconds. Try again.",
                    received=str(path),
                ) from error
        time.sleep(POLL_SECONDS)
