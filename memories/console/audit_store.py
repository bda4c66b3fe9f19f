"""The operations that the store itself tells of: each row of its history and each memory names one.

The agent and the commands leave no intent behind; what they did is read from here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from memories.repository import Catalogue, MemoryRepository, Snapshot, schema
from memories.repository.engine import is_in, quoted
from memories.repository.snapshot import State, batches

CREATED = "add"
"""The operation of a memory's first state, which replaced nothing, so that no revision names it."""

_TIME = pa.timestamp("us", tz="UTC")
_TOUCH = pa.schema(
    [
        ("operation_id", pa.string()),
        ("at", _TIME),
        ("actor", pa.string()),
        ("action", pa.string()),
        ("session_id", pa.string()),
        ("note", pa.string()),
        ("memory_id", pa.string()),
    ]
)
_REVISED = ("operation_id", "at", "actor", "operation", "session_id", "note", "memory_id")


def store_operations(repository: MemoryRepository) -> pa.Table:
    """One row an operation, newest first: ``operation_id``, ``at``, ``actor``, ``action``,
    ``session_id``, ``note`` and ``memories``, how many it touched. Kept until the store changes."""
    catalogue = repository.catalogue()
    return repository.read(lambda snapshot: _cache.at(snapshot, catalogue))


def operations_of(repository: MemoryRepository, memory_id: str) -> frozenset[str]:
    """The operations that touched one memory."""

    def found(snapshot: Snapshot) -> frozenset[str]:
        stored = snapshot.rows(schema.MEMORIES, f"id = {quoted(memory_id)}", ["operation_id"])
        columns = ["operation_id", "before_operation_id"]
        revised = snapshot.rows(schema.REVISIONS, f"memory_id = {quoted(memory_id)}", columns)
        return frozenset(name for row in [*stored, *revised] for name in row.values() if name)

    return repository.read(found)


class _Cache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: tuple[State, pa.Table] | None = None

    def at(self, snapshot: Snapshot, catalogue: Catalogue) -> pa.Table:
        with self._lock:
            if self._latest is None or self._latest[0] != snapshot.state:
                self._latest = (snapshot.state, _grouped(_touches(snapshot, catalogue)))
            return self._latest[1]


_cache = _Cache()


def _touches(snapshot: Snapshot, catalogue: Catalogue) -> pa.Table:
    """One row for each memory that an operation touched; what revisions say comes first."""
    revised = snapshot.arrow(schema.REVISIONS, columns=_REVISED)
    parts = [] if revised is None else [revised.rename_columns(_TOUCH.names).cast(_TOUCH)]
    parts.append(_still_new(catalogue))
    parts.append(_changed_since(snapshot, catalogue))
    return pa.concat_tables(parts)


def _still_new(catalogue: Catalogue) -> pa.Table:
    """The creations of memories that nothing has changed since."""
    table = catalogue.table
    return _creations(table.filter(pc.equal(table["revision"], 1)).rename_columns({"id": "memory_id"}))


def _changed_since(snapshot: Snapshot, catalogue: Catalogue) -> pa.Table:
    """The creations of memories that were changed or removed since: their first revision names them."""
    columns = ["memory_id", "before_operation_id"]
    first = snapshot.arrow(schema.REVISIONS, "revision = 1", columns)
    if first is None:
        return _TOUCH.empty_table()
    first = first.rename_columns(["memory_id", "operation_id"])
    known = catalogue.table.select(["id", "created_at", "source", "session_id"])
    joined = first.join(known, "memory_id", "id", join_type="left outer")
    gone = joined.filter(pc.is_null(joined["created_at"]))["memory_id"].to_pylist()
    stored = joined.filter(pc.is_valid(joined["created_at"]))
    return pa.concat_tables([_creations(stored), _kept_creations(snapshot, gone)])


def _kept_creations(snapshot: Snapshot, memory_ids: Sequence[str]) -> pa.Table:
    """The same of memories no longer stored, from the first state that the history keeps."""
    found = []
    for batch in batches(memory_ids):
        where = f"revision = 1 AND {is_in('memory_id', batch)}"
        for revision in snapshot.rows(
            schema.REVISIONS, where, ["memory_id", "before_operation_id", "before"]
        ):
            row = json.loads(revision["before"])["row"]
            made = {name: row[name] for name in ("source", "session_id")}
            made |= {"memory_id": revision["memory_id"], "operation_id": revision["before_operation_id"]}
            found.append(made | {"created_at": datetime.fromisoformat(row["created_at"])})
    names = ("operation_id", "source", "session_id", "memory_id")
    fields = [("created_at", _TIME), *((name, pa.string()) for name in names)]
    return _creations(pa.Table.from_pylist(found, pa.schema(fields)))


def _creations(rows: pa.Table) -> pa.Table:
    """Touches from rows of ``operation_id``, ``created_at``, ``source``, ``session_id``, ``memory_id``."""
    size = rows.num_rows
    columns = {
        "operation_id": rows["operation_id"],
        "at": rows["created_at"],
        "actor": rows["source"],
        "action": pa.array([CREATED] * size, pa.string()),
        "session_id": rows["session_id"],
        "note": pa.array([""] * size, pa.string()),
        "memory_id": rows["memory_id"],
    }
    return pa.table(columns).cast(_TOUCH)


def _grouped(touches: pa.Table) -> pa.Table:
    # One thread, since "first" has a meaning only where the order is kept.
    grouped = touches.group_by("operation_id", use_threads=False).aggregate(
        [
            ("at", "max"),
            ("actor", "first"),
            ("action", "first"),
            ("session_id", "first"),
            ("note", "first"),
            ("memory_id", "count_distinct"),
        ]
    )
    names = ["operation_id", "at", "actor", "action", "session_id", "note", "memories"]
    wanted = [name for name in grouped.column_names if name != "operation_id"]
    ordered = grouped.select(["operation_id", *wanted]).rename_columns(names)
    return ordered.sort_by([("at", "descending"), ("operation_id", "descending")])
