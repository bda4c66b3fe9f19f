"""Writing to the tables: creating them, bringing them back to HEAD, one commit for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pyarrow as pa

from memories.repository import schema
from memories.repository.engine import (
    KEEP_EVERY_VERSION,
    connect,
    engine_errors,
    fetched,
    is_in,
    query_of,
)
from memories.repository.files import DatabaseFiles, NewFiles, flush_all
from memories.repository.manifest import Manifest
from memories.repository.records import Row

if TYPE_CHECKING:
    import lancedb
    from lancedb.table import Table

MOST_UNINDEXED = 1_000
"""Rows the text index may lag behind, or half of all: they are found all the same, by a scan that takes
about 4 ms for as many."""

MOST_UNINDEXED_SHARE = 0.1
"""Share of the rows that a scalar index may lag behind: looking through them costs less."""

MANY_CHANGED = 64
"""Rows of one change from which the indexes are looked at, and replaced rows are deleted and added."""

MOST_FRAGMENTS = 32
"""Each uncompacted fragment adds 0.07 to 0.4 ms to every later update and search, so the writer
that goes past this many compacts."""

FRAGMENT_TIERS = (16, 256, 4_096, 65_536, 1_048_576, 2**31)
"""Rows below which a fragment counts as small; the next tier where the one before leaves too many. A
row is so written anew once or twice in each tier it passes, whatever the size of the table. With steps of
16, which is half of MOST_FRAGMENTS, what one merge makes is too large for the next."""

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

    @property
    def is_large(self) -> bool:
        """Whether it may have left more rows out of the indexes than a few."""
        rows = len(self.added) + len(self.replaced) + len(self.deleted)
        return rows >= MANY_CHANGED or self.streamed is not None or self.emptied


@dataclass(frozen=True, slots=True)
class Optimized:
    """What the engine says of one optimization."""

    version: int
    fragments_removed: int
    fragments_added: int
    versions_removed: int
    bytes_removed: int


class Tables:
    """The newest versions, for the one who holds the write lock."""

    def __init__(self, files: DatabaseFiles) -> None:
        self._files = files
        self._connection: lancedb.DBConnection | None = None
        self._open: dict[str, Table] = {}
        self._seen: dict[str, NewFiles] = {}
        self._lineage = ""

    def follow(self, lineage: str) -> None:
        """Begin anew where another history has taken the place of the known one, as a restore does: the
        engine knows versions by their number, and that may now stand for other content."""
        if self._lineage and self._lineage != lineage:
            self._connection = None
            self._open, self._seen = {}, {}
        self._lineage = lineage

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
        others come, or many are replaced, one otherwise: HEAD makes them one step."""
        new_files = self._new_files(name, fsync)
        table = self._table(name)
        key = schema.KEYS[name]
        with engine_errors(self._files.table(name)):
            if change.emptied:
                table.delete("true")
            merged = change.replaced if len(change.replaced) < MANY_CHANGED and not change.deleted else {}
            if gone := change.deleted | (change.replaced.keys() - merged.keys()):
                # Merging many rows takes twice the time and five times the memory of this.
                table.delete(is_in(key, sorted(gone)))
            if change.streamed is not None:
                table.add(pa.RecordBatchReader.from_batches(arrow_schema, change.streamed()))
            if change.replaced or change.added:
                rows = [*change.replaced.values(), *change.added.values()]
                new = pa.Table.from_pylist(rows, schema=arrow_schema)
                if merged:
                    merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
                    merge.execute(new)
                else:
                    table.add(new)
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

    def upkeep(self, name: str, version: int, change: TableChange, *, fsync: bool) -> int:
        """Do what a table has outgrown since the last time; returns its version, the same where
        there was nothing to do. Every version stays. ``version`` is the newest, which ``change`` led
        to."""
        fragments = len(Manifest(self._files.table(name), version).fragments)
        if fragments <= MOST_FRAGMENTS and not change.is_large:
            # Told by the manifest alone, since every small write asks. Each of them makes a fragment, so
            # an index that lags behind is found soon enough.
            return version
        new_files = self._new_files(name, fsync)
        with engine_errors(self._files.table(name)):
            if fragments > MOST_FRAGMENTS:
                self._merge_small_fragments(name)
            self._index_what_lags(name)
            new_files.flush()
        return self.version(name)

    def compact(self, name: str, *, fsync: bool) -> int:
        """Write a whole table anew as one fragment, with every row in its indexes."""
        new_files = self._new_files(name, fsync)
        with engine_errors(self._files.table(name)):
            self._compact(name)
            new_files.flush()
        return self.version(name)

    def optimize(self, name: str, *, older_than: timedelta, unreferenced: bool, fsync: bool) -> Optimized:
        """Compact, bring the indexes up to date, and remove the versions made longer than ``older_than``
        ago, never the newest; with ``unreferenced`` also files that dead writers have left. A table in
        one piece gets no new version."""
        from lancedb import background_loop

        loop: Any = background_loop.LOOP
        new_files = self._new_files(name, fsync)
        table: Any = self._table(name)
        optimizing = table._table.optimize(cleanup_older_than=older_than, delete_unverified=unreferenced)
        with engine_errors(self._files.table(name)), catch_warnings():
            # The engine warns of what the caller has made sure of: nobody else is at work on the table.
            simplefilter("ignore", UserWarning)
            done = loop.run(optimizing)
            new_files.flush()
        return Optimized(
            version=self.version(name),
            fragments_removed=int(done.compaction.fragments_removed),
            fragments_added=int(done.compaction.fragments_added),
            versions_removed=int(done.prune.old_versions_removed),
            bytes_removed=int(done.prune.bytes_removed),
        )

    def versions(self, name: str) -> dict[int, datetime]:
        """When each version that is kept was made."""
        with engine_errors(self._files.table(name)):
            listed = self._table(name).list_versions()
        # The engine tells local time without saying so.
        return {int(entry["version"]): entry["timestamp"].astimezone(UTC) for entry in listed}

    def index_vectors(self, name: str, column: str, *, fsync: bool) -> int:
        """Make the vector index of a column anew; returns the version."""
        from lancedb.index import IvfRq

        new_files = self._new_files(name, fsync)
        with engine_errors(self._files.table(name)):
            self._table(name).create_index(column, config=IvfRq(distance_type="cosine"), replace=True)
            new_files.flush()
        return self.version(name)

    def _compact(self, name: str) -> None:
        self._table(name).optimize(cleanup_older_than=KEEP_EVERY_VERSION)

    def _index_what_lags(self, name: str) -> None:
        """Make indexes anew that leave out too many rows, or are not there yet. Not by the engine's
        ``optimize``: that writes all rows anew as well, 316 MB at 100,000 memories where the text index
        alone is 33."""
        table = self._table(name)
        rows = int(table.count_rows())
        if name in schema.WITH_TEXT and self._lag(name, schema.TEXT) > min(MOST_UNINDEXED, rows // 2):
            self._index_text(name, anew=True)
        if rows < schema.INDEXED_FROM:
            return
        missing = self._missing_indexes(name)
        for column, kind in schema.INDEXES[name].items():
            if column in missing or self._lag(name, column) > rows * MOST_UNINDEXED_SHARE:
                table.create_index(column, config=_index(kind), replace=True)

    def _lag(self, name: str, column: str) -> int:
        """Rows that the index of a column does not cover."""
        index = self._table(name).index_stats(f"{column}_idx")
        return 0 if index is None else int(index.num_unindexed_rows)

    def _merge_small_fragments(self, name: str) -> None:
        """Write the rows of small fragments anew as one, which leaves those fragments empty.

        The engine's own compaction would write the whole table anew each time, since every
        fragment below a million rows is small to it: gigabytes of versions, and seconds with the
        lock held at 100,000 rows, for what costs as much as the change alone here.
        """
        table, key = self._table(name), schema.KEYS[name]
        keys = _keys_in_small_fragments(fetched(query_of(table).select([key]).with_row_id()), key)
        rows = fetched(query_of(table).where(is_in(key, keys)))
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
