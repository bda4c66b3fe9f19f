"""Giving every memory and every captured turn a vector of another model, in one step for everybody
who looks.

New vectors are staged beside the database, in parts that survive a kill; the old ones answer
meanwhile. When every text has one, the tables are written anew inside one transaction.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.embedding import Embedder, EmbeddingIdentity
from memories.repository import schema
from memories.repository.engine import as_ours, is_in
from memories.repository.files import flush_directory, flush_file
from memories.repository.records import Author, Row, content_hash, embedding_text_of
from memories.repository.snapshot import Snapshot, batches
from memories.repository.store import Store
from memories.repository.transaction import Reembedded, Transaction
from memories.repository.turn_reading import turn_texts, turns_before, whole_rows
from memories.repository.turn_records import context_of
from memories.repository.vectors import Vector

Progress = Callable[[int, int], None]
"""Told how many of how many memories have their new vector."""

PART_ROWS = 256
"""Vectors in one staged part: what a kill can cost is at most the embedding of so many texts."""

ATTEMPTS = 5
"""How often memories written meanwhile are embedded too before giving up on a quiet moment."""


@dataclass(frozen=True, slots=True)
class ReembedPlan:
    """What a re-embedding would do; ``staged`` of the ``texts`` have their new vector already."""

    memories: int
    turns: int
    staged: int
    from_identity: str
    to_identity: str

    @property
    def texts(self) -> int:
        return self.memories + self.turns

    @property
    def needed(self) -> bool:
        return self.texts > 0 and self.from_identity != self.to_identity

    def as_answer(self) -> dict[str, object]:
        return {
            "success": True,
            "status": "planned" if self.needed else "not_needed",
            "memories": self.memories,
            "turns": self.turns,
            "staged": self.staged,
            "from": self.from_identity,
            "to": self.to_identity,
            "contract_version": CONTRACT_VERSION,
        }


@dataclass(frozen=True, slots=True)
class ReembedResult:
    """A finished re-embedding; ``resumed`` vectors had been staged by an earlier, killed run."""

    memories: int
    turns: int
    resumed: int
    from_identity: str
    to_identity: str
    operation_id: str

    def as_answer(self) -> dict[str, object]:
        return {
            "success": True,
            "status": "reembedded" if self.operation_id else "not_needed",
            "memories": self.memories,
            "turns": self.turns,
            "resumed": self.resumed,
            "from": self.from_identity,
            "to": self.to_identity,
            "operation_id": self.operation_id,
            "contract_version": CONTRACT_VERSION,
        }


class Reembedding:
    """Re-embeds one database with one model."""

    def __init__(self, store: Store, embedder: Embedder, *, lock_wait: float) -> None:
        self._store = store
        self._embedder = embedder
        self._lock_wait = lock_wait
        self._stage = _Stage(store.files.side / "reembed", embedder.identity)

    def plan(self) -> ReembedPlan:
        """Writes nothing."""
        snapshot = self._store.snapshot()
        texts = self._store.read(_texts)
        turns = sum(1 for table, _ in texts if table == schema.TURNS)
        return ReembedPlan(
            memories=len(texts) - turns,
            turns=turns,
            staged=len(self._stage.keys() & set(texts.values())),
            from_identity=snapshot.embedding_id,
            to_identity=str(self._embedder.identity),
        )

    def run(self, author: Author, progress: Progress) -> ReembedResult:
        """Stage what is missing, then switch. Resumes what a killed run has staged.

        Raises ``embedding_failed`` with everything staged so far kept, and ``store_busy``.
        """
        plan = self.plan()
        if not plan.needed:
            return ReembedResult(plan.memories, plan.turns, 0, plan.from_identity, plan.to_identity, "")
        operation = ""
        for _ in range(ATTEMPTS):
            self._fill(progress)
            operation = self._switch(author)
            if operation:
                break
        else:
            raise MemsuiteError(
                ErrorCode.STORE_BUSY, "db_path", "Memories kept being written meanwhile. Try again."
            )
        self._stage.clear()
        return ReembedResult(
            plan.memories, plan.turns, plan.staged, plan.from_identity, plan.to_identity, operation
        )

    def _fill(self, progress: Progress) -> None:
        """Embed what has no staged vector yet."""
        texts = self._store.read(_texts)
        staged = self._stage.keys()
        missing = [row for row, key in texts.items() if key not in staged]
        done = len(texts) - len(missing)
        progress(done, len(texts))
        for start in range(0, len(missing), PART_ROWS):
            part = missing[start : start + PART_ROWS]
            words = self._store.read(partial(_words, rows=part))
            if words:
                self._stage.write([_key(text) for text in words], self._embedder.embed_documents(words))
            done += len(part)
            progress(done, len(texts))

    def _switch(self, author: Author) -> str:
        """The operation that wrote the tables anew; "" when a text turned up without a vector."""
        with self._store.transaction(author, "reembed", wait=self._lock_wait) as transaction:
            texts = _texts(transaction.snapshot)
            vectors = self._stage.vectors()
            if not texts.keys() or not set(texts.values()) <= vectors.keys():
                return ""
            _verify(vectors, self._embedder.identity)
            identity = self._embedder.identity
            transaction.reembedded = Reembedded(
                identity, _rewriting(transaction, NewVectors(vectors, identity, transaction.stamp.generation))
            )
        return transaction.stamp.operation_id


class _Stage:
    """Vectors on disk, by the hash of the text they belong to, in files that are whole or absent."""

    def __init__(self, folder: Path, identity: EmbeddingIdentity) -> None:
        name = hashlib.sha256(str(identity).encode()).hexdigest()[:16]
        self._folder = folder / name

    def keys(self) -> set[str]:
        return {key for part in self._parts() for key in _read_part(part, ["key"])["key"].to_pylist()}

    def vectors(self) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        for part in self._parts():
            table = _read_part(part, ["key", "vector"])
            matrix = np.stack(table["vector"].to_numpy(zero_copy_only=False)).astype(np.float32)
            found.update(zip(table["key"].to_pylist(), matrix, strict=True))
        return found

    def write(self, keys: Sequence[str], matrix: Vector) -> None:
        number = len(self._parts())
        path = self._folder / f"part-{number:06}.parquet"
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        table = pa.table({"key": list(keys), "vector": pa.array(list(matrix), pa.list_(pa.float32()))})
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            pq.write_table(table, temporary)
            flush_file(temporary)
            temporary.replace(path)
            flush_directory(self._folder)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise as_ours(error, self._folder) from error

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _parts(self) -> list[Path]:
        return sorted(self._folder.glob("part-*.parquet"))


def _read_part(path: Path, columns: list[str]) -> pa.Table:
    return pq.read_table(path, columns=columns)


Held = tuple[str, str]
"""The name of a table that holds vectors, and the key of a row in it."""

_WORDS: Mapping[str, tuple[tuple[str, ...], Callable[[Row], str]]] = {
    schema.MEMORIES: (
        ("domain", "subject", "facts"),
        lambda row: embedding_text_of(row["domain"], row["subject"], row["facts"]),
    ),
    schema.TURNS: (("text",), lambda row: str(row["text"])),
}
"""For each table with vectors: the columns that the embedded text is made of, and how."""


def _texts(snapshot: Snapshot) -> dict[Held, str]:
    """Every row that holds a vector, with the hash of the text that is embedded for it."""
    return {
        (table, row["id"]): _key(words(row))
        for table, (columns, words) in _WORDS.items()
        for row in snapshot.rows(table, columns=["id", *columns])
    }


def _words(snapshot: Snapshot, rows: Sequence[Held]) -> list[str]:
    """What is embedded for some rows; those deleted meanwhile are left out."""
    return [
        words(row)
        for table, (columns, words) in _WORDS.items()
        for batch in batches(name for held, name in rows if held == table)
        for row in snapshot.rows(table, is_in("id", batch), columns)
    ]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _verify(vectors: Mapping[str, Vector], identity: EmbeddingIdentity) -> None:
    """Raises ``embedding_failed`` when a staged vector is not a finite unit vector of the model."""
    matrix = np.stack(list(vectors.values()))
    lengths = np.linalg.norm(matrix, axis=1)
    if matrix.shape[1] != identity.dimension or not np.allclose(lengths, 1.0, atol=1e-3):
        raise MemsuiteError(
            ErrorCode.EMBEDDING_FAILED,
            "embed_model",
            "A staged vector is damaged; remove the folder and run the command again.",
            received=str(identity),
        )


@dataclass(frozen=True, slots=True)
class NewVectors:
    """The vectors to write, by the hash of their text, and what every row written with one gets."""

    by_key: Mapping[str, Vector]
    identity: EmbeddingIdentity
    generation: int

    def of(self, text: str) -> Vector:
        return self.by_key[_key(text)]

    def stamped(self, row: Row) -> Row:
        return row | {"embedding_id": str(self.identity), "generation": self.generation}


def _rewriting(
    transaction: Transaction, new: NewVectors
) -> dict[str, Callable[[], Iterator[pa.RecordBatch]]]:
    """For each table that is there: its rows with their new vectors."""
    snapshot = transaction.snapshot
    ways = {schema.MEMORIES: _memories, schema.TURNS: _turns}
    return {
        table: partial(way, snapshot, new) for table, way in ways.items() if table in snapshot.head.tables
    }


def _memories(snapshot: Snapshot, new: NewVectors) -> Iterator[pa.RecordBatch]:
    """Revision and operation stay: what a person or an agent wrote has not changed, and an undo of an
    earlier operation must still be possible."""
    embedded = _WORDS[schema.MEMORIES][1]
    ids = [row["id"] for row in snapshot.rows(schema.MEMORIES, columns=["id"])]
    for batch in batches(ids):
        rows = []
        for row in snapshot.full_rows(batch).values():
            changed = new.stamped(row) | {schema.VECTOR: new.of(embedded(row))}
            rows.append(changed | {"content_hash": content_hash(changed)})
        yield from pa.Table.from_pylist(rows, schema=schema.memories(new.identity.dimension)).to_batches()


def _turns(snapshot: Snapshot, new: NewVectors) -> Iterator[pa.RecordBatch]:
    """Each with the vector of its text and the one that counts the turn before it in."""
    before = turns_before(snapshot)
    for batch in batches(before):
        found = whole_rows(snapshot, batch)
        texts = turn_texts(snapshot, [before[name] for name in found])
        rows = []
        for name, row in found.items():
            vector = new.of(row["text"])
            earlier = texts.get(before[name])
            context = context_of(new.of(earlier) if earlier is not None else None, vector)
            rows.append(new.stamped(row) | {schema.VECTOR: vector, "context_vector": context})
        yield from pa.Table.from_pylist(rows, schema=schema.turns(new.identity.dimension)).to_batches()
