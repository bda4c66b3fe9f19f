"""The web's one ``MemoryRepository`` a process, and what its errors are in HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings as django_settings
from django.contrib.auth.models import AnonymousUser, User

from memories.contract import ErrorCode
from memories.embedding.factory import create_embedder
from memories.repository import Author, MemoryRepository
from memories.repository.repository import CONSOLE_WAIT
from memories.settings import Settings


def suite_settings() -> Settings:
    """The suite's settings as this process started with them."""
    return django_settings.SUITE


def repository() -> MemoryRepository:
    """The repository of this process, made at the first call and shared by all threads.

    Nothing is opened here, so that a database which cannot be read is an error of the request that needs
    it, and is tried afresh by the next one.
    """
    return _shared.get()


def author(user: User | AnonymousUser) -> Author:
    """Who a change by this person is recorded under."""
    return Author(actor=f"console:{user.get_username()}", source="console")


def close_repository() -> None:
    """Let go of the model and the tables; a later call opens them again."""
    _shared.replace(None)


@contextmanager
def using(repository: MemoryRepository) -> Iterator[MemoryRepository]:
    """Serve another repository for a while: tests, and commands that bring their own."""
    before = _shared.replace(repository, close=False)
    try:
        yield repository
    finally:
        _shared.replace(before, close=False)


class _Shared:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._repository: MemoryRepository | None = None

    def get(self) -> MemoryRepository:
        with self._lock:
            if self._repository is None:
                settings = suite_settings()
                self._repository = MemoryRepository(
                    settings, create_embedder(settings), lock_wait=CONSOLE_WAIT
                )
            return self._repository

    def replace(self, other: MemoryRepository | None, *, close: bool = True) -> MemoryRepository | None:
        with self._lock:
            before, self._repository = self._repository, other
        if close and before is not None:
            before.close()
        return before


_shared = _Shared()

RETRY_AFTER_SECONDS = 2
"""What a retryable 503 asks a client to wait: a commit holds the lock for far less."""

RETRY_HEAVY_SECONDS = 1
"""The same where large computations are running: most take less than a second."""

_STATUS = {
    401: (ErrorCode.NOT_AUTHENTICATED,),
    403: (ErrorCode.NOT_PERMITTED, ErrorCode.CONTEXT_INACTIVE),
    404: (ErrorCode.NOT_FOUND, ErrorCode.MEMORY_NOT_FOUND, ErrorCode.CONFLICT_NOT_FOUND),
    409: (
        ErrorCode.CONFLICTING_CLAIMS,
        ErrorCode.AMBIGUOUS_SUBJECT,
        ErrorCode.DUPLICATE_MEMORY,
        ErrorCode.VERSION_CONFLICT,
        ErrorCode.CONFLICT_NOT_OPEN,
        ErrorCode.SELECTION_CHANGED,
        ErrorCode.CONFIRMATION_REQUIRED,
    ),
    413: (ErrorCode.PAYLOAD_TOO_LARGE,),
    400: (
        ErrorCode.INVALID_TYPE,
        ErrorCode.UNKNOWN_FIELD,
        ErrorCode.REQUIRED_FIELD,
        ErrorCode.INVALID_PARAMETER,
        ErrorCode.EMPTY_PATCH,
        ErrorCode.INVALID_WRITE_MODE,
        ErrorCode.TOO_MANY_IDS,
    ),
    429: (ErrorCode.RATE_LIMITED, ErrorCode.WRITE_LIMIT_REACHED),
    503: (
        ErrorCode.EMBEDDING_FAILED,
        ErrorCode.EMBEDDING_MODEL_MISMATCH,
        ErrorCode.STORE_BUSY,
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.STORE_READ_ONLY,
        ErrorCode.DISK_FULL,
        ErrorCode.SCHEMA_TOO_NEW,
        ErrorCode.HEAVY_WORK_BUSY,
    ),
}
_STATUS_OF = {code: status for status, codes in _STATUS.items() for code in codes}


def status_of(code: ErrorCode) -> int:
    """The HTTP status of an error code; what a memory's fields are refused for is 422."""
    return _STATUS_OF.get(code, 422)


def retry_after(code: ErrorCode) -> int:
    """Seconds to wait before asking again, 0 for what waiting does not help."""
    if not code.retryable or status_of(code) != 503:
        return 0
    return RETRY_HEAVY_SECONDS if code is ErrorCode.HEAVY_WORK_BUSY else RETRY_AFTER_SECONDS
