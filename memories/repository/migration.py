"""From the table layout of an older version of the suite to this one's.

Each table that changes is written anew as its next version, which nobody counts yet; then what was
written is read back and compared; then HEAD names it, with the layout's number and the versions of the
suite that can read and write it. A kill before that leaves the database as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import is_in
from memories.repository.head import SCHEMA, Head
from memories.repository.records import LIGHT, Row, from_json, hash_of, to_json
from memories.repository.revisions import MEMORY_TIMES
from memories.repository.snapshot import Snapshot, batches

Column = Callable[[Row], Any]
"""The value of a new column from a row as it was, without its vectors."""

HASH = "content_hash"


@dataclass(frozen=True, slots=True)
class Step:
    """What leads to layout ``number`` from the one before: for each table that changes, the values of
    its new columns. A column that the new layout does not have is left out."""

    number: int
    columns: Mapping[str, Mapping[str, Column]]


STEPS: tuple[Step, ...] = ()
"""In order of their numbers. Layout 1 is the first."""


def is_older(head: Head) -> bool:
    return bool(head.tables) and head.schema < SCHEMA


def columns_to_add(head: Head) -> dict[str, dict[str, Column]]:
    """For each table of this database that changes, all its new columns."""
    found: dict[str, dict[str, Column]] = {}
    for step in (step for step in STEPS if step.number > head.schema):
        for name in step.columns.keys() & head.tables.keys():
            found.setdefault(name, {}).update(step.columns[name])
    if memories := found.get(schema.MEMORIES):
        # Earlier states must fit into the table they may come back to.
        found.setdefault(schema.REVISIONS, {})["before"] = partial(_earlier_state, memories)
    return found


def _earlier_state(columns: Mapping[str, Column], revision: Row) -> str:
    """What a revision keeps, with the memory in the new layout."""
    kept: dict[str, Any] = json.loads(revision["before"])
    if (old := kept["row"]) is not None:
        row = from_json(old, MEMORY_TIMES)
        row = {name: columns[name](row) if name in columns else row[name] for name in LIGHT}
        vector = revision["before_vector"] or []
        kept["row"] = to_json(row) | {HASH: _hash(old, row, vector)}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def in_new_layout(
    snapshot: Snapshot, name: str, columns: Mapping[str, Column], arrow_schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of a table as the new layout has them, a few hundred at a time."""
    for keys in _keys(snapshot, name):
        found = snapshot.arrow(name, is_in(schema.KEYS[name], keys))
        if found is not None:
            yield from _converted(found, columns, arrow_schema).to_batches()


def _converted(table: pa.Table, columns: Mapping[str, Column], arrow_schema: pa.Schema) -> pa.Table:
    rows = _without_vectors(table).to_pylist()
    for column, value in columns.items():
        values = pa.array([value(row) for row in rows], arrow_schema.field(column).type)
        if column in table.column_names:
            table = table.drop_columns([column])
        table = table.append_column(column, values)
    if HASH in table.column_names:
        hashes = _hashes(rows, table.select(arrow_schema.names))
        table = table.drop_columns([HASH]).append_column(HASH, pa.array(hashes, pa.string()))
    return table.select(arrow_schema.names).cast(arrow_schema)


def _hashes(before: list[Row], after: pa.Table) -> list[str]:
    """The hashes of the new rows. One that was damaged before keeps the hash that says so."""
    vectors = after[schema.VECTOR].to_numpy(zero_copy_only=False)
    rows = _without_vectors(after).to_pylist()
    return [_hash(old, new, vector) for old, new, vector in zip(before, rows, vectors, strict=True)]


def _hash(old: Row, new: Row, vector: Any) -> str:
    known: str = old[HASH]
    return hash_of(_values(new), vector) if hash_of(_values(old), vector) == known else known


def _values(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != HASH}


def _without_vectors(table: pa.Table) -> pa.Table:
    plain = [field.name for field in table.schema if not pa.types.is_fixed_size_list(field.type)]
    return table.select(plain)


def _keys(snapshot: Snapshot, name: str) -> Iterator[list[str]]:
    key = schema.KEYS[name]
    found = snapshot.arrow(name, columns=[key])
    return batches(found[key].to_pylist() if found is not None else [])


def verify(before: Snapshot, after: Snapshot, name: str, arrow_schema: pa.Schema) -> None:
    """Raises ``store_unavailable`` unless the new version holds every row of the old one, in the new
    layout, with hashes that are as right as they were."""
    expected = {key for part in _keys(before, name) for key in part}
    found: set[str] = set()
    for keys in _keys(after, name):
        rows = after.arrow(name, is_in(schema.KEYS[name], keys))
        if rows is None or rows.schema.names != arrow_schema.names:
            raise _unverified(name)
        found.update(rows[schema.KEYS[name]].to_pylist())
    if found != expected or after.row_count(name) != len(expected):
        raise _unverified(name)


def _unverified(name: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"The table {name} was not written whole in the layout of this version. The database is as it "
        "was; try again, and restore a backup if that does not help.",
        received=name,
    )
