"""Work over all memories: two at once in this process, a third is told to come back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memories.contract import ErrorCode, MemsuiteError

AT_ONCE = 2
"""As many as the machines this is for have cores; more would only make all of them later."""

PATIENCE = 0.25
"""Seconds a third one waits: about what a computation that is nearly done still takes."""

_slots = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def heavy_work() -> Iterator[None]:
    """Hold one of the slots. Raises ``heavy_work_busy`` (retryable) when none is free in time."""
    if not _slots.acquire(timeout=PATIENCE):
        raise MemsuiteError(
            ErrorCode.HEAVY_WORK_BUSY, "", "Two large computations are running. Try again in a second."
        )
    try:
        yield
    finally:
        _slots.release()
