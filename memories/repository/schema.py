"""The Arrow schemas of the tables, and which column is the key of each."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

MEMORIES = "memories"
EDGES = "memory_edges"
CONFLICTS = "memory_conflicts"
ARCHIVE = "memory_conflicts_archive"
REVISIONS = "memory_revisions"
QUARANTINE = "quarantine"
TURNS = "turns"
LESSONS = "lessons"
IMPORTS = "imports"

TABLES = (MEMORIES, EDGES, CONFLICTS, ARCHIVE, REVISIONS, QUARANTINE)
"""Made with the database, in the order in which a transaction commits them."""

ON_DEMAND = (TURNS, LESSONS, IMPORTS)
"""Made by the first write to them. A database whose HEAD does not name them reads as if they were empty."""

ALL_TABLES = (*TABLES, *ON_DEMAND)

WITH_TEXT = frozenset({MEMORIES, TURNS})
"""Tables whose ``search_text`` has a text index."""

VECTORS = {MEMORIES: ("vector",), TURNS: ("vector", "context_vector")}
"""The columns that hold vectors of the model HEAD names; a re-embedding writes these tables anew."""

KEYS = {
    MEMORIES: "id",
    EDGES: "edge_key",
    CONFLICTS: "conflict_key",
    ARCHIVE: "conflict_key",
    REVISIONS: "revision_key",
    QUARANTINE: "id",
    TURNS: "id",
    LESSONS: "id",
    IMPORTS: "operation_id",
}
"""The column by which a row of a table is replaced or deleted."""

VECTOR = "vector"
TEXT = "search_text"
TEXT_INDEX, VECTOR_INDEX = "search_text_idx", "vector_idx"
"""As the engine names them: the column, and this ending."""

INDEXED_FROM = 10_000
"""Rows from which scalar indexes pay; below, the engine's scan is as fast."""

RANGE, SET = "range", "set"
"""Kinds of scalar index: a tree over many values, and a bitmap over few."""

INDEXES: dict[str, dict[str, str]] = {
    MEMORIES: {
        "id": RANGE,
        "subject_key": RANGE,
        "fingerprint": RANGE,
        "created_at": RANGE,
        "generation": RANGE,
        "category": SET,
        "tier": SET,
    },
    EDGES: {"edge_key": RANGE, "source_id": RANGE, "target_id": RANGE},
    CONFLICTS: {"conflict_key": RANGE, "memory_a_id": RANGE, "memory_b_id": RANGE, "subject": RANGE},
    ARCHIVE: {"conflict_key": RANGE, "subject": RANGE},
    REVISIONS: {
        "memory_id": RANGE,
        "operation_id": RANGE,
        "before_operation_id": RANGE,
        "generation": RANGE,
    },
    QUARANTINE: {},
    TURNS: {"id": RANGE, "session_id": RANGE, "generation": RANGE, "user_id": SET, "kind": SET},
    LESSONS: {},
    IMPORTS: {},
}
"""What is looked up by, for each table. Lists (tags, entities) have none: measured at 20,000 rows, an
index over their elements saves 1 ms a filter and makes each compaction 8 times longer."""

_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())
_CLAIM = pa.struct(
    [("key", pa.string()), ("value", pa.string()), ("kind", pa.string()), ("normal", pa.string())]
)


def _key(name: str) -> pa.Field:
    return pa.field(name, pa.string(), nullable=False)


@cache
def memories(dimension: int) -> pa.Schema:
    """The memories themselves; ``dimension`` is that of the embedding identity in HEAD.

    ``generation`` is the HEAD generation that wrote the row: the order of changes comes from it,
    never from a clock, and a cache refreshes by it.
    """
    return pa.schema(
        [
            _key("id"),
            ("content", pa.string()),
            ("search_text", pa.string()),
            ("domain", pa.string()),
            ("subject", pa.string()),
            ("facts", _TEXTS),
            ("tier", pa.int8()),
            ("category", pa.string()),
            ("type", pa.string()),
            ("tags", _TEXTS),
            ("tags_manual", pa.bool_()),
            ("entities", _TEXTS),
            ("claims", pa.list_(_CLAIM)),
            ("subject_key", pa.string()),
            ("fingerprint", pa.string()),
            ("quality", pa.float64()),
            ("source", pa.string()),
            ("session_id", pa.string()),
            ("user_id", pa.string()),
            ("platform", pa.string()),
            ("created_at", _TIME),
            ("updated_at", _TIME),
            ("reviewed_at", _TIME),
            ("approved_by", pa.string()),
            ("revision", pa.int32()),
            ("operation_id", pa.string()),
            ("generation", pa.int64()),
            ("embedding_id", pa.string()),
            ("content_hash", pa.string()),
            (VECTOR, pa.list_(pa.float32(), dimension)),
        ]
    )


EDGE_SCHEMA = pa.schema(
    [
        _key("edge_key"),
        ("source_id", pa.string()),
        ("relation_type", pa.string()),
        ("target_id", pa.string()),
        ("target_label", pa.string()),
        ("created_at", _TIME),
    ]
)

