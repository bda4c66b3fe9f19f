"""Writing everything a database holds into one file, row by row: the same bytes for the same content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from memories.interchange.header import Header, TableHeader
from memories.interchange.rows import KEYS, TABLES, VECTORS, columns_of, line_of
from memories.repository import MemoryRepository, Snapshot
from memories.repository.engine import as_ours, is_in
from memories.repository.head import SCHEMA
from memories.repository.import_stage import USAGE
from memories.repository.records import Row

ROWS_AT_ONCE = 500

Progress = Callable[[int, int], None]
"""Told how many of how many rows are written."""


@dataclass(frozen=True, slots=True)
class ExportResult:
    path: Path
    rows: dict[str, int]
    size: int

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "exported",
            "path": str(self.path),
            "rows": self.rows,
            "bytes": self.size,
        }


def export_jsonl(
    repository: MemoryRepository,
    path: Path,
    *,
    vectors: bool = False,
    progress: Progress = lambda done, total: None,
) -> ExportResult:
    """Every table of one state as JSON lines behind a header. The file appears whole or not at all, and
    only its owner can read it.

    Raises ``disk_full``, ``store_read_only`` (of the place to write to) and what reading raises.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            rows = repository.read(lambda snapshot: _written(repository, snapshot, file, vectors, progress))
            file.flush()
            os.fsync(file.fileno())
            size = file.seek(0, os.SEEK_END)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise as_ours(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return ExportResult(path, rows, size)


def _written(
    repository: MemoryRepository, snapshot: Snapshot, file: BinaryIO, vectors: bool, progress: Progress
) -> dict[str, int]:
    file.seek(0)
    file.truncate()
    header = Header(snapshot.embedding_id, vectors, snapshot.generation, SCHEMA, {})
    file.write(header.as_line())
    total = sum(snapshot.row_count(name) for name in TABLES if name != USAGE)
    tables: dict[str, TableHeader] = {}
    done = 0
    for table in TABLES:
        digest, count = hashlib.sha256(), 0
        for row in rows_in_order(repository, snapshot, table, vectors=vectors):
            line = line_of(table, row)
            digest.update(line)
            file.write(line)
            count += 1
            done += 1
            if done % ROWS_AT_ONCE == 0:
                progress(done, max(total, done))
        tables[table] = TableHeader(count, digest.hexdigest())
    progress(done, done)
    file.seek(0)
    file.write(Header(header.embedding, vectors, header.generation, SCHEMA, tables).as_line())
    return {name: found.rows for name, found in tables.items()}


def rows_in_order(
    repository: MemoryRepository, snapshot: Snapshot, table: str, *, vectors: bool
) -> Iterator[Row]:
    """The rows of a table by their key, ``ROWS_AT_ONCE`` in memory; of the others only the keys are."""
    if table == USAGE:
        yield from repository.imports.usage_rows()
        return
    key = KEYS[table]
    columns = columns_of(table, vectors=vectors)
    keys = sorted(row[key] for row in snapshot.rows(table, columns=[key]))
    for start in range(0, len(keys), ROWS_AT_ONCE):
        wanted = keys[start : start + ROWS_AT_ONCE]
        found = {row[key]: row for row in _rows(snapshot, table, is_in(key, wanted), columns)}
        for name in wanted:
            yield {column: found[name][column] for column in columns}


def _rows(snapshot: Snapshot, table: str, where: str, columns: list[str]) -> Iterator[Row]:
    arrow = snapshot.arrow(table, where, columns)
    assert arrow is not None
    with_vectors = [name for name in VECTORS.get(table, ()) if name in columns]
    light = arrow.drop_columns(with_vectors).to_pylist() if with_vectors else arrow.to_pylist()
    for index, row in enumerate(light):
        for name in with_vectors:
            value = arrow[name][index].values
            row[name] = None if value is None else np.asarray(value, dtype=np.float32)
        yield row
