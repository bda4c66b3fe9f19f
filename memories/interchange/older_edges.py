"""The edges of an older suite's database, for looking at them without importing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memories.contract import MemsuiteError
from memories.interchange.readers.older_rows import edge_of_row
from memories.interchange.readers.suite import EDGES, LOCK_WAIT, MEMORIES
from memories.repository.edges import Edge
from memories.repository.foreign import ForeignTables, foreign_tables
from memories.repository.retention import EdgePlan, plan_edges


def older_plan(path: Path) -> EdgePlan:
    """What is wrong with the edges of a directory of the older suite. Writes nothing."""
    with foreign_tables(path, wait=LOCK_WAIT) as tables:
        ids = {row["id"] for batch in tables.batches(MEMORIES, ["id"]) for row in batch.to_pylist()}
        return plan_edges(_edges(tables), ids)


def _edges(tables: ForeignTables) -> Iterator[Edge]:
    for batch in tables.batches(EDGES):
        for row in batch.to_pylist():
            try:
                yield edge_of_row(row)
            except MemsuiteError:
                continue  # an import names it with its reason
