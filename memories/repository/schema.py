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

TABLES = (MEMORIES, EDGES, CONFLICTS, ARCHIVE, REVISIONS, QUARANTINE)
"""In the order in which a transaction commits them."""

KEYS = {
    MEMORIES: "id",
    EDGES: "edge_key",
    CONFLICTS: "conflict_key",
    ARCHIVE: "conflict_key",
    REVISIONS: "revision_key",
    QUARANTINE: "id",
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


def schemas(dimension: int) -> dict[str, pa.Schema]:
    """Every table of this version by name."""
    return {
        MEMORIES: memories(dimension),
        EDGES: EDGE_SCHEMA,
        CONFLICTS: CONFLICT_SCHEMA,
        ARCHIVE: CONFLICT_SCHEMA,
        REVISIONS: REVISION_SCHEMA,
        QUARANTINE: QUARANTINE_SCHEMA,
    }
