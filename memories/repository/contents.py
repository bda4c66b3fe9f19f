"""What a state holds, in few bytes: for each table how many rows, and one digest of all of them.

Two states with equal contents hold the same rows, whatever files those lie in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from memories.repository import schema
from memories.repository.records import hash_of
from memories.repository.snapshot import Snapshot

HASH = "content_hash"


@dataclass(frozen=True, slots=True)
class TableContents:
    """``digest`` is made of each row's key and hash, in the order of the keys."""

    rows: int
    digest: str

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "digest": self.digest}


Contents = dict[str, TableContents]


def contents_of(snapshot: Snapshot) -> Contents:
    """Reads every row; of a memory the hash that it was stored with."""
    return {name: _table(snapshot, name) for name in sorted(snapshot.head.tables)}


def plain(contents: Contents) -> dict[str, dict[str, Any]]:
    """As JSON keeps it."""
    return {name: table.as_dict() for name, table in contents.items()}


def _table(snapshot: Snapshot, name: str) -> TableContents:
    digest, rows = hashlib.sha256(), 0
    for key, row_hash in sorted(_row_hashes(snapshot, name)):
        digest.update(json.dumps([key, row_hash]).encode())
        rows += 1
    return TableContents(rows, digest.hexdigest())


def _row_hashes(snapshot: Snapshot, name: str) -> Iterator[tuple[str, str]]:
    key = schema.KEYS[name]
    if name == schema.MEMORIES:
        table = snapshot.arrow(name, columns=[key, HASH])
        if table is not None:
            yield from zip(table[key].to_pylist(), table[HASH].to_pylist(), strict=True)
        return
    table = snapshot.arrow(name)
    if table is None:
        return
    vectors = [field.name for field in table.schema if pa.types.is_fixed_size_list(field.type)]
    columns = [table[vector].to_numpy(zero_copy_only=False) for vector in vectors]
    for number, row in enumerate(table.drop_columns(vectors).to_pylist()):
        values = [value for column in columns for value in column[number]]
        yield row[key], hash_of(row, values)
