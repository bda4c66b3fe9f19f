"""What takes long over a large database: computed once for each state, by a thread that outlives the request.

Nobody waits longer than they said; who comes back finds it further on, or done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository
from memories.repository.snapshot import State

T = TypeVar("T")

AT_ONCE = 2_000
"""Up to so many memories the answer takes less than starting a thread is worth: some tenths of a second."""

PATIENCE = 8.0
"""Seconds a page waits: what 20,000 memories take at the first time on two busy cores."""

GLANCE = 0.1
"""Seconds the rail waits for a number; it does without rather than hold up a page."""


@dataclass(frozen=True, slots=True)
class _Running(Generic[T]):
    repository: MemoryRepository
    state: State
    future: Future[T]

    def is_of(self, repository: MemoryRepository, state: State) -> bool:
        return self.repository is repository and self.state == state


class Slowly(Generic[T]):
    """Keeps the latest value, or what is on its way to it. Thread safe."""

    def __init__(self, compute: Callable[[MemoryRepository], T]) -> None:
        self._compute = compute
        self._lock = threading.Lock()
        self._latest: _Running[T] | None = None

    def of(self, repository: MemoryRepository, patience: float = PATIENCE) -> T:
        """The value of the newest state. Raises ``heavy_work_busy`` where it is not there in time, and what
        computing it raises."""
        with self._lock:
            state = repository.snapshot().state
            latest = self._latest
            if latest is None or not latest.is_of(repository, state) or _has_failed(latest.future):
                self._latest = latest = _Running(repository, state, Future())
                self._start(latest)
        try:
            return latest.future.result(patience)
        except TimeoutError:
            raise MemsuiteError(
                ErrorCode.HEAVY_WORK_BUSY,
                "",
                "All memories are being compared with each other. It goes on by itself: come back soon.",
            ) from None

    def _start(self, running: _Running[T]) -> None:
        if running.repository.count() <= AT_ONCE:
            self._run(running)
        else:
            threading.Thread(target=self._run, args=(running,), name="comparing", daemon=True).start()

    def _run(self, running: _Running[T]) -> None:
        try:
            running.future.set_result(self._compute(running.repository))
        except BaseException as error:
            running.future.set_exception(error)


def _has_failed(future: Future[T]) -> bool:
    return future.done() and future.exception() is not None
