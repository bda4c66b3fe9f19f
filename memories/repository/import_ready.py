"""The rows of an import as they will be written, made before the lock is taken: stamped, hashed, on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from memories.repository import schema
from memories.repository.ids import new_id
from memories.repository.import_following import Subjects, new_subjects
from memories.repository.import_plan import ImportPlan, plan_import
from memories.repository.import_stage import ImportStage, ReadyRows
from memories.repository.records import LIGHT, Author, Row, content_hash, embedding_text_of, now
from memories.repository.revisions import BeforeImage, Stamp, revision_row
from memories.repository.snapshot import Snapshot
from memories.repository.vectors import Vector

RESERVED = 64
"""Generations left free between the newest one and the import's, so that the rows, whose hashes hold
theirs, can be made ready before the lock is taken, while others go on writing."""

Embed = Callable[[Sequence[str]], Vector]

Progress = Callable[[int, int], None]
"""Told how many of how many memories are ready to be written."""


@dataclass(frozen=True, slots=True)
class ImportOrigin:
    """Where an import comes from: the kind of store, and the place as a person knows it. ``whole`` asks
    to take the tables as they are, up to ``generation``, where nothing is stored yet."""

    system: str
    source: str
    whole: bool = False
    generation: int = 0


@dataclass(frozen=True)
class Ready:
    """Everything an import writes, made before the lock."""

    plan: ImportPlan
    stamp: Stamp
    subjects: Subjects
    tables: Mapping[str, ReadyRows]
    listed: Sequence[Row]
    """Which rows beside memories and edges those are."""


def made_ready(
    stage: ImportStage,
    snapshot: Snapshot,
    author: Author,
    origin: ImportOrigin,
    embed: Embed,
    progress: Progress,
) -> Ready:
    plan = plan_import(stage, snapshot, whole=origin.whole)
    stamp = _stamp(stage, snapshot, author, origin, plan)
    ready = _Making(stage, snapshot, plan, stamp, embed, progress)
    ready.memories()
    ready.revisions()
    for table in (schema.TURNS, schema.LESSONS, schema.QUARANTINE):
        ready.others(table)
    if plan.whole:
        for table in (schema.EDGES, schema.CONFLICTS, schema.ARCHIVE):
            ready.others(table)
    return Ready(plan, stamp, new_subjects(stage, plan), ready.tables, ready.listed)


def _stamp(
    stage: ImportStage, snapshot: Snapshot, author: Author, origin: ImportOrigin, plan: ImportPlan
) -> Stamp:
    generation = snapshot.generation + RESERVED + 1 + len(generations(stage))
    return Stamp(
        operation_id=author.operation_id or new_id(),
        operation="import",
        actor=author.actor,
        session_id=author.session_id,
        at=now(),
        note=origin.source,
        generation=max(origin.generation, 1) if plan.whole else generation,
    )


def generations(stage: ImportStage) -> list[int]:
    """The generations in which a source's history was written, in their order."""
    return sorted({row["generation"] for row in stage.rows(schema.REVISIONS, ["generation"])})


