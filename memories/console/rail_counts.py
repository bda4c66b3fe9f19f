"""The numbers of the rail: shown with a page while they cost nothing, and brought after it when a change
has made them due to be counted anew. A page does not wait for what stands beside it."""

from __future__ import annotations

import threading

from memories.console.navigation import Page
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository
from memories.repository.snapshot import State

AT_ONCE = 2_000
"""Up to so many memories all numbers together take a few milliseconds."""


class RailCounts:
    """Remembers which pages have counted for the latest state: each keeps what its number came of, so that
    asking it again costs nothing. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: tuple[MemoryRepository, State] | None = None
        self._counted: set[str] = set()

    def is_known(self, repository: MemoryRepository, page: Page) -> bool:
        """Whether the number of a page can be had at once."""
        snapshot = repository.snapshot()
        if page.light or snapshot.count <= AT_ONCE:
            return True
        with self._lock:
            return self._is_latest(repository, snapshot.state) and page.url_name in self._counted

    def count(self, repository: MemoryRepository, page: Page) -> int | None:
        """The number of a page, None where it cannot be told (yet)."""
        if page.count is None:
            return None
        try:
            state = repository.snapshot().state
            number = page.count(repository)
        except MemsuiteError:
            return None
        with self._lock:
            if not self._is_latest(repository, state):
                self._latest, self._counted = (repository, state), set()
            self._counted.add(page.url_name)
        return number

    def _is_latest(self, repository: MemoryRepository, state: State) -> bool:
        return self._latest is not None and self._latest[0] is repository and self._latest[1] == state


rail_counts = RailCounts()
