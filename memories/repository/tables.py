"""Writing to the tables: creating them, bringing them back to HEAD, one commit for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from memories.repository import schema
from memories.repository.engine import KEEP_EVERY_VERSION, ROWS_UNLIMITED, connect, engine_errors, is_in
from memories.repository.files import DatabaseFiles, NewFiles, flush_all
from memories.repository.records import Row

if TYPE_CHECKING:
    import lancedb
    from lancedb.table import Table

MOST_UNINDEXED = 1_000
"""Rows the text index may lag behind: they are found all the same, by a scan that 10,000 of them
make 250 ms slower at 100,000 rows."""

MOST_FRAGMENTS = 32
"""Each uncompacted fragment adds 0.07 to 0.4 ms to every later update and search, so the writer
that goes past this many compacts."""

FRAGMENT_TIERS = (64, 1_024, 16_384, 262_144, 2**31)
"""Rows below which a fragment counts as small; the next tier where the one before leaves too many. A
row is so written anew about twice in each tier it passes, whatever the size of the table."""

_FRAGMENT_BITS = 32
"""A row id holds the number of its fragment above these bits."""


@dataclass(slots=True)
class TableChange:
    """What one transaction does to one table. Rows are keyed by the table's key column."""

    added: dict[str, Row] = field(default_factory=dict)
    replaced: dict[str, Row] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    streamed: Callable[[], Iterable[pa.RecordBatch]] | None = None
    """Rows with new keys that are too many to hold, in the table's own schema."""
    emptied: bool = False
    """Every row that was there goes."""

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.deleted or self.streamed or self.emptied)