class _Making:
    """Turns staged rows into rows as they will be written."""

    def __init__(
        self,
        stage: ImportStage,
        snapshot: Snapshot,
        plan: ImportPlan,
        stamp: Stamp,
        embed: Embed,
        progress: Progress,
    ) -> None:
        self._stage = stage
        self._snapshot = snapshot
        self._plan = plan
        self._stamp = stamp
        self._embed = embed
        self._progress = progress
        schemas = schema.schemas(stage.dimension)
        self.tables = {name: ReadyRows(stage.folder, name, schemas[name]) for name in schemas}
        self.listed: list[Row] = []

    def memories(self) -> None:
        fates = iter(self._plan.fates)
        total = len(self._plan.new)
        history = set() if self._plan.whole else _with_history(self._snapshot, self._plan.new)
        numbers = _newest_numbers(self._snapshot, history)
        for batch in self._stage.batches(schema.MEMORIES):
            names = [next(fates) for _ in range(batch.num_rows)]
            self._add_memories(pa.Table.from_batches([batch]), names, numbers)
            self._progress(self.tables[schema.MEMORIES].rows, total)

    def _add_memories(self, found: pa.Table, names: Sequence[str | None], numbers: Mapping[str, int]) -> None:
        kept = [index for index, name in enumerate(names) if name is not None]
        found = found.take(pa.array(kept, pa.int64()))
        found = self._with_every_vector(found)
        vectors = _vectors(found)
        rows = []
        for row, index, vector in zip(found.drop_columns(["vector"]).to_pylist(), kept, vectors, strict=True):
            row = row if self._plan.whole else self._stamped(row, str(names[index]), numbers)
            row["content_hash"] = content_hash({name: row.get(name) for name in LIGHT} | {"vector": vector})
            rows.append(row)
        if not rows:
            return
        light = pa.Table.from_pylist(rows, schema=found.schema.remove(found.schema.get_field_index("vector")))
        self.tables[schema.MEMORIES].add(light.append_column("vector", found["vector"]))
        if not self._plan.whole:
            self._keep_originals(rows)

    def _with_every_vector(self, found: pa.Table) -> pa.Table:
        """Vectors for those that were stored when the source was read, and needed none then."""
        column = found["vector"].combine_chunks()
        missing = [index for index, there in enumerate(column.is_valid().to_pylist()) if not there]
        if not missing:
            return found
        rows = found.select(["domain", "subject", "facts"]).take(pa.array(missing, pa.int64())).to_pylist()
        made = iter(self._embed([embedding_text_of(**row) for row in rows]))
        lacking = set(missing)
        vectors = [next(made) if index in lacking else value.values for index, value in enumerate(column)]
        filled = pa.array([np.asarray(vector, dtype=np.float32) for vector in vectors], column.type)
        return found.set_column(found.schema.get_field_index("vector"), found.schema.field("vector"), filled)

    def _stamped(self, row: Row, name: str, numbers: Mapping[str, int]) -> Row:
        stamp = self._stamp
        return row | {
            "id": name,
            "revision": max(int(row["revision"]), numbers.get(name, 0) + 1),
            "operation_id": stamp.operation_id,
            "generation": stamp.generation,
        }

    def _keep_originals(self, rows: Sequence[Row]) -> None:
        """The row each memory was made from, as the first entry of its history."""
        originals = [
            _original_row(self._stamp, row["id"], row["original"], row["fingerprint"])
            for row in rows
            if row["original"]
        ]
        self.tables[schema.REVISIONS].add_rows(originals)
        self._list(schema.REVISIONS, [row["revision_key"] for row in originals])

    def revisions(self) -> None:
        """The history a source brings along: all of it where the tables are taken as they are, else that
        of memories that have none here."""
        if self._plan.whole:
            self.others(schema.REVISIONS)
            return
        ranks = {number: index for index, number in enumerate(generations(self._stage))}
        first = self._stamp.generation - len(ranks)
        known = _with_history(self._snapshot, self._revised())
        for batch in self._stage.batches(schema.REVISIONS):
            kept = [
                row | {"generation": first + ranks[row["generation"]], "memory_id": final}
                for row in batch.to_pylist()
                if (final := self._owner(row["memory_id"])) is not None and final not in known
            ]
            self.tables[schema.REVISIONS].add_rows(kept)
            self._list(schema.REVISIONS, [row["revision_key"] for row in kept])

    def _revised(self) -> set[str]:
        names = {row["memory_id"] for row in self._stage.rows(schema.REVISIONS, ["memory_id"])}
        return {self._plan.ids.get(name, name) for name in names}

    def _owner(self, name: str) -> str | None:
        """The memory here that a staged revision belongs to: a new one, or one only in the trash."""
        final = self._plan.ids.get(name)
        if final is None:
            return name
        return final if final in self._plan.new else None

    def others(self, table: str) -> None:
        """Rows of a table that is keyed by itself: those whose key is not there yet."""
        key = schema.KEYS[table]
        there = set() if self._plan.whole else {row[key] for row in self._snapshot.rows(table, columns=[key])}
        for batch in self._stage.batches(table):
            found = pa.Table.from_batches([batch])
            names = found[key].to_pylist()
            kept = [index for index, name in enumerate(names) if name not in there]
            there.update(names)
            if not self._plan.whole:
                found = self._restamped(found.take(pa.array(kept, pa.int64())))
                self._list(table, [names[index] for index in kept])
            self.tables[table].add(found)

    def _restamped(self, found: pa.Table) -> pa.Table:
        if "generation" not in found.schema.names:
            return found
        numbers = pa.array([self._stamp.generation] * found.num_rows, pa.int64())
        return found.set_column(found.schema.get_field_index("generation"), "generation", numbers)

    def _list(self, table: str, keys: Sequence[str]) -> None:
        self.listed += [{"table": table, "key": key} for key in keys]


def _vectors(found: pa.Table) -> Iterator[np.ndarray]:
    column = found["vector"].combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    yield from flat.reshape(found.num_rows, column.type.list_size) if found.num_rows else ()


def _original_row(stamp: Stamp, memory_id: str, original: str, fingerprint: str) -> Row:
    row = revision_row(stamp, memory_id, BeforeImage(None))
    kept = json.loads(row["before"]) | {"original": {"fingerprint": fingerprint, "row": json.loads(original)}}
    return row | {"before": json.dumps(kept, ensure_ascii=False, separators=(",", ":"))}


def _with_history(snapshot: Snapshot, ids: frozenset[str] | set[str]) -> set[str]:
    rows = snapshot.rows(schema.REVISIONS, columns=["memory_id"])
    return {row["memory_id"] for row in rows} & ids


def _newest_numbers(snapshot: Snapshot, ids: set[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    if ids:
        for row in snapshot.rows(schema.REVISIONS, columns=["memory_id", "revision"]):
            if row["memory_id"] in ids:
                numbers[row["memory_id"]] = max(numbers.get(row["memory_id"], 0), int(row["revision"]))
    return numbers
