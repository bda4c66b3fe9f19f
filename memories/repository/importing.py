"""Bringing in many memories, turns and lessons from elsewhere as one operation: staged in files, decided
from light columns, committed in one step, and taken back in one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.edges import Edge
from memories.repository.engine import is_in
from memories.repository.ids import new_id
from memories.repository.import_following import (
    NewConflicts,
    NewEdges,
    Subjects,
    new_conflicts,
    new_edges,
    new_subjects,
    write_following,
)
from memories.repository.import_plan import ImportPlan, plan_import
from memories.repository.import_stage import USAGE, ImportStage, ReadyRows
from memories.repository.quarantine import Misfit
from memories.repository.records import LIGHT, Author, Row, content_hash, now
from memories.repository.revisions import BeforeImage, Stamp, revision_row
from memories.repository.snapshot import Snapshot
from memories.repository.transaction import Transaction
from memories.repository.usage_transfer import take_usage, usage_rows
from memories.repository.write_context import ATTEMPTS, WriteContext

RESERVED = 64
"""Generations left free between the newest one and the import's, so that the rows, whose hashes hold
theirs, can be made ready before the lock is taken, while others go on writing."""

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


@dataclass(frozen=True, slots=True)
class ImportResult:
    """``written`` counts rows by table; ``operation_id`` is "" where there was nothing to add."""

    operation_id: str
    plan: ImportPlan
    written: Mapping[str, int]
    dangling: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Ready:
    """Everything an import writes, made before the lock."""

    plan: ImportPlan
    stamp: Stamp
    subjects: Subjects
    tables: Mapping[str, ReadyRows]
    listed: Sequence[Row]
    """Which rows beside memories and edges those are."""


class Importer:
    """The imports of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    @property
    def folder(self) -> Path:
        return self._context.store.files.side / "imports"

    def stage(self, key: str, folder: Path | None = None) -> ImportStage:
        """What a run of the same import has gathered so far; beside the database unless a dry run
        names another ``folder``."""
        dimension = self._context.embedder.identity.dimension
        if folder is None:
            self._context.store.files.create()
        return ImportStage((folder or self.folder) / key, dimension)

    def usage_rows(self) -> Iterator[Row]:
        """The usage side store day by day, for an export."""
        return usage_rows(self._context.store.files.usage)

    def plan(self, stage: ImportStage, *, whole: bool = False) -> ImportPlan:
        """What would become of each staged memory. Writes nothing."""
        return self._context.store.read(lambda snapshot: plan_import(stage, snapshot, whole=whole))

    def commit(
        self,
        stage: ImportStage,
        author: Author,
        origin: ImportOrigin,
        *,
        progress: Progress = lambda done, total: None,
    ) -> ImportResult:
        """Write what is staged and not there yet, then let the stage go.

        Raises ``store_busy`` when others keep changing what it meets, with the stage kept.
        """
        for _ in range(ATTEMPTS):
            result = self._commit(stage, author, origin, progress)
            if result is not None:
                self._count_usage(stage, result.plan)
                stage.clear()
                return result
        raise MemsuiteError(
            ErrorCode.STORE_BUSY, "db_path", "The database kept changing meanwhile. Try again."
        )

    def _commit(
        self, stage: ImportStage, author: Author, origin: ImportOrigin, progress: Progress
    ) -> ImportResult | None:
        """None where another write has changed the decisions between making ready and locking."""
        context = self._context
        ready = context.store.read(lambda snapshot: _made_ready(stage, snapshot, author, origin, progress))
        plan = ready.plan
        if not any(rows.rows for rows in ready.tables.values()):
            return ImportResult("", plan, {})
        author = replace(author, operation_id=ready.stamp.operation_id)
        with context.store.transaction(
            author, "import", wait=context.lock_wait, identity=context.embedder.identity, note=origin.source
        ) as transaction:
            context.require_identity(transaction.snapshot)
            if not _still_holds(transaction.snapshot, stage, plan, ready.stamp):
                return None
            transaction.stamp = ready.stamp
            edges, following = _follow(transaction, stage, ready, origin)
            _write(transaction, ready, author, origin, [*ready.listed, *following])
        written = {name: rows.rows for name, rows in ready.tables.items() if rows.rows}
        written |= {schema.EDGES: len(edges.added)} if edges.added else {}
        for name, count in _counted(following).items():
            written[name] = written.get(name, 0) + count
        dangling = tuple(edge.source_id for edge in edges.dangling)
        return ImportResult(ready.stamp.operation_id, plan, written, dangling)

    def _count_usage(self, stage: ImportStage, plan: ImportPlan) -> None:
        """Best effort, and the same however often: usage is no memory."""
        rows = (
            row | {"memory_id": plan.ids.get(row["memory_id"], row["memory_id"])} for row in stage.rows(USAGE)
        )
        take_usage(self._context.store.files.usage, rows)


