"""Bringing in many memories, turns and lessons from elsewhere as one operation: staged in files, decided
from light columns, committed in one step, and taken back in one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.edges import Edge
from memories.repository.engine import is_in
from memories.repository.import_following import (
    NewConflicts,
    NewEdges,
    new_conflicts,
    new_edges,
    write_following,
)
from memories.repository.import_plan import ImportPlan, fingerprints_of, plan_import
from memories.repository.import_ready import ImportOrigin, Progress, Ready, generations, made_ready
from memories.repository.import_stage import USAGE, ImportStage
from memories.repository.quarantine import Misfit
from memories.repository.records import Author, Row
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Snapshot
from memories.repository.transaction import Transaction
from memories.repository.usage_transfer import take_usage, usage_rows
from memories.repository.write_context import ATTEMPTS, WriteContext


@dataclass(frozen=True, slots=True)
class ImportResult:
    """``written`` counts rows by table; ``operation_id`` is "" where there was nothing to add."""

    operation_id: str
    plan: ImportPlan
    written: Mapping[str, int]
    dangling: tuple[str, ...] = ()


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

    def stored(self, ids: Collection[str]) -> dict[str, str]:
        """The fingerprints of those of some ids that are stored."""
        return self._context.store.read(lambda snapshot: fingerprints_of(snapshot, ids))

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
        embed = context.embedder.embed_documents
        ready = context.store.read(
            lambda snapshot: made_ready(stage, snapshot, author, origin, embed, progress)
        )
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


def _still_holds(snapshot: Snapshot, stage: ImportStage, plan: ImportPlan, stamp: Stamp) -> bool:
    """Whether what was decided and made ready is true of the locked state too."""
    if snapshot.state == plan.state:
        return True
    if not plan.whole and snapshot.generation >= stamp.generation - len(generations(stage)):
        return False
    return plan_import(stage, snapshot, whole=plan.whole).same_as(plan)


def _follow(
    transaction: Transaction, stage: ImportStage, ready: Ready, origin: ImportOrigin
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
    transaction: Transaction, ready: Ready, author: Author, origin: ImportOrigin, listed: Sequence[Row]
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
