"""Reading every row and comparing it with what was written: the engine notices no flipped byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memories.contract import MemsuiteError
from memories.repository import migration, schema
from memories.repository.copies import state_named
from memories.repository.edges import edge_of, make_edge
from memories.repository.engine import VersionGone, connect, first_line
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head, read_line
from memories.repository.ledger import conflict_key
from memories.repository.locks import ReadersLock
from memories.repository.manifest import Fragment, Manifest, ManifestError, damaged_files
from memories.repository.mending import torn_beyond
from memories.repository.records import Row, from_json, hash_of
from memories.repository.revisions import MEMORY_TIMES
from memories.repository.snapshot import Snapshot
from memories.repository.turn_records import turn_text

Progress = Callable[[int, int], None]
"""Told how many of how many rows have been read."""

BATCH = 500
"""Rows read at a time: at most a few megabytes, however large the table is."""

SEARCHES = 400
"""Reads spent on finding which rows of one file cannot be read; what is left is named together."""

UNIT = 1e-3
"""How far from 1 the length of a stored vector may be."""

_UNHASHED = frozenset({"_rowid", schema.VECTOR, "content_hash"})
"""What a memory's row has besides the values its hash was made from."""

_VECTORS = frozenset(name for names in schema.VECTORS.values() for name in names)


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that is not what was written. ``key`` is its key (a memory's id), "" where that cannot
    be read either; ``file`` is the data file it lies in."""

    table: str
    key: str
    file: Path
    what: str

    def as_dict(self) -> dict[str, str]:
        return {"table": self.table, "key": self.key, "file": str(self.file), "what": self.what}


@dataclass
class Integrity:
    """What reading everything has found. ``files`` are those damaged as a whole."""

    read: dict[str, int] = field(default_factory=dict)
    rows: list[DamagedRow] = field(default_factory=list)
    files: list[tuple[Path, str]] = field(default_factory=list)
    repeated_keys: dict[str, list[str]] = field(default_factory=dict)
    lost_edges: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not (self.rows or self.files or self.repeated_keys or self.lost_edges)

    @property
    def memories(self) -> list[str]:
        """Ids of the damaged memories, as far as they can be read."""
        return sorted({row.key for row in self.rows if row.table == schema.MEMORIES and row.key})

    def as_dict(self) -> dict[str, object]:
        return {
            "sound": self.sound,
            "rows_read": dict(self.read),
            "damaged_memories": self.memories,
            "damaged_rows": [row.as_dict() for row in self.rows],
            "damaged_files": [{"path": str(path), "what": what} for path, what in self.files],
            "repeated_keys": self.repeated_keys,
            "edges_that_point_nowhere": self.lost_edges,
        }


def verify(path: Path, progress: Progress, *, shared: bool = True) -> Integrity:
    """Read every row of every table of the state HEAD names, in batches. ``shared`` holds the readers'
    lock meanwhile; without it nobody else may be at work there.

    Writes nothing. Raises ``store_unavailable`` only where there is no HEAD to go by.
    """
    files = DatabaseFiles(path)
    line = read_line(files.head)
    if line is None:
        return Integrity()
    with ReadersLock(files.readers_lock).shared() if shared else nullcontext():
        return _Reading(files, state_named(files, line), progress).run()


class _Reading:
    """One pass over one state."""

    def __init__(self, files: DatabaseFiles, head: Head, progress: Progress) -> None:
        self._files = files
        self._head = head
        self._snapshot = Snapshot(connect(files.root), files, head)
        self._progress = progress
        self._found = Integrity()
        self._manifests = dict(self._readable())
        self._total = sum(part.rows for made in self._manifests.values() for part in made.fragments)
        self._done = 0
        # Of all memories; None where some could not be read, since edges would then look lost.
        self._ids: set[str] | None = None

    def run(self) -> Integrity:
        torn = torn_beyond(self._files, self._head)
        tables = {self._files.table(name): at for name, at in self._head.tables.items()}
        self._found.files = [(path, "cut short, past HEAD") for path in torn] + damaged_files(tables)
        for name in self._manifests:
            self._table(name)
        return self._found

    def _readable(self) -> Iterator[tuple[str, Manifest]]:
        """The manifests that can be read, memories first: edges are held against their ids."""
        for name in sorted(self._head.tables, key=lambda name: (name != schema.MEMORIES, name)):
            try:
                manifest = Manifest(self._files.table(name), self._head.tables[name])
                assert manifest.fragments is not None
            except ManifestError:
                continue
            yield name, manifest

    def _table(self, name: str) -> None:
        keys: set[str] = set()
        before = len(self._found.rows)
        self._columns(name)
        for fragment in self._manifests[name].fragments:
            self._fragment(name, fragment, keys)
        self._found.read[name] = len(keys)
        if name == schema.MEMORIES and len(self._found.rows) == before:
            self._ids = keys

    def _columns(self, name: str) -> None:
        """Whether the manifest still describes the columns; an empty table shows it no other way."""
        path = self._manifests[name].path
        try:
            sample = self._snapshot.arrow(name, limit=1)
        except (MemsuiteError, VersionGone) as error:
            # Where there are rows, reading them says which file it is.
            if not self._manifests[name].fragments:
                self._found.files.append((path, _reason(error)))
            return
        # An older layout has other columns; its rows say whether they can be read.
        older = migration.is_older(self._head)
        expected = {schema.KEYS[name]} if older else set(schema.schemas(1)[name].names)
        if sample is None or not expected <= set(sample.schema.names):
            self._found.files.append((path, "does not describe the columns of its table"))

    def _fragment(self, name: str, fragment: Fragment, keys: set[str]) -> None:
        broken = any(part.damage for part in fragment.files)
        searches = [0 if broken else SEARCHES]
        before, read = len(self._found.rows), 0
        for start in range(0, fragment.rows, BATCH):
            addresses = fragment.addresses(start, start + BATCH)
            for row in self._rows(name, fragment, addresses, searches):
                self._judge(name, fragment, row, keys)
                read += 1
            self._done += len(addresses)
            self._progress(self._done, self._total)
        expected = fragment.rows - fragment.deleted
        if read != expected and len(self._found.rows) == before:
            what = f"{read} rows are there instead of {expected}"
            self._found.rows.append(DamagedRow(name, "", fragment.files[-1].path, what))

    def _judge(self, name: str, fragment: Fragment, row: Row, keys: set[str]) -> None:
        key = row[schema.KEYS[name]]
        if key in keys:
            self._found.repeated_keys.setdefault(name, []).append(key)
        keys.add(key)
        try:
            problems = list(_CHECKS[name](row)) if name in _CHECKS else []
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problems = [f"cannot be understood: {error}"]
        for what in problems:
            self._found.rows.append(DamagedRow(name, key, _data_file(fragment), what))
        if name == schema.EDGES and not problems and self._ids is not None:
            ends = {row["source_id"], row["target_id"] or ""}
            if not ends <= self._ids | {""}:
                self._found.lost_edges.append(key)

    def _rows(
        self, name: str, fragment: Fragment, addresses: Sequence[int], searches: list[int]
    ) -> Iterator[Row]:
        """The rows at some addresses. Those that cannot be read are noted, one by one as long as
        ``searches``, a count that goes down, allows."""
        try:
            found = _plain_rows(self._snapshot.rows_at(name, addresses))
        except (MemsuiteError, VersionGone, pa.ArrowException, UnicodeDecodeError) as error:
            searches[0] -= 1
            if len(addresses) > 1 and searches[0] > 0:
                middle = len(addresses) // 2
                yield from self._rows(name, fragment, addresses[:middle], searches)
                yield from self._rows(name, fragment, addresses[middle:], searches)
            else:
                self._note_unreadable(name, fragment, addresses, error)
            return
        yield from found

    def _note_unreadable(
        self, name: str, fragment: Fragment, addresses: Sequence[int], error: Exception
    ) -> None:
        """Name what cannot be read by its key, where at least that can be read."""
        file, key = _data_file(fragment), schema.KEYS[name]
        what = f"cannot be read: {_reason(error)}"
        try:
            found = self._snapshot.rows_at(name, addresses, [key])
            found.validate(full=True)
            keys = found[key].to_pylist()
        except (MemsuiteError, VersionGone, pa.ArrowException, UnicodeDecodeError):
            keys = [""]
            what = f"{len(addresses)} rows {what}" if len(addresses) > 1 else what
        self._found.rows.extend(DamagedRow(name, value or "", file, what) for value in keys)


def _plain_rows(table: pa.Table) -> list[Row]:
    """The rows as dictionaries, vectors as arrays. Damaged text raises here rather than later."""
    table.validate(full=True)
    vectors = [name for name in _VECTORS if name in table.column_names]
    rows: list[Row] = table.drop_columns(vectors).to_pylist()
    for name in vectors:
        column = table[name].combine_chunks()
        if column.null_count:
            raise pa.ArrowInvalid("a vector is missing")
        matrix = column.flatten().to_numpy(zero_copy_only=False).reshape(len(table), column.type.list_size)
        for row, vector in zip(rows, matrix, strict=True):
            row[name] = vector
    return rows


def _memory_problems(row: Row) -> Iterator[str]:
    if not _is_as_hashed(row):
        yield "its values are not those its hash was made from"
    yield from _vector_problems(row[schema.VECTOR], "its vector")


def _vector_problems(vector: Any, name: str) -> Iterator[str]:
    if not np.isfinite(vector).all():
        yield f"{name} is not finite"
    elif abs(float(np.linalg.norm(vector)) - 1.0) > UNIT:
        yield f"{name} is not of length one"


def _turn_problems(row: Row) -> Iterator[str]:
    """A turn says everything twice: in its text, and in the sides that is made of."""
    if turn_text(row["kind"], row["user_text"], row["assistant_text"]) != row["text"]:
        yield "its text is not made of its two sides"
    yield from _vector_problems(row[schema.VECTOR], "its vector")
    yield from _vector_problems(row["context_vector"], "its vector with the turn before")


def _edge_problems(row: Row) -> Iterator[str]:
    edge = edge_of(row)
    made = make_edge(edge.source_id, edge.relation_type, edge.target_id, edge.target_label, edge.created_at)
    if made.edge_key != edge.edge_key:
        yield "its values are not those its key was made from"


def _conflict_problems(row: Row) -> Iterator[str]:
    made = conflict_key(row["memory_a_id"], row["memory_b_id"], row["claim_key"])
    if made != row["conflict_key"]:
        yield "its values are not those its key was made from"


def _revision_problems(row: Row) -> Iterator[str]:
    """The state kept is itself a memory with its hash."""
    try:
        kept: Mapping[str, Any] = json.loads(row["before"])
    except ValueError as error:
        yield f"the state it keeps is no JSON: {error}"
        return
    if kept["row"] is None:
        return
    before = from_json(kept["row"], MEMORY_TIMES) | {schema.VECTOR: row["before_vector"] or []}
    if not _is_as_hashed(before):
        yield "the state it keeps is not the one its hash was made from"


def _is_as_hashed(row: Row) -> bool:
    """Whether a memory of this or of an older layout holds the values its hash was made from."""
    values = {name: value for name, value in row.items() if name not in _UNHASHED}
    return bool(hash_of(values, row[schema.VECTOR]) == row["content_hash"])


_CHECKS: Mapping[str, Callable[[Row], Iterable[str]]] = {
    schema.MEMORIES: _memory_problems,
    schema.EDGES: _edge_problems,
    schema.CONFLICTS: _conflict_problems,
    schema.ARCHIVE: _conflict_problems,
    schema.REVISIONS: _revision_problems,
    schema.TURNS: _turn_problems,
}


def _reason(error: Exception) -> str:
    """What the engine said, without our own words around it."""
    return first_line(str(error.__cause__ or error)).rstrip(".")


def _data_file(fragment: Fragment) -> Path:
    """The file the rows of a fragment lie in; of several, one that is visibly damaged."""
    damaged = [part.path for part in fragment.files if part.damage]
    return damaged[0] if damaged else fragment.files[0].path
