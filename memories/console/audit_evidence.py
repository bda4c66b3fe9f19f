"""What the store itself knows of an operation: the rows that carry its id."""

from __future__ import annotations

from collections.abc import Iterable

from memories.console.repository_access import repository
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository, schema
from memories.repository.engine import is_in
from memories.repository.snapshot import Snapshot, batches

_PLACES = (
    (schema.MEMORIES, "operation_id"),
    (schema.REVISIONS, "operation_id"),
    (schema.REVISIONS, "before_operation_id"),
    (schema.IMPORTS, "operation_id"),
)
"""A memory that stands as the operation left it, a state the operation replaced, and one it had written
that another replaced since; of an import also that there was one, since it may be of turns alone."""


def written_of(store: MemoryRepository, operation_ids: Iterable[str]) -> frozenset[str]:
    """Those of the operations that the store holds something of. Raises what reading raises."""
    wanted = list(operation_ids)

    def found(snapshot: Snapshot) -> frozenset[str]:
        return frozenset(
            row[column]
            for table, column in _PLACES
            for batch in batches(wanted)
            for row in snapshot.rows(table, is_in(column, batch), [column])
        )

    return store.read(found) if wanted else frozenset()


def is_written(operation_id: str) -> bool:
    """Whether the store holds something of an operation; not so while it cannot be read."""
    try:
        return bool(written_of(repository(), [operation_id]))
    except MemsuiteError:
        return False
