"""A database as an older version of the suite would have left it, and the step that leads from there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from memories.repository import MemoryRepository, migration, schema
from memories.repository.head import write_head
from memories.repository.records import Row, hash_of

LATER = "approved_by"
"""The column that memories did not have then."""

STEP = migration.Step(1, {schema.MEMORIES: {LATER: lambda row: f"nobody yet: {row['subject']}"}})


def make_older(repository: MemoryRepository) -> None:
    """Write the tables of a database anew without ``LATER``, in layout 0."""
    store = repository._store
    head = store.snapshot().head
    versions = dict(head.tables)
    for name in (schema.MEMORIES, schema.REVISIONS):
        table = store.snapshot().arrow(name)
        assert table is not None
        rows = list(_older(name, table.to_pylist()))
        arrow_schema = pa.schema(
            [field for field in table.schema if name != schema.MEMORIES or field.name != LATER]
        )
        batches = pa.Table.from_pylist(rows, schema=arrow_schema).to_batches()
        versions[name] = store._tables.overwrite(name, batches, arrow_schema, fsync=False)
    older = replace(head, tables=versions, schema=0, min_reader=0, min_writer=0)
    write_head(store.files.head, older, fsync=False)


def _older(name: str, rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        if name == schema.MEMORIES:
            yield row | _without_later(row, row["vector"])
        else:
            kept = json.loads(row["before"])
            if kept["row"] is not None:
                kept["row"] = _without_later(kept["row"], row["before_vector"])
            yield row | {"before": json.dumps(kept)}


def _without_later(row: Row, vector: list[float]) -> Row:
    left_out = {LATER, "vector", "content_hash"}
    values = {name: value for name, value in row.items() if name not in left_out}
    return values | {"content_hash": hash_of(values, vector)}
