"""Rows of our tables as lines of an export, and back. What follows from other columns is left out and
made anew on the way in; what cannot be made anew is written as it stands, so that a row comes back the
same."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.readers.values import iso_time
from memories.interchange.safe_json import require_object
from memories.repository import schema
from memories.repository.import_stage import USAGE, USAGE_SCHEMA
from memories.repository.records import Row

TABLES = (
    schema.MEMORIES,
    schema.EDGES,
    schema.CONFLICTS,
    schema.ARCHIVE,
    schema.REVISIONS,
    schema.TURNS,
    schema.LESSONS,
    schema.QUARANTINE,
    USAGE,
)
"""In the order of an export."""

KEYS = {**schema.KEYS, USAGE: "memory_id"}

DERIVED = {
    schema.MEMORIES: frozenset(
        {"search_text", "entities", "claims", "subject_key", "content_hash", "embedding_id"}
    ),
    schema.TURNS: frozenset({"search_text", "embedding_id"}),
}
"""Columns that follow from the others, or from the header of the export."""

VECTORS = {
    schema.MEMORIES: ("vector",),
    schema.TURNS: ("vector", "context_vector"),
    schema.REVISIONS: ("before_vector",),
}

TEXT_MAX = 4 * 2**20
"""Characters of one value; the history of a memory with a thousand edges is 300,000."""


@cache
def exported_schema(table: str, *, vectors: bool) -> pa.Schema:
    """The columns of a table in an export. Vectors have no fixed length here."""
    found: pa.Schema = USAGE_SCHEMA if table == USAGE else schema.schemas(1)[table]
    left_out = DERIVED.get(table, frozenset()) | (
        frozenset() if vectors else frozenset(VECTORS.get(table, ()))
    )
    return pa.schema([_of_any_length(field) for field in found if field.name not in left_out])


def _of_any_length(field: pa.Field) -> pa.Field:
    is_vector = pa.types.is_fixed_size_list(field.type)
    return pa.field(field.name, pa.list_(pa.float32()), field.nullable) if is_vector else field


def columns_of(table: str, *, vectors: bool) -> list[str]:
    return list(exported_schema(table, vectors=vectors).names)


def line_of(table: str, row: Mapping[str, Any]) -> bytes:
    """One line of the export, with its end."""
    values = {name: _out(value) for name, value in row.items()}
    text = json.dumps(
        {"table": table, "row": values}, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text.encode("utf-8") + b"\n"


def row_of(table: str, value: Any, place: str, *, vectors: bool) -> Row:
    """A row from the ``row`` of a line. Raises ``unknown_field``, ``required_field`` and what is wrong with
    a value: its type, its range, its length."""
    given = require_object(value, place)
    wanted = exported_schema(table, vectors=vectors)
    unknown = sorted(given.keys() - set(wanted.names))
    if unknown:
        raise MemsuiteError(
            ErrorCode.UNKNOWN_FIELD, unknown[0], "The export has no such column.", expected=wanted.names
        )
    return {field.name: _in(given, field) for field in wanted}


def _out(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.astype("<f4").tobytes()).decode("ascii")
    return value


def _in(given: Mapping[str, Any], field: pa.Field) -> Any:
    if field.name not in given:
        raise MemsuiteError(ErrorCode.REQUIRED_FIELD, field.name, "The row lacks a column.")
    value = given[field.name]
    if value is None:
        if not _may_be_null(field):
            raise _wrong(field, value)
        return None
    return _value(field, field.type, value)


def _may_be_null(field: pa.Field) -> bool:
    """Of our columns only times and vectors are ever empty."""
    kind = field.type
    return bool(
        pa.types.is_timestamp(kind) or (pa.types.is_list(kind) and pa.types.is_floating(kind.value_type))
    )


def _value(field: pa.Field, kind: pa.DataType, value: Any) -> Any:
    if pa.types.is_string(kind):
        return _text(field, value)
    if pa.types.is_boolean(kind) and isinstance(value, bool):
        return value
    if pa.types.is_integer(kind) and isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < 2 ** (kind.bit_width - 1):
            return value
        raise _wrong(field, value)
    if pa.types.is_floating(kind) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if pa.types.is_timestamp(kind):
        return iso_time(value, field.name)
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type) and isinstance(value, list):
        return [_text(field, entry) for entry in value]
    if pa.types.is_list(kind):
        return _vector(field, value)
    raise _wrong(field, value)


def _text(field: pa.Field, value: Any) -> str:
    if not isinstance(value, str) or len(value) > TEXT_MAX or not _encodes(value):
        raise _wrong(field, value)
    return value


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _vector(field: pa.Field, value: Any) -> np.ndarray:
    try:
        found = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
    except (binascii.Error, ValueError, TypeError) as error:
        raise _wrong(field, value) from error
    if not len(found) or not np.isfinite(found).all():
        raise _wrong(field, value)
    return found


def _wrong(field: pa.Field, value: Any) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_TYPE,
        field.name,
        "The column cannot hold this.",
        received=value,
        expected=str(field.type),
    )