def _made_ready(
    stage: ImportStage, snapshot: Snapshot, author: Author, origin: ImportOrigin, progress: Progress
) -> _Ready:
    plan = plan_import(stage, snapshot, whole=origin.whole)
    stamp = _stamp(stage, snapshot, author, origin, plan)
    ready = _Making(stage, snapshot, plan, stamp, progress)
    ready.memories()
    ready.revisions()
    for table in (schema.TURNS, schema.LESSONS, schema.QUARANTINE):
        ready.others(table)
    if plan.whole:
        for table in (schema.EDGES, schema.CONFLICTS, schema.ARCHIVE):
            ready.others(table)
    return _Ready(plan, stamp, new_subjects(stage, plan), ready.tables, ready.listed)


def _stamp(
    stage: ImportStage, snapshot: Snapshot, author: Author, origin: ImportOrigin, plan: ImportPlan
) -> Stamp:
    generation = snapshot.generation + RESERVED + 1 + len(_generations(stage))
    return Stamp(
        operation_id=author.operation_id or new_id(),
        operation="import",
        actor=author.actor,
        session_id=author.session_id,
        at=now(),
        note=origin.source,
        generation=max(origin.generation, 1) if plan.whole else generation,
    )


def _generations(stage: ImportStage) -> list[int]:
    """The generations in which a source's history was written, in their order."""
    return sorted({row["generation"] for row in stage.rows(schema.REVISIONS, ["generation"])})


class _Making:
    """Turns staged rows into rows as they will be written."""

    def __init__(
        self, stage: ImportStage, snapshot: Snapshot, plan: ImportPlan, stamp: Stamp, progress: Progress
    ) -> None:
        self._stage = stage
        self._snapshot = snapshot
        self._plan = plan
        self._stamp = stamp
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
        ranks = {number: index for index, number in enumerate(_generations(self._stage))}
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


def _still_holds(snapshot: Snapshot, stage: ImportStage, plan: ImportPlan, stamp: Stamp) -> bool:
    """Whether what was decided and made ready is true of the locked state too."""
    if snapshot.state == plan.state:
        return True
    if not plan.whole and snapshot.generation >= stamp.generation - len(_generations(stage)):
        return False
    return plan_import(stage, snapshot, whole=plan.whole).same_as(plan)


def _follow(
    transaction: Transaction, stage: ImportStage, ready: _Ready, origin: ImportOrigin
) -> tuple[NewEdges, list[Row]]:
    if ready.plan.whole:
        return NewEdges((), (), ()), []
    snapshot = transaction.snapshot
    edges = new_edges(stage, ready.plan, snapshot, ready.subjects)
    conflicts: NewConflicts = new_conflicts(stage, ready.plan, snapshot, ready.subjects, ready.stamp)
    written = write_following(transaction, edges, conflicts)
    return edges, [*written, *_set_aside(transaction, edges.dangling, ready.stamp, origin)]


def _set_aside(
    transaction: Transaction, dangling: Sequence[Edge], stamp: Stamp, origin: ImportOrigin
) -> list[Row]:
    """Edges of new memories whose target is neither stored nor imported; which rows those are."""
    rows = {}
    for edge in dangling:
        misfit = Misfit(
            system=origin.system,
            kind="edge",
            place=f"edge of {edge.source_id}",
            source_id=edge.source_id,
            code=str(ErrorCode.INVALID_RELATION_TARGET),
            field="target_id",
            message="The relation points at a memory that is neither here nor in the source.",
            row={"type": edge.relation_type, "target_id": edge.target_id},
        )
        rows[misfit.id] = misfit.as_row(stamp.at)
    there = transaction.snapshot.rows(schema.QUARANTINE, is_in("id", sorted(rows)), ["id"]) if rows else []
    for name in rows.keys() - {row["id"] for row in there}:
        transaction.replace(schema.QUARANTINE, rows[name])
    return [{"table": schema.QUARANTINE, "key": name} for name in rows]


def _write(
    transaction: Transaction, ready: _Ready, author: Author, origin: ImportOrigin, listed: Sequence[Row]
) -> None:
    for name, rows in ready.tables.items():
        if rows.rows:
            transaction.stream(name, rows.batches)
    transaction.another_history = ready.plan.whole
    row = {
        "operation_id": ready.stamp.operation_id,
        "system": origin.system,
        "source": origin.source,
        "actor": author.actor,
        "at": ready.stamp.at,
        "generation": ready.stamp.generation,
        "whole": ready.plan.whole,
        "rows": [] if ready.plan.whole else list(listed),
    }
    transaction.add(schema.IMPORTS, row)


def _counted(rows: Sequence[Row]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["table"]] = counts.get(row["table"], 0) + 1
    return counts
