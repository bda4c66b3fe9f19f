"""One immutable state of all tables: the versions that one HEAD names."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memories.contract import MemsuiteError, RelationType
from memories.repository import schema
from memories.repository.caches import Caches
from memories.repository.edges import Edge, edge_of
from memories.repository.engine import (
    ROWS_UNLIMITED,
    VersionGone,
    engine_errors,
    fetched,
    is_in,
    query_of,
    quoted,
    streamed,
)
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head
from memories.repository.lexical import bm25
from memories.repository.records import LIGHT, Row, StoredMemory, memory_of
from memories.repository.vectors import EXACT_BYTES, Vector, VectorRows

if TYPE_CHECKING:
    import lancedb
    from lancedb.table import Table

REPLACING = frozenset({RelationType.SUPERSEDES, RelationType.INVALIDATES})
"""Relations whose source takes the place of their target."""

IDS_PER_QUERY = 500
"""Ids in one filter: longer lists make the engine's planner slower than a second query."""


@dataclass(frozen=True, slots=True)
class State:
    """Which content a snapshot shows: equal states show the same."""

    lineage: str
    generation: int

    def reaches(self, later: State) -> bool:
        """Whether a cache of this state can be brought up to ``later`` by its changes."""
        return self.lineage == later.lineage and self.generation <= later.generation


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of the memories written (added or changed) and of those removed."""

    written: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Narrows a search before ranking. Several conditions must all hold."""

    category: str | None = None
    tier: int | None = None
    tag: str | None = None

    def as_predicate(self) -> str:
        """The engine's filter; "" when nothing is asked for."""
        parts = []
        if self.category is not None:
            parts.append(f"category = {quoted(self.category)}")
        if self.tier is not None:
            parts.append(f"tier = {int(self.tier)}")
        if self.tag is not None:
            parts.append(f"array_has(tags, {quoted(self.tag)})")
        return " AND ".join(parts)


