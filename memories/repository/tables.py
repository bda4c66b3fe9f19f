"""Writing to the tables: creating them, bringing them back to HEAD, one commit for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from memories.repository import schema
from memories.repository.engine import KEEP_EVERY_VERSION, connect, engine_errors, is_in
from memories.repository.files import DatabaseFiles, NewFiles
from memories.repository.records import Row

if TYPE_CHECKING:
    import lancedb
    from lancedb.table import Table

MOST_UNINDEXED = 2_000
"""Rows the text index may lag behind: they are found all the same, by a scan that 10,000 of them
make 250 ms slower at 100,000 rows."""

MOST_FRAGMENTS = 32
"""Each uncompacted fragment adds 0.07 to 0.4 ms to every later update and search, so the writer
that goes past this many compacts."""


@dataclass(slots=True)
class TableChange:
    """What one transaction does to one table. Rows are keyed by the table's key column."""

    added: dict[str, Row] = field(default_factory=dict)
    replaced: dict[str, Row] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.deleted)


class Tables:
    """The newest versions, for the one who holds the write lock."""

    def __init__(self, files: DatabaseFiles) -> None:
        self._files = files
        self._connection: lancedb.DBConnection | None = None
        self._open: dict[str, Table] = {}

    @property
    def connection(self) -> lancedb.DBConnection:
        if self._connection is None:
            with engine_errors(self._files.root):
                self._connection = connect(self._files.root)
        return self._connection

    def create(self, dimension: int) -> dict[str, int]:
        """Make the tables that are not there; returns every table's version."""
        self._drop_unfinished(dimension)
        for name, arrow_schema in schema.schemas(dimension).items():
            if name not in self._files.tables_present():
                with engine_errors(self._files.table(name)):
                    self.connection.create_table(name, schema=arrow_schema)
        self._index_text()
        return {name: self.version(name) for name in schema.TABLES}

    def _drop_unfinished(self, dimension: int) -> None:
        """An empty table for another model's vectors is what a killed first writer left."""
        if schema.MEMORIES not in self._files.tables_present() or self.rows(schema.MEMORIES):
            return
        if self.dimension() != dimension:
            with engine_errors(self._files.table(schema.MEMORIES)):
                self.connection.drop_table(schema.MEMORIES)
            self._open.pop(schema.MEMORIES)

    def _index_text(self, *, anew: bool = False) -> None:
        """The text index, over words we normalise ourselves: split at blanks, nothing else."""
        from lancedb.index import FTS

        table = self._table(schema.MEMORIES)
        if not anew and any(schema.TEXT in index.columns for index in table.list_indices()):
            return
        plain = FTS(
            base_tokenizer="whitespace",
            stem=False,
            remove_stop_words=False,
            lower_case=False,
            ascii_folding=False,
            with_position=False,
            max_token_length=None,
        )
        with engine_errors(self._files.table(schema.MEMORIES)):
            table.create_index(schema.TEXT, config=plain)

    def columns(self, name: str) -> frozenset[str]:
        with engine_errors(self._files.table(name)):
            return frozenset(self._table(name).schema.names)

    def rows(self, name: str) -> int:
        with engine_errors(self._files.table(name)):
            return int(self._table(name).count_rows())

    def version(self, name: str) -> int:
        with engine_errors(self._files.table(name)):
            return int(self._table(name).version)

    def realign(self, name: str, version: int) -> None:
        """Bring a table back to the version HEAD names, when a writer died beyond it."""
        if self.version(name) != version:
            with engine_errors(self._files.table(name)):
                self._table(name).restore(version)

    def commit(self, name: str, change: TableChange, arrow_schema: pa.Schema, *, fsync: bool) -> int:
        """Apply a change; returns the version that holds it. Two engine commits when rows go and
        others come, one otherwise: HEAD makes them one step."""
        new_files = NewFiles(self._files.table(name)) if fsync else None
        table = self._table(name)
        key = schema.KEYS[name]
        with engine_errors(self._files.table(name)):
            if change.deleted:
                table.delete(is_in(key, sorted(change.deleted)))
            if change.replaced:
                rows = [*change.replaced.values(), *change.added.values()]
                merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
                merge.execute(pa.Table.from_pylist(rows, schema=arrow_schema))
            elif change.added:
                table.add(pa.Table.from_pylist(list(change.added.values()), schema=arrow_schema))
            if new_files is not None:
                new_files.flush()
            return int(table.version)

    def overwrite(
        self, name: str, batches: Iterable[pa.RecordBatch], arrow_schema: pa.Schema, *, fsync: bool
    ) -> int:
        """Put other rows, of another schema too, into a table as its next version; earlier versions
        keep theirs. Returns the version."""
        new_files = NewFiles(self._files.table(name)) if fsync else None
        reader = pa.RecordBatchReader.from_batches(arrow_schema, batches)
        with engine_errors(self._files.table(name)):
            self._open[name] = self.connection.create_table(
                name, data=reader, schema=arrow_schema, mode="overwrite"
            )
            if name == schema.MEMORIES:
                self._index_text()
            if new_files is not None:
                new_files.flush()
        return self.version(name)

    def outgrown(self, name: str) -> bool:
        """Whether a table wants upkeep: many fragments, a text index that lags, or so many rows
        now that they want scalar indexes."""
        table = self._table(name)
        with engine_errors(self._files.table(name)):
            # A dictionary in truth, whatever its annotation says.
            stats: Any = table.stats()
            if stats["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS:
                return True
            if name == schema.MEMORIES:
                index = table.index_stats(f"{schema.TEXT}_idx")
                if index is not None and index.num_unindexed_rows > MOST_UNINDEXED:
                    return True
        return stats["num_rows"] >= schema.INDEXED_FROM and bool(self._missing_indexes(name))

    def compact(self, name: str, *, fsync: bool) -> int:
        """Merge fragments and fold new rows into the indexes; every version stays."""
        new_files = NewFiles(self._files.table(name)) if fsync else None
        table = self._table(name)
        with engine_errors(self._files.table(name)):
            if table.count_rows() >= schema.INDEXED_FROM:
                for column in self._missing_indexes(name):
                    table.create_index(column, config=_index(schema.INDEXES[name][column]))
            table.optimize(cleanup_older_than=KEEP_EVERY_VERSION)
            if new_files is not None:
                new_files.flush()
        return self.version(name)

    def rebuild_indexes(self, name: str, indexes: Iterable[str], *, fsync: bool) -> int:
        """Make indexes anew from the rows; one that is not of the kinds made here (the vector index
        is maintenance's) is dropped. Returns the version."""
        new_files = NewFiles(self._files.table(name)) if fsync else None
        table = self._table(name)
        with engine_errors(self._files.table(name)):
            for index in indexes:
                column = index.removesuffix("_idx")
                if name == schema.MEMORIES and column == schema.TEXT:
                    self._index_text(anew=True)
                elif column in schema.INDEXES[name]:
                    table.create_index(column, config=_index(schema.INDEXES[name][column]), replace=True)
                else:
                    table.drop_index(index)
            if new_files is not None:
                new_files.flush()
        return self.version(name)

    def _missing_indexes(self, name: str) -> list[str]:
        with engine_errors(self._files.table(name)):
            there = {column for index in self._table(name).list_indices() for column in index.columns}
        return [column for column in schema.INDEXES[name] if column not in there]

    def dimension(self) -> int:
        """Length of the stored vectors."""
        kind = self._table(schema.MEMORIES).schema.field(schema.VECTOR).type
        return int(kind.list_size)

    def _table(self, name: str) -> Table:
        if name not in self._open:
            with engine_errors(self._files.table(name)):
                self._open[name] = self.connection.open_table(name)
        return self._open[name]


def _index(kind: str) -> Any:
    from lancedb.index import Bitmap, BTree

    return {schema.RANGE: BTree, schema.SET: Bitmap}[kind]()
