"""The older suite's database directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding import Embedder
from memories.interchange.items import Item, MisfitItem, Note
from memories.interchange.old_facts import old_text
from memories.interchange.readers.base import ForeignReader
from memories.interchange.readers.older_rows import conflict_item, edge_of_row, memory_items
from memories.interchange.readers.values import plain
from memories.interchange.sources import require_plain_inside
from memories.repository.edges import Edge
from memories.repository.foreign import ForeignTables, foreign_tables
from memories.repository.records import embedding_text_of

LOCK_WAIT = 10.0
"""Seconds to wait for the older suite's own writers."""

MEMORIES, EDGES = "memories", "memory_edges"
LEDGERS = ("memory_conflicts", "memory_conflicts_archive")
NEEDED = frozenset({"id", "content", "category"})

PROBES = 8
"""Rows whose vector is compared with a fresh one: the directory does not say which model made them."""

SAME_FROM = 0.999
"""Cosine from which two vectors of one text are of one model and one way to use it. Two versions of one
model on other hardware differ in the sixth digit; with and without a task prefix, in the second."""


class SuiteReader(ForeignReader):
    """Memories with their edges, then the ledger. The write lock of the directory is held throughout."""

    def __init__(self, path: Path, embedder: Embedder | None = None) -> None:
        self._path = path
        self._embedder = embedder
        require_plain_inside(path)

    @property
    def total(self) -> int:  # type: ignore[override]
        tables = ForeignTables(self._path)
        return sum(tables.count(name) for name in (MEMORIES, *LEDGERS))

    def items(self) -> Iterator[Item]:
        with foreign_tables(self._path, wait=LOCK_WAIT) as tables:
            missing = NEEDED - tables.columns(MEMORIES).keys()
            if missing:
                raise MemsuiteError(
                    ErrorCode.INVALID_PARAMETER,
                    "source",
                    "This is no database of the older suite: its memories lack columns.",
                    received=str(self._path),
                    expected=sorted(NEEDED),
                )
            yield from self._items(tables)

    def _items(self, tables: ForeignTables) -> Iterator[Item]:
        ids = {str(row["id"]) for batch in tables.batches(MEMORIES, ["id"]) for row in batch.to_pylist()}
        declared: dict[str, list[Edge]] = {}
        for found in _edges(tables):
            if isinstance(found, Edge):
                declared.setdefault(found.source_id, []).append(found)
            else:
                yield found
        embedding_id = self._same_model(tables)
        yield Note("vectors taken over" if embedding_id else "vectors made anew by the configured model")
        number = 0
        for batch in tables.batches(MEMORIES):
            vectors = _vectors(batch) if embedding_id else [None] * batch.num_rows
            light = [name for name in batch.schema.names if name != "vector"]
            for row, vector in zip(batch.select(light).to_pylist(), vectors, strict=True):
                number += 1
                place = f"{MEMORIES} row {number}"
                yield from memory_items(row, place, ids, declared, vector, embedding_id)
        for source in sorted(declared.keys() - ids):
            for edge in declared[source]:
                yield MisfitItem(f"{EDGES} of {source}", "edge", source, _no_source(source), edge.as_row())
        for table in LEDGERS:
            rows = (row for batch in tables.batches(table) for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                yield conflict_item(row, f"{table} row {number}")

    def _same_model(self, tables: ForeignTables) -> str:
        """The configured model's identity where it is the one that made the vectors; "" where it is
        another, or nobody can tell."""
        kind = tables.columns(MEMORIES).get("vector")
        if self._embedder is None or kind is None or not pa.types.is_fixed_size_list(kind):
            return ""
        if kind.list_size != self._embedder.identity.dimension:
            return ""
        compared = 0
        for batch in tables.batches(MEMORIES, ["content", "vector"]):
            for row, vector in zip(batch.select(["content"]).to_pylist(), _vectors(batch), strict=True):
                text = _embedded_as(row["content"])
                if vector is None or not text:
                    continue
                fresh = self._embedder.embed_documents([text])[0]
                if float(np.dot(fresh, vector)) < SAME_FROM:
                    return ""
                compared += 1
                if compared == PROBES:
                    return str(self._embedder.identity)
        return str(self._embedder.identity) if compared else ""


def _edges(tables: ForeignTables) -> Iterator[Edge | Item]:
    rows = (row for batch in tables.batches(EDGES) for row in batch.to_pylist())
    for number, row in enumerate(rows, start=1):
        try:
            yield edge_of_row(row)
        except MemsuiteError as error:
            yield MisfitItem(f"{EDGES} row {number}", "edge", str(row.get("source_id")), error, plain(row))


def _embedded_as(content: str) -> str:
    """What this suite would embed for a row; "" for one it cannot read."""
    try:
        parsed = old_text(content)
    except (MemsuiteError, TypeError):
        return ""
    return embedding_text_of(parsed.domain, parsed.subject, parsed.facts)


def _vectors(batch: pa.RecordBatch) -> list[np.ndarray | None]:
    """The vectors that are whole, finite and of length one; None for the others."""
    column = batch.column(batch.schema.get_field_index("vector"))
    size = column.type.list_size
    found: list[np.ndarray | None] = []
    for value in column:
        vector: Sequence[float] | None = value.as_py()
        found.append(_usable(vector, size))
    return found


def _usable(vector: Sequence[float] | None, size: int) -> np.ndarray | None:
    if vector is None or len(vector) != size or None in vector:
        return None
    made = np.asarray(vector, dtype=np.float32)
    return made if abs(float(np.linalg.norm(made)) - 1.0) < 1e-3 else None


def _no_source(source: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.MEMORY_NOT_FOUND,
        "source_id",
        "The edge leaves a memory that the source does not hold.",
        received=source,
    )