CONFLICT_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        _key("conflict_key"),
        ("memory_a_id", pa.string()),
        ("memory_b_id", pa.string()),
        ("subject", pa.string()),
        ("claim_key", pa.string()),
        ("value_a", pa.string()),
        ("value_b", pa.string()),
        ("status", pa.string()),
        ("resolution_type", pa.string()),
        ("resolution", pa.string()),
        ("resolution_note", pa.string()),
        ("resolved_by", pa.string()),
        ("created_at", _TIME),
        ("resolved_at", _TIME),
        ("archived_at", _TIME),
    ]
)

REVISION_SCHEMA = pa.schema(
    [
        _key("revision_key"),
        ("memory_id", pa.string()),
        ("revision", pa.int32()),
        ("operation_id", pa.string()),
        ("operation", pa.string()),
        ("actor", pa.string()),
        ("session_id", pa.string()),
        ("at", _TIME),
        ("note", pa.string()),
        ("generation", pa.int64()),
        # True where the operation took the memory out of the table: it is in the trash since.
        ("removed", pa.bool_()),
        # The operation that had written the state kept here; "" where there was none before.
        ("before_operation_id", pa.string()),
        # JSON: the row without its vector, its edges both ways, ledger rows the change closed.
        ("before", pa.string()),
        # Variable length: revisions outlive a change of the embedding dimension.
        ("before_vector", pa.list_(pa.float32())),
    ]
)

QUARANTINE_SCHEMA = pa.schema(
    [
        _key("id"),
        ("source", pa.string()),
        ("reason", pa.string()),
        ("message", pa.string()),
        ("raw", pa.string()),
        ("at", _TIME),
    ]
)


@cache
def turns(dimension: int) -> pa.Schema:
    """Captured turns of conversations (spec 05). Both vectors have the memories' ``dimension``.

    ``merged`` holds the ids of the newest spool lines counted into this turn, so that a line read
    once more after a kill is not counted again; ``trashed_at`` is null unless a person put it away.
    """
    return pa.schema(
        [
            _key("id"),
            ("kind", pa.string()),
            ("text", pa.string()),
            ("user_text", pa.string()),
            ("assistant_text", pa.string()),
            ("truncated", pa.bool_()),
            ("wing", pa.string()),
            ("room", pa.string()),
            ("session_id", pa.string()),
            ("user_id", pa.string()),
            ("platform", pa.string()),
            ("source", pa.string()),
            ("trust", pa.float64()),
            ("seen_count", pa.int32()),
            ("is_correction", pa.bool_()),
            ("occurred_at", _TIME),
            ("last_seen_at", _TIME),
            ("variants", _TEXTS),
            ("merged", _TEXTS),
            ("trashed_at", _TIME),
            ("search_text", pa.string()),
            ("generation", pa.int64()),
            ("embedding_id", pa.string()),
            (VECTOR, pa.list_(pa.float32(), dimension)),
            ("context_vector", pa.list_(pa.float32(), dimension)),
        ]
    )


LESSON_SCHEMA = pa.schema(
    [
        _key("id"),
        ("rule", pa.string()),
        # JSON: a list of what was said, where and by whom.
        ("evidence", pa.string()),
        ("count", pa.int32()),
        ("category", pa.string()),
        ("tier", pa.int8()),
        # JSON: the memory a person may approve, as the contract takes it.
        ("proposed", pa.string()),
        ("status", pa.string()),
        ("merged_into", pa.string()),
        ("memory_id", pa.string()),
        ("user_id", pa.string()),
        ("created_at", _TIME),
        ("updated_at", _TIME),
        ("decided_by", pa.string()),
        ("decided_at", _TIME),
        ("note", pa.string()),
        ("generation", pa.int64()),
    ]
)


IMPORT_SCHEMA = pa.schema(
    [
        _key("operation_id"),
        ("system", pa.string()),
        ("source", pa.string()),
        ("actor", pa.string()),
        ("at", _TIME),
        # The generation it wrote: rows of it with another one have changed since.
        ("generation", pa.int64()),
        # True where the tables were taken as they are, with the operations and generations in them.
        ("whole", pa.bool_()),
        # What it wrote beside memories and their edges, so that an undo finds it.
        ("rows", pa.list_(pa.struct([("table", pa.string()), ("key", pa.string())]))),
    ]
)


def schemas(dimension: int) -> dict[str, pa.Schema]:
    """Every table of this version by name."""
    return {
        MEMORIES: memories(dimension),
        EDGES: EDGE_SCHEMA,
        CONFLICTS: CONFLICT_SCHEMA,
        ARCHIVE: CONFLICT_SCHEMA,
        REVISIONS: REVISION_SCHEMA,
        QUARANTINE: QUARANTINE_SCHEMA,
        TURNS: turns(dimension),
        LESSONS: LESSON_SCHEMA,
        IMPORTS: IMPORT_SCHEMA,
    }
