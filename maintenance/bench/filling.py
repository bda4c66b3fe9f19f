"""A database filled with made-up memories."""

from __future__ import annotations

from maintenance.bench.benchmark import Shows
from maintenance.bench.made_up import payload
from maintenance.bench.operation import BENCH
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository

BATCH = 2_000
"""Memories of one commit: an import does the same."""


def fill(repository: MemoryRepository, rows: int, progress: Shows | None = None) -> None:
    """Add the memories 0 to ``rows`` - 1."""
    for start in range(0, rows, BATCH):
        numbers = range(start, min(start + BATCH, rows))
        for result in repository.add_many([payload(number) for number in numbers], BENCH):
            if isinstance(result, MemsuiteError):
                raise result
        if progress is not None:
            progress.show(numbers.stop)
