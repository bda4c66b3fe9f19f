"""A real value for each argument that an address takes, so that the walk can open every address.

A page with a new argument adds a line to ``SAMPLES``; the walk says so when it is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memories.repository import AddResult, Author, MemoryRepository

AUTHOR = Author(actor="agent", session_id="s-1")


def payload(subject: str = "Tide_API", **changes: object) -> dict[str, object]:
    return {
        "domain": "Havlys",
        "subject": subject,
        "facts": ["port=8410 host=tide.havlys.internal", "Serves tide tables per harbour"],
        "tier": 2,
        "category": "tech",
        "tags": ["api", "tide"],
    } | changes


@dataclass(frozen=True)
class World:
    """The database that the walk goes over: one memory, stored by one operation."""

    repository: MemoryRepository
    added: AddResult


SAMPLES: dict[str, Callable[[World], str]] = {
    "memory_id": lambda world: world.added.memory_id,
    "operation_id": lambda world: world.added.operation_id,
    "saved_id": lambda world: "1",
    "elsewhere": lambda world: "no/such/address",
    # Nobody else's are found: what these addresses show is tested with the flow itself.
    "selection_key": lambda world: "0" * 32,
    "job_key": lambda world: "0" * 32,
    "backup": lambda world: "lancedb-manual-20260101-000000",
    "conflict_id": lambda world: "0" * 32,
    "cluster_key": lambda world: "isolated",
    "lesson_id": lambda world: "0" * 32,
}