class Tables:
    """The newest versions, for the one who holds the write lock."""

    def __init__(self, files: DatabaseFiles) -> None:
        self._files = files
        self._connection: lancedb.DBConnection | None = None
        self._open: dict[str, Table] = {}
        self._seen: dict[str, NewFiles] = {}

    @property
    def connection(self) -> lancedb.DBConnection:
        if self._connection is None:
            with engine_errors(self._files.root):
                self._connection = connect(self._files.root)
        return self._connection

    def create(self, dimension: int) -> dict[str, int]:
        """Make the tables that are not there; returns every table's version."""
        self._drop_unfinished(dimension)
        schemas = schema.schemas(dimension)
        for name in schema.TABLES:
            if name not in self._files.tables_present():
                with engine_errors(self._files.table(name)):
                    self.connection.create_table(name, schema=schemas[name])
        self._index_text(schema.MEMORIES)
        return {name: self.version(name) for name in schema.TABLES}

    def create_on_demand(self, name: str, dimension: int, *, fsync: bool) -> None:
        """Make one of the tables that come with their first row. One that is there although HEAD does
        not name it is what a killed writer left: it is made anew."""
        self._open.pop(name, None)
        self._seen.pop(name, None)
        with engine_errors(self._files.table(name)):
            if name in self._files.tables_present():
                self.connection.drop_table(name)
            self.connection.create_table(name, schema=schema.schemas(dimension)[name])
        if name in schema.WITH_TEXT:
            self._index_text(name)
        if fsync:
            flush_all(path for path in self._files.table(name).rglob("*") if path.is_file())

    def _drop_unfinished(self, dimension: int) -> None:
        """An empty table for another model's vectors is what a killed first writer left."""
        if schema.MEMORIES not in self._files.tables_present() or self.rows(schema.MEMORIES):
            return
        if self.dimension() != dimension:
            with engine_errors(self._files.table(schema.MEMORIES)):
                self.connection.drop_table(schema.MEMORIES)
            self._open.pop(schema.MEMORIES)

    def _index_text(self, name: str, *, anew: bool = False) -> None:
        """The text index, over words we normalise ourselves: split at blanks, nothing else."""
        from lancedb.index import FTS

        table = self._table(name)
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
        with engine_errors(self._files.table(name)):
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
        new_files = self._new_files(name, fsync)
        table = self._table(name)
        key = schema.KEYS[name]
        with engine_errors(self._files.table(name)):
            if change.emptied:
                table.delete("true")
            if change.deleted:
                table.delete(is_in(key, sorted(change.deleted)))
            if change.streamed is not None:
                table.add(pa.RecordBatchReader.from_batches(arrow_schema, change.streamed()))
            if change.replaced:
                rows = [*change.replaced.values(), *change.added.values()]
                merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
                merge.execute(pa.Table.from_pylist(rows, schema=arrow_schema))
            elif change.added:
                table.add(pa.Table.from_pylist(list(change.added.values()), schema=arrow_schema))
            new_files.flush()
            return int(table.version)

    def overwrite(
        self, name: str, batches: Iterable[pa.RecordBatch], arrow_schema: pa.Schema, *, fsync: bool
    ) -> int:
        """Put other rows, of another schema too, into a table as its next version; earlier versions
        keep theirs. Returns the version."""
        new_files = self._new_files(name, fsync)
        reader = pa.RecordBatchReader.from_batches(arrow_schema, batches)
        with engine_errors(self._files.table(name)):
            self._open[name] = self.connection.create_table(
                name, data=reader, schema=arrow_schema, mode="overwrite"
            )
            if name in schema.WITH_TEXT:
                self._index_text(name)
            new_files.flush()
        return self.version(name)

    def upkeep(self, name: str, *, fsync: bool) -> int:
        """Do what a table has outgrown since the last time; returns its version, the same where
        there was nothing to do. Every version stays."""
        new_files = self._new_files(name, fsync)
        table = self._table(name)
        with engine_errors(self._files.table(name)):
            # A dictionary in truth, whatever its annotation says.
            stats: Any = table.stats()
            if self._index_lags(name):
                self._compact(name)
            elif stats["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS:
                self._merge_small_fragments(name)
            if stats["num_rows"] >= schema.INDEXED_FROM:
                for column in self._missing_indexes(name):
                    table.create_index(column, config=_index(schema.INDEXES[name][column]))
            new_files.flush()
        return self.version(name)

    def compact(self, name: str, *, fsync: bool) -> int:
        """Write a whole table anew as one fragment, with every row in its indexes."""
        new_files = self._new_files(name, fsync)
        with engine_errors(self._files.table(name)):
            self._compact(name)
            new_files.flush()
        return self.version(name)

    def _compact(self, name: str) -> None:
        self._table(name).optimize(cleanup_older_than=KEEP_EVERY_VERSION)

    def _index_lags(self, name: str) -> bool:
        if name not in schema.WITH_TEXT:
            return False
        index = self._table(name).index_stats(f"{schema.TEXT}_idx")
        return index is not None and index.num_unindexed_rows > MOST_UNINDEXED

    def _merge_small_fragments(self, name: str) -> None:
        """Write the rows of small fragments anew as one, which leaves those fragments empty.

        The engine's own compaction would write the whole table anew each time, since every
        fragment below a million rows is small to it: gigabytes of versions, and seconds with the
        lock held at 100,000 rows, for what costs as much as the change alone here.
        """
        table, key = self._table(name), schema.KEYS[name]
        query: Any = table.search().select([key]).with_row_id(True).limit(ROWS_UNLIMITED)
        keys = _keys_in_small_fragments(query.to_arrow(), key)
        rows = table.search().where(is_in(key, keys)).limit(ROWS_UNLIMITED).to_arrow()
        table.merge_insert(key).when_matched_update_all().execute(rows)

    def rebuild_indexes(self, name: str, indexes: Iterable[str], *, fsync: bool) -> int:
        """Make indexes anew from the rows; one that is not of the kinds made here (the vector index
        is maintenance's) is dropped. Returns the version."""
        new_files = self._new_files(name, fsync)
        table = self._table(name)
        with engine_errors(self._files.table(name)):
            for index in indexes:
                column = index.removesuffix("_idx")
                if name in schema.WITH_TEXT and column == schema.TEXT:
                    self._index_text(name, anew=True)
                elif column in schema.INDEXES[name]:
                    table.create_index(column, config=_index(schema.INDEXES[name][column]), replace=True)
                else:
                    table.drop_index(index)
            new_files.flush()
        return self.version(name)

    def _new_files(self, name: str, fsync: bool) -> NewFiles:
        """What to flush after a commit; told before it, so that the first one is not missed."""
        if not fsync:
            return _NoFiles(self._files.table(name))
        if name not in self._seen:
            self._seen[name] = NewFiles(self._files.table(name))
        return self._seen[name]

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


class _NoFiles(NewFiles):
    """Where nobody asked for flushing."""

    def __init__(self, table: Path) -> None:
        self._table = table

    def flush(self) -> int:
        return 0


def _keys_in_small_fragments(rows: pa.Table, key: str) -> list[str]:
    """The keys of the rows to write anew. Tiers keep the work in proportion: many one-row fragments
    become one of some hundred rows, and only when those are many they become one in turn."""
    fragments = rows["_rowid"].to_numpy() >> _FRAGMENT_BITS
    numbers, counts = np.unique(fragments, return_counts=True)
    for tier in FRAGMENT_TIERS:
        small = numbers[counts < tier]
        if len(numbers) - len(small) < MOST_FRAGMENTS // 2:
            break
    return [str(name) for name in rows[key].filter(pa.array(np.isin(fragments, small))).to_pylist()]


def _index(kind: str) -> Any:
    from lancedb.index import Bitmap, BTree

    return {schema.RANGE: BTree, schema.SET: Bitmap}[kind]()
