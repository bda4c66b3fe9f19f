"""After three failures in a row, stop asking for a while: a dead server must not hold up every caller."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from memories.embedding.failures import embedding_failed

FAILURES_TO_OPEN = 3
OPEN_SECONDS = 30.0


class Circuit(Enum):
    """`closed`: calls pass. `open`: calls are refused. `half_open`: the next call is the trial."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Counts the failures of a service in a row. `clock` gives monotonic seconds."""

    def __init__(
        self,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        open_seconds: float = OPEN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures_to_open = failures_to_open
        self._open_seconds = open_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at = -math.inf
        self._trial_running = False

    @property
    def circuit(self) -> Circuit:
        with self._lock:
            return self._circuit()

    @property
    def failures(self) -> int:
        """In a row, up to now."""
        with self._lock:
            return self._failures

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One call of the service: refused with `embedding_failed` while open, else counted."""
        is_trial = self._enter()
        succeeded = False
        try:
            yield
            succeeded = True
        finally:
            self._leave(is_trial=is_trial, succeeded=succeeded)

    def _circuit(self) -> Circuit:
        if self._failures < self._failures_to_open:
            return Circuit.CLOSED
        return Circuit.HALF_OPEN if self._seconds_left() <= 0 else Circuit.OPEN

    def _seconds_left(self) -> float:
        return self._opened_at + self._open_seconds - self._clock()

    def _enter(self) -> bool:
        with self._lock:
            circuit = self._circuit()
            if circuit is Circuit.CLOSED:
                return False
            if circuit is Circuit.OPEN or self._trial_running:
                wait = max(1, math.ceil(self._seconds_left()))
                raise embedding_failed(
                    f"the embedding server failed {self._failures} times in a row; next try in {wait} s"
                )
            self._trial_running = True
            return True

    def _leave(self, *, is_trial: bool, succeeded: bool) -> None:
        with self._lock:
            if is_trial:
                self._trial_running = False
            if succeeded:
                self._failures = 0
                return
            self._failures += 1
            if self._failures >= self._failures_to_open:
                self._opened_at = self._clock()
