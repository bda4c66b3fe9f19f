"""The tables as parquet, for other tools; the memories with a place on a plane, for viewers of vectors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from memories.interchange.exporting import ROWS_AT_ONCE, ExportResult, Progress, rows_in_order
from memories.interchange.rows import TABLES, VECTORS, exported_schema
from memories.repository import MemoryRepository, Snapshot, schema
from memories.repository.engine import as_ours
from memories.repository.records import Row
from memories.repository.vectors import Vector

Place = Callable[[Vector], tuple[float, float]]

_PLACE = [pa.field("x", pa.float64()), pa.field("y", pa.float64())]


def export_parquet(
    repository: MemoryRepository,
    path: Path,
    *,
    vectors: bool = False,
    progress: Progress = lambda done, total: None,
) -> ExportResult:
    """A directory with a file for each table, or the memories alone where ``path`` ends in ``.parquet``.

    Memories have ``x`` and ``y`` beside their columns: their first two principal components. Raises
    ``disk_full``, ``store_read_only`` (of the place to write to) and what reading raises.
    """
    alone = path.suffix == ".parquet"
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(mode=0o700, parents=True)
        rows = repository.read(
            lambda snapshot: {
                table: _write(repository, snapshot, table, temporary / f"{table}.parquet", vectors, progress)
                for table in ((schema.MEMORIES,) if alone else TABLES)
            }
        )
        size = sum(file.stat().st_size for file in temporary.iterdir())
        _put_in_place(temporary / f"{schema.MEMORIES}.parquet" if alone else temporary, path)
    except OSError as error:
        raise as_ours(error, path) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ExportResult(path, rows, size)


def _put_in_place(made: Path, path: Path) -> None:
    """The new files instead of those of an earlier export; of a directory, ours alone are replaced."""
    if made.is_file():
        made.replace(path)
        return
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in made.iterdir():
        file.replace(path / file.name)


def _write(
    repository: MemoryRepository,
    snapshot: Snapshot,
    table: str,
    path: Path,
    vectors: bool,
    progress: Progress,
) -> int:
    is_memories = table == schema.MEMORIES
    place = principal_plane(snapshot) if is_memories else None
    arrow = exported_schema(table, vectors=vectors)
    for field in _PLACE if is_memories else ():
        arrow = arrow.append(field)
    count = 0
    with pq.ParquetWriter(path, arrow) as writer:
        rows = rows_in_order(repository, snapshot, table, vectors=vectors or is_memories)
        for batch in _batches(rows):
            kept = [_placed(row, place, table, vectors) for row in batch]
            writer.write_table(pa.Table.from_pylist(kept, schema=arrow))
            count += len(batch)
            if is_memories:
                progress(count, snapshot.count)
    return count


def _placed(row: Row, place: Place | None, table: str, vectors: bool) -> Row:
    if place is not None:
        row["x"], row["y"] = place(row["vector"])
    if not vectors:
        for name in VECTORS.get(table, ()):
            row.pop(name, None)
    return row


def principal_plane(snapshot: Snapshot) -> Place:
    """Where a vector lies on the plane in which the memories differ most. The same for the same memories:
    each axis points to where its largest share is positive. Holds one square matrix of the dimension."""
    count = 0
    total: Any = 0.0
    products: Any = 0.0
    for matrix in _matrices(snapshot):
        count += len(matrix)
        total = total + matrix.sum(axis=0, dtype=np.float64)
        products = products + matrix.T.astype(np.float64) @ matrix
    if count < 2:
        return lambda vector: (0.0, 0.0)
    mean = total / count
    covariance = products / count - np.outer(mean, mean)
    _, directions = np.linalg.eigh(covariance)
    axes = directions[:, [-1, -2]]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    axes = axes * np.where(signs == 0, 1, signs)

    def place(vector: Vector) -> tuple[float, float]:
        x, y = (np.asarray(vector, dtype=np.float64) - mean) @ axes
        return float(x), float(y)

    return place


def _matrices(snapshot: Snapshot) -> Iterator[Vector]:
    keys = sorted(row["id"] for row in snapshot.rows(schema.MEMORIES, columns=["id"]))
    for start in range(0, len(keys), ROWS_AT_ONCE):
        yield snapshot.read_vectors(keys[start : start + ROWS_AT_ONCE]).matrix


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
