"""Where an import gathers its rows before they become the database: files that are whole or absent, so
that a run that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from memories.repository import schema
from memories.repository.engine import as_ours
from memories.repository.files import flush_directory, flush_file
from memories.repository.records import Row

USAGE = "usage"
"""Not a table of the engine, but staged and moved like one."""

USAGE_SCHEMA = pa.schema(
    [
        ("memory_id", pa.string()),
        ("day", pa.string()),
        ("recalls", pa.int64()),
        ("confirmations", pa.int64()),
        ("last_recalled_at", pa.string()),
    ]
)

ROWS_AT_ONCE = 512


@cache
def staged_schema(table: str, dimension: int) -> pa.Schema:
    """The columns of a staged table. A memory brings along the id it gets where its own is taken, and
    the row it comes from as JSON ("" where there is nothing to keep)."""
    if table == USAGE:
        return USAGE_SCHEMA
    found: pa.Schema = schema.schemas(dimension)[table]
    if table == schema.MEMORIES:
        found = found.append(pa.field("fallback_id", pa.string())).append(pa.field("original", pa.string()))
    return found


class ImportStage:
    """Rows by table in numbered steps. A step counts when its note is there, which is written last;
    notes carry how many items of the source the steps so far have used up, and what they counted."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._steps = self._complete()

    @property
    def taken(self) -> int:
        """Items of the source that need not be read again."""
        return int(self._steps[-1]["taken"]) if self._steps else 0

    @property
    def counts(self) -> Counter[str]:
        """What all steps have counted, added up."""
        total: Counter[str] = Counter()
        for step in self._steps:
            total.update(step["counts"])
        return total

    def add(self, tables: Mapping[str, Sequence[Row]], *, taken: int, counts: Mapping[str, int]) -> None:
        """Keep the rows of one step. Raises ``disk_full`` and the like; the steps before stay."""
        number = len(self._steps)
        note = {"taken": taken, "counts": dict(counts)}
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for table, rows in tables.items():
                if rows:
                    self._write(self._part(table, number), table, rows)
            self._note(number, note)
        except OSError as error:
            raise as_ours(error, self.folder) from error
        self._steps.append(note)

    def count(self, table: str) -> int:
        return sum(int(pq.read_metadata(part).num_rows) for part in self._parts(table))

    def batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table in the order they were added."""
        for part in self._parts(table):
            yield from pq.ParquetFile(part).iter_batches(ROWS_AT_ONCE, columns=columns)

    def rows(self, table: str, columns: Sequence[str] | None = None) -> Iterator[Row]:
        for batch in self.batches(table, columns):
            yield from batch.to_pylist()

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, path: Path, table: str, rows: Sequence[Row]) -> None:
        write_part(path, pa.Table.from_pylist(list(rows), schema=staged_schema(table, self.dimension)))

    def _note(self, number: int, note: Mapping[str, Any]) -> None:
        path = self.folder / f"step-{number:06}.json"
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(note), encoding="utf-8")
        flush_file(temporary)
        temporary.replace(path)
        flush_directory(self.folder)

    def _complete(self) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = []
        while True:
            try:
                text = (self.folder / f"step-{len(steps):06}.json").read_text(encoding="utf-8")
            except FileNotFoundError:
                return steps
            steps.append(json.loads(text))

    def _part(self, table: str, number: int) -> Path:
        return self.folder / f"{table}-{number:06}.parquet"

    def _parts(self, table: str) -> list[Path]:
        parts = (self._part(table, number) for number in range(len(self._steps)))
        return [part for part in parts if part.is_file()]


class ReadyRows:
    """Rows as they will be written, on disk until the moment they are."""

    def __init__(self, folder: Path, table: str, arrow_schema: pa.Schema) -> None:
        self._folder = folder
        self._table = table
        self._schema = arrow_schema
        self._count = 0
        self.rows = 0

    def add(self, found: pa.Table) -> None:
        if found.num_rows:
            path = self._folder / f"ready-{self._table}-{self._count:06}.parquet"
            write_part(path, found.select(self._schema.names).cast(self._schema))
            self._count += 1
            self.rows += found.num_rows

    def add_rows(self, rows: Iterable[Row]) -> None:
        self.add(pa.Table.from_pylist(list(rows), schema=self._schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        for number in range(self._count):
            path = self._folder / f"ready-{self._table}-{number:06}.parquet"
            for batch in pq.ParquetFile(path).iter_batches(ROWS_AT_ONCE):
                yield batch.cast(self._schema)


def write_part(path: Path, table: pa.Table) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    pq.write_table(table, temporary)
    flush_file(temporary)
    temporary.replace(path)