class Snapshot:
    """Reads of one HEAD. Thread safe; handles are opened on first use and never move."""

    def __init__(
        self,
        connection: lancedb.DBConnection | None,
        files: DatabaseFiles,
        head: Head,
        caches: Caches | None = None,
    ) -> None:
        self._connection = connection
        self._files = files
        self.head = head
        self._caches = caches or Caches()
        self._tables: dict[str, Table] = {}
        self._subjects: dict[str, list[StoredMemory]] = {}
        self._changes: dict[int, Changes] = {}
        self._lock = threading.Lock()
        self.text_index_failed = False
        """Set by a search that had to do without the text index; the next write makes it anew."""

    @property
    def generation(self) -> int:
        """Counts changes of content; 0 where nothing was ever stored."""
        return self.head.generation

    @property
    def embedding_id(self) -> str:
        return self.head.embedding

    @property
    def state(self) -> State:
        """What a cache made from this state is good for."""
        return State(self.head.lineage, self.head.generation)

    def changes_since(self, generation: int) -> Changes:
        """What happened to memories after a generation of this lineage. Kept, since every cache asks."""
        if generation not in self._changes:
            own = self._caches.recent.between(generation, self.state)
            self._changes[generation] = self._read_changes(generation) if own is None else _together(own)
        return self._changes[generation]

    def _read_changes(self, generation: int) -> Changes:
        later = f"generation > {int(generation)}"
        removed = self.rows(schema.REVISIONS, f"removed AND {later}", ["memory_id"])
        written = self.rows(schema.MEMORIES, later, ["id"])
        return Changes(
            written=tuple(row["id"] for row in written),
            removed=tuple({row["memory_id"] for row in removed} - {row["id"] for row in written}),
        )

    @cached_property
    def count(self) -> int:
        """How many memories there are."""
        table = self._table(schema.MEMORIES)
        if table is None:
            return 0
        with engine_errors(self._files.table(schema.MEMORIES), reading=True):
            return int(table.count_rows())

    def rows(
        self, name: str, where: str = "", columns: Sequence[str] | None = None, limit: int = ROWS_UNLIMITED
    ) -> list[Row]:
        """Rows of a table as dictionaries; ``where`` is an engine filter built with ``quoted``."""
        found = self.arrow(name, where, columns, limit)
        return [] if found is None else found.to_pylist()

    def arrow(
        self, name: str, where: str = "", columns: Sequence[str] | None = None, limit: int = ROWS_UNLIMITED
    ) -> pa.Table | None:
        """The same as an Arrow table; None where the table does not exist yet."""
        table = self._table(name)
        if table is None:
            return None
        with engine_errors(self._files.table(name), reading=True):
            query = query_of(table).limit(limit)
            if where:
                query = query.where(where)
            if columns is not None:
                query = query.select(list(columns))
            return fetched(query)

    def row_count(self, name: str, where: str = "") -> int:
        table = self._table(name)
        if table is None:
            return 0
        with engine_errors(self._files.table(name), reading=True):
            return int(table.count_rows(where or None))

    def rows_at(self, name: str, addresses: Sequence[int], columns: Sequence[str] | None = None) -> pa.Table:
        """Rows by their addresses (``manifest.Fragment``) with ``_rowid``; deleted ones are left out.
        Looks into the data files alone, never into an index."""
        table = self._table(name)
        if table is None:
            raise VersionGone(name)
        with engine_errors(self._files.table(name), reading=True):
            query = table.take_row_ids(list(addresses))
            if columns is not None:
                query = query.select(list(columns))
            return query.with_row_id().to_arrow()

    def addresses(self, name: str) -> npt.NDArray[np.uint64]:
        """The addresses of all rows of a table: of a row they stay the same until it is written anew."""
        found = self.arrow_with_addresses(name, columns=())
        return np.zeros(0, np.uint64) if found is None else found["_rowid"].to_numpy()

    def arrow_with_addresses(self, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """All rows of a table with their addresses as ``_rowid``; None where it does not exist yet."""
        table = self._table(name)
        if table is None:
            return None
        with engine_errors(self._files.table(name), reading=True):
            query = query_of(table).with_row_id()
            return fetched(query if columns is None else query.select(list(columns)))

    def index_rows(self, name: str, index: str) -> tuple[int, int] | None:
        """How many rows an index covers and how many not yet; None where there is no such index."""
        table = self._table(name)
        if table is None:
            return None
        with engine_errors(self._files.table(name), reading=True):
            stats = table.index_stats(index)
        return None if stats is None else (int(stats.num_indexed_rows), int(stats.num_unindexed_rows))

    # -- memories ---------------------------------------------------------------------

    def memories(self, ids: Iterable[str]) -> dict[str, StoredMemory]:
        """Stored memories by id; ids that are not stored are left out."""
        return {
            row["id"]: memory_of(row)
            for batch in batches(ids)
            for row in self.rows(schema.MEMORIES, is_in("id", batch), LIGHT)
        }

    def texts(self, ids: Iterable[str] | None = None) -> Iterator[pa.RecordBatch]:
        """``id``, ``subject`` and ``search_text`` of some memories, or of all, in parts."""
        return self._parts(ids, ["id", "subject", schema.TEXT])

    def _parts(self, ids: Iterable[str] | None, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Columns of some memories, or of all, as the engine reads them."""
        table = self._table(schema.MEMORIES)
        if table is None:
            return
        for where in [""] if ids is None else [is_in("id", batch) for batch in batches(ids)]:
            with engine_errors(self._files.table(schema.MEMORIES), reading=True):
                yield from streamed(_filtered(query_of(table).select(list(columns)), where))

    def memories_where(self, where: str, limit: int = ROWS_UNLIMITED) -> list[StoredMemory]:
        return [memory_of(row) for row in self.rows(schema.MEMORIES, where, LIGHT, limit)]

    def full_rows(self, ids: Iterable[str]) -> dict[str, Row]:
        """Whole rows by id; each vector as an array, shape (dimension,), float32."""
        found: dict[str, Row] = {}
        for batch in batches(ids):
            table = self.arrow(schema.MEMORIES, is_in("id", batch))
            if table is None:
                continue
            matrix = _matrix(table)
            for row, vector in zip(table.drop_columns([schema.VECTOR]).to_pylist(), matrix, strict=True):
                found[row["id"]] = row | {schema.VECTOR: vector}
        return found

    def same_subject(self, subject_keys: Iterable[str]) -> dict[str, list[StoredMemory]]:
        """The memories of each subject, oldest first. Kept, since a write asks three times: before
        the embedding, under the lock, and for the ledger."""
        wanted = list(dict.fromkeys(subject_keys))
        with self._lock:
            missing = [key for key in wanted if key not in self._subjects]
        found: dict[str, list[StoredMemory]] = {key: [] for key in missing}
        for batch in batches(missing):
            where = is_in("subject_key", batch)
            # Most single adds are of a new subject, and a row's columns take longer to plan than to count.
            if len(batch) > 1 or self.row_count(schema.MEMORIES, where):
                for memory in self.memories_where(where):
                    found[memory.subject_key].append(memory)
        for memories in found.values():
            memories.sort(key=lambda memory: (memory.generation, memory.id))
        with self._lock:
            self._subjects.update(found)
            return {key: list(memories) for key in wanted if (memories := self._subjects[key])}

    # -- edges and the ledger ---------------------------------------------------------

    def edges_of(self, ids: Collection[str]) -> list[Edge]:
        """Edges that leave or reach one of these memories, oldest first."""
        kept = self._caches.edges.of(self, ids) if ids else []
        if kept is not None:
            return kept
        found: dict[str, Edge] = {}
        for batch in batches(ids):
            where = f"{is_in('source_id', batch)} OR {is_in('target_id', batch)}"
            for row in self.rows(schema.EDGES, where):
                found[row["edge_key"]] = edge_of(row)
        return sorted(found.values(), key=lambda edge: (edge.created_at, edge.edge_key))

    def labelled_edges(self) -> list[Edge]:
        """Edges declared by label, resolved or not."""
        return [edge_of(row) for row in self.rows(schema.EDGES, "target_label != ''")]

    def superseded_by(self, ids: Collection[str]) -> dict[str, str]:
        """For each memory that another one supersedes or invalidates: the newest such one's id."""
        wanted = set(ids)
        return {
            edge.target_id: edge.source_id
            for edge in self.edges_of(wanted)
            if edge.target_id in wanted and edge.relation_type in REPLACING
        }

    def open_conflict_counts(self, ids: Collection[str]) -> dict[str, int]:
        """How many open conflicts each memory is part of; memories without one are left out."""
        return self._caches.conflicts.of(self, dict.fromkeys(ids))

    # -- search -----------------------------------------------------------------------

    def lexical(self, words: str, *, where: Filter | None = None, limit: int) -> list[tuple[str, float]]:
        """Ids and the engine's BM25, best first, of memories that hold any of the blank-joined
        ``words`` (already normalised as ``search_text`` is). The number orders this one answer
        and means nothing else: it depends on the table's size and the index's history.

        Where the index cannot be read, the rows are searched without it."""
        try:
            return self._lexical_by_index(words, where, limit)
        except (MemsuiteError, VersionGone):
            found = self._lexical_by_scan(words, where, limit)
            # Only now: had the rows been unreadable too, the index would not be to blame.
            self.text_index_failed = True
            return found

    def _lexical_by_index(self, words: str, where: Filter | None, limit: int) -> list[tuple[str, float]]:
        predicate = where.as_predicate() if where is not None else ""
        return self.lexical_in(schema.MEMORIES, words, predicate, limit)

    def lexical_in(self, name: str, words: str, where: str, limit: int) -> list[tuple[str, float]]:
        """``lexical`` in any table that has a text index, by that index alone; ``where`` is an engine
        filter."""
        table = self._table(name)
        if table is None or not words:
            return []
        from lancedb.query import MatchQuery

        match: Any = MatchQuery  # its defaults are not in its annotations
        with engine_errors(self._files.table(name), reading=True):
            query = query_of(table).nearest_to_text(match(words, schema.TEXT))
            found = fetched(_filtered(query.select(["id", "_score"]).limit(limit), where))
        pairs = zip(found["id"].to_pylist(), found["_score"].to_pylist(), strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def _lexical_by_scan(self, words: str, where: Filter | None, limit: int) -> list[tuple[str, float]]:
        table = self.arrow(schema.MEMORIES, columns=["id", schema.TEXT])
        if table is None:
            return []
        kept = self._ids_where(where)
        pairs = bm25(table["id"], table[schema.TEXT], words)
        return [pair for pair in pairs if kept is None or pair[0] in kept][:limit]

    def _ids_where(self, where: Filter | None) -> set[str] | None:
        """Ids a filter lets through; None where it lets all through."""
        predicate = where.as_predicate() if where is not None else ""
        if not predicate:
            return None
        return {row["id"] for row in self.rows(schema.MEMORIES, predicate, ["id"])}

    def nearest(self, vector: Vector, *, where: Filter | None = None, limit: int) -> list[tuple[str, float]]:
        """Ids and cosines to ``vector`` (unit, shape (dimension,)), best first, ties by id. Exact as
        long as the matrix fits into ``EXACT_BYTES``, by the engine beyond."""
        if not self._fits_in_memory:
            return self._nearest_by_engine(vector, where=where, limit=limit)
        return self._caches.vectors.at(self).nearest(vector, kept=self._ids_where(where), limit=limit)

    def vectors_of(self, ids: Iterable[str]) -> VectorRows:
        """The unit vectors of some memories; ids that are not stored are left out."""
        if not self._fits_in_memory:
            return self.read_vectors(ids)
        return self._caches.vectors.at(self).of(ids)

    def all_vectors(self) -> VectorRows:
        """The unit vectors of every memory; only to be read, since searches share them."""
        return self._caches.vectors.at(self) if self._fits_in_memory else self.read_vectors()

    @cached_property
    def _fits_in_memory(self) -> bool:
        return self.count * self.dimension_of(schema.MEMORIES) * 4 <= EXACT_BYTES

    def dimension_of(self, name: str) -> int:
        """Length of the vectors of a table; 0 where it does not exist yet."""
        table = self._table(name)
        return 0 if table is None else int(table.schema.field(schema.VECTOR).type.list_size)

    def _nearest_by_engine(
        self, vector: Vector, *, where: Filter | None = None, limit: int
    ) -> list[tuple[str, float]]:
        predicate = where.as_predicate() if where is not None else ""
        return self.nearest_in(schema.MEMORIES, schema.VECTOR, vector, predicate, limit)

    def nearest_in(
        self, name: str, column: str, vector: Vector, where: str, limit: int
    ) -> list[tuple[str, float]]:
        """Ids and cosines, best first, by the engine: its index where there is one, else a scan."""
        table = self._table(name)
        if table is None:
            return []
        with engine_errors(self._files.table(name), reading=True):
            query = query_of(table).nearest_to(vector).column(column).distance_type("cosine")
            query = query.refine_factor(10).select(["id", "_distance"]).limit(limit)
            found = fetched(_filtered(query, where))
        cosines = (1.0 - distance for distance in found["_distance"].to_pylist())
        pairs = zip(found["id"].to_pylist(), cosines, strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def read_vectors(self, ids: Iterable[str] | None = None) -> VectorRows:
        """Vectors straight from the table; all of them without ``ids``."""
        wanted = None if ids is None else list(dict.fromkeys(ids))
        names: list[str] = []
        matrix: Vector = np.zeros((0, 0), dtype=np.float32)
        for part in self._parts(wanted, ["id", schema.VECTOR]):
            rows = _matrix(part)
            if not names:
                # Filled part by part: at 100,000 memories the parts and the whole are 150 MB each.
                matrix = np.empty((self.count if wanted is None else len(wanted), rows.shape[1]), np.float32)
            matrix[len(names) : len(names) + len(rows)] = rows
            names.extend(part["id"].to_pylist())
        return VectorRows.read(names, matrix[: len(names)])

    def _table(self, name: str) -> Table | None:
        version = self.head.tables.get(name)
        if version is None or self._connection is None:
            return None
        with self._lock:
            if name not in self._tables:
                with engine_errors(self._files.table(name), reading=True):
                    table = self._connection.open_table(name)
                    table.checkout(version)
                self._tables[name] = table
            return self._tables[name]


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """Distinct values in lists short enough for one filter."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), IDS_PER_QUERY):
        yield distinct[start : start + IDS_PER_QUERY]


def _filtered(query: Any, predicate: str) -> Any:
    return query.where(predicate) if predicate else query


def _together(changes: Sequence[Changes]) -> Changes:
    """What several operations in a row come to: a memory counts by the last one that touched it."""
    written: dict[str, bool] = {}
    for one in changes:
        written |= dict.fromkeys(one.written, True) | dict.fromkeys(one.removed, False)
    return Changes(
        tuple(name for name, stored in written.items() if stored),
        tuple(name for name, stored in written.items() if not stored),
    )


def _matrix(rows: pa.Table | pa.RecordBatch) -> Vector:
    """The vectors of some rows, shape (rows, dimension)."""
    column = rows[schema.VECTOR]
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    flat: Vector = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), column.type.list_size)
