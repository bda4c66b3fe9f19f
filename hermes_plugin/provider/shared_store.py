"""One open repository per database path and process, shared by every provider instance.

A gateway keeps up to 128 agents in one process. Each holds a `StoreLease`; the repository is opened
by whoever needs it first (normally the warm-up thread), and closed when the last lease is returned
and the last call using it has ended. A failure to open is never remembered: the next call tries again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository import MemoryRepository

logger = logging.getLogger(__name__)

LOCK_WAIT = 2.0
"""Seconds a write of the plugin waits for the database lock before `store_busy` (spec 02)."""

OPEN_WAIT = 30.0
"""Seconds a tool call waits for an opening that another thread has begun (a cold import takes about 2)."""

_stores: dict[str, _Store] = {}
_stores_lock = threading.Lock()


class StoreLease:
    """One provider's share of the store at a path; thread safe, and idempotent to return."""

    def __init__(self, store: _Store) -> None:
        self._store = store
        self._returned = False
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether the repository is open, so that using it costs no import and no opening."""
        return self._store.repository is not None

    @property
    def failure(self) -> MemsuiteError | None:
        """Why the last attempt to open failed; None when it is open or was not tried."""
        return self._store.failure

    @contextmanager
    def use(self, wait: float = OPEN_WAIT) -> Iterator[MemoryRepository]:
        """The open repository for the length of one call, opening it first where needed.

        Raises store_unavailable when `wait` seconds pass while another thread opens it or when this
        lease has been returned, and whatever opening raises.
        """
        store = self._store
        if self._returned:
            raise MemsuiteError(
                ErrorCode.STORE_UNAVAILABLE, "", "this session has ended; start a new one to use the memory"
            )
        repository = store.enter(wait)
        try:
            yield repository
        finally:
            store.leave()

    def give_back(self) -> None:
        with self._lock:
            if self._returned:
                return
            self._returned = True
        _return_share(self._store)


def lease(settings: Settings) -> StoreLease:
    """A share of the store at `settings.db_path`; cheap, opens nothing."""
    key = str(settings.db_path.expanduser().resolve())
    with _stores_lock:
        store = _stores.get(key)
        if store is None:
            store = _stores[key] = _Store(key, settings)
        store.leases += 1
    return StoreLease(store)


@contextmanager
def borrowed(settings: Settings) -> Iterator[MemoryRepository]:
    """The repository for one piece of work, given back at its end."""
    share = lease(settings)
    try:
        with share.use() as repository:
            yield repository
    finally:
        share.give_back()


def open_stores() -> tuple[str, ...]:
    """Database paths that some provider of this process holds."""
    with _stores_lock:
        return tuple(sorted(_stores))


def _return_share(store: _Store) -> None:
    with _stores_lock:
        store.leases -= 1
        if store.leases > 0:
            return
        _stores.pop(store.key, None)
    store.retire()


class _Store:
    """The repository of one path with the count of calls inside it."""

    def __init__(self, key: str, settings: Settings) -> None:
        self.key = key
        self.leases = 0
        self.repository: MemoryRepository | None = None
        self.failure: MemsuiteError | None = None
        self._settings = settings
        self._state = threading.Lock()
        self._opening = threading.Lock()
        self._users = 0
        self._retired = False

    def enter(self, wait: float) -> MemoryRepository:
        deadline = time.monotonic() + wait
        with self._state:
            self._users += 1
            if self.repository is not None:
                return self.repository
        try:
            return self._open_within(deadline)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        with self._state:
            self._users -= 1
        self._close_when_idle()

    def retire(self) -> None:
        """No lease is left: close now, or as soon as the last call inside has ended."""
        with self._state:
            self._retired = True
        self._close_when_idle()

    def _open_within(self, deadline: float) -> MemoryRepository:
        if not self._opening.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise MemsuiteError(
                ErrorCode.STORE_UNAVAILABLE, "", "the memory store is still starting; try again in a moment"
            )
        try:
            if self.repository is None:
                self.repository = self._open()
            self.failure = None
            return self.repository
        except MemsuiteError as error:
            self.failure = error
            raise
        finally:
            self._opening.release()

    def _open(self) -> MemoryRepository:
        # Here and not at the top: these imports bring in LanceDB and the model's runtime.
        from memories.embedding.factory import create_embedder
        from memories.repository import MemoryRepository

        embedder = create_embedder(self._settings)
        try:
            return MemoryRepository.open(self._settings, embedder, lock_wait=LOCK_WAIT)
        except BaseException:
            embedder.close()
            raise

    def _close_when_idle(self) -> None:
        with self._state:
            if not self._retired or self._users > 0 or self.repository is None:
                return
            repository, self.repository = self.repository, None
        try:
            repository.close()
        except Exception:
            logger.exception("closing the memory store failed")
