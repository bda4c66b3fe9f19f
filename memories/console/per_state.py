"""What is dear to compute and follows from the stored content alone: computed once for each state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from memories.repository import MemoryRepository
from memories.repository.snapshot import State

T = TypeVar("T")


class PerState(Generic[T]):
    """Keeps the latest value only: a process serves one repository. Thread safe; who asks meanwhile
    waits for the one that computes."""

    def __init__(self, compute: Callable[[MemoryRepository], T]) -> None:
        self._compute = compute
        self._lock = threading.Lock()
        self._latest: tuple[MemoryRepository, State, T] | None = None

    def of(self, repository: MemoryRepository) -> T:
        state = repository.snapshot().state
        with self._lock:
            latest = self._latest
            if latest is None or latest[0] is not repository or latest[1] != state:
                self._latest = latest = (repository, state, self._compute(repository))
            return latest[2]
