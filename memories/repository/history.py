"""Trash, earlier states, and taking an operation back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.engine import is_in, quoted
from memories.repository.import_undo import import_of, take_back_rows, undo_whole
from memories.repository.records import Author, Row
from memories.repository.results import RestoreResult, UndoResult
from memories.repository.revisions import LIGHT, BeforeImage, Revision, revision_of
from memories.repository.snapshot import Snapshot, batches
from memories.repository.vectors import Vector
from memories.repository.write_context import WriteContext, with_current_vector


class History:
    """The past of one repository. Vectors are kept, so the model is asked only for a state that
    another model had embedded."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def restore(self, memory_id: str, author: Author, revision: int | None = None) -> RestoreResult:
        """Bring a memory back from the trash, or to its state of an earlier ``revision``.

        Raises ``memory_not_found`` when there is nothing to bring back.
        """
        return self._context.again(lambda: self._restore(memory_id, author, revision))

    def _restore(self, memory_id: str, author: Author, revision: int | None) -> RestoreResult:
        context = self._context
        kept = context.store.read(lambda snapshot: _rows([_kept(snapshot, memory_id, revision)]))
        vectors = context.current_vectors(kept)
        with context.store.transaction(author, "restore", wait=context.lock_wait) as transaction:
            changes = ChangeSet(transaction, context.conflict_limit)
            wanted = _kept(transaction.snapshot, memory_id, revision)
            current = transaction.snapshot.full_rows([memory_id]).get(memory_id)
            revive(changes, wanted, current, vectors)
            ledger = changes.write()
        memory = context.store.read(lambda newest: newest.memories([memory_id]))[memory_id]
        conflicts = tuple(row for row in ledger.written if row.is_open)
        operation = transaction.stamp.operation_id
        return RestoreResult(memory_id, memory.content, memory.revision, operation, conflicts)

    def undo(self, operation_id: str, author: Author) -> UndoResult:
        """Take an operation back: every memory that has not changed since gets the state it had
        before. Those that have are left alone and named. Raises ``not_found``."""
        return self._context.again(lambda: self._undo(operation_id, author))

    def _undo(self, operation_id: str, author: Author) -> UndoResult:
        context = self._context
        record = context.store.read(lambda snapshot: import_of(snapshot, operation_id))
        if record is not None and record["whole"]:
            return undo_whole(context, record, author)
        known = record is not None
        kept = context.store.read(lambda snapshot: _rows(_replaced(_steps(snapshot, operation_id, known))))
        vectors = context.current_vectors(kept)
        note = f"undo of {operation_id}"
        with context.store.transaction(author, "undo", wait=context.lock_wait, note=note) as transaction:
            steps = _steps(transaction.snapshot, operation_id, known)
            changes = ChangeSet(transaction, context.conflict_limit)
            untouched = [step for step in steps if step.untouched]
            undone = _take_back(changes, untouched, vectors)
            for revision in _replaced(untouched):
                for conflict in revision.ledger():
                    changes.decide(replace(conflict, archived_at=None))
            changes.write()
            if record is not None:
                take_back_rows(transaction, record, undone)
        return UndoResult(
            undone_operation_id=operation_id,
            operation_id=transaction.stamp.operation_id if undone or known else "",
            undone=undone,
            skipped=tuple(step.memory_id for step in steps if not step.untouched),
        )


@dataclass(frozen=True)
class _Step:
    """One memory that an operation touched: the state it replaced (None where it made the memory)
    and the row as it is now."""

    memory_id: str
    revision: Revision | None
    current: Row | None
    untouched: bool


def _take_back(changes: ChangeSet, steps: Sequence[_Step], vectors: Mapping[str, Vector]) -> tuple[str, ...]:
    gone = [step.memory_id for step in steps if step.current is None]
    numbers = newest_numbers(changes.snapshot, gone)
    for step in steps:
        if step.revision is not None and step.revision.revision > 0:
            revive(changes, step.revision, step.current, vectors, numbers)
        elif step.current is not None:
            changes.remove(step.current)
    return tuple(step.memory_id for step in steps)


def revive(
    changes: ChangeSet,
    wanted: Revision,
    current: Row | None,
    vectors: Mapping[str, Vector],
    numbers: Mapping[str, int] | None = None,
) -> None:
    """Put the state a revision keeps into the operation."""
    image = wanted.image()
    assert image.row is not None
    name = wanted.memory_id
    if current is not None:
        number = int(current["revision"])
    else:
        number = (numbers or newest_numbers(changes.snapshot, [name]))[name]
    row = with_current_vector(image.row, changes.snapshot, vectors)
    changes.revive(current, BeforeImage(row, image.edges), number)


def _replaced(steps: Iterable[_Step]) -> list[Revision]:
    return [step.revision for step in steps if step.revision is not None]


def _rows(revisions: Iterable[Revision]) -> list[Row]:
    images = (revision.image().row for revision in revisions)
    return [row for row in images if row is not None]


def revisions_of(snapshot: Snapshot, memory_id: str, limit: int) -> list[Revision]:
    """The newest entries of a memory's history, newest first."""
    rows = snapshot.rows(schema.REVISIONS, f"memory_id = {quoted(memory_id)}", LIGHT)
    found = [revision_of(row) for row in rows]
    return sorted(found, key=lambda revision: revision.generation, reverse=True)[:limit]


def trashed(snapshot: Snapshot) -> list[Revision]:
    """The last entry of each memory that is in the trash, newest first."""
    newest: dict[str, Revision] = {}
    for row in snapshot.rows(schema.REVISIONS, "removed", LIGHT):
        revision = revision_of(row)
        known = newest.get(revision.memory_id)
        if known is None or known.generation < revision.generation:
            newest[revision.memory_id] = revision
    stored = {
        row["id"]
        for batch in batches(newest)
        for row in snapshot.rows(schema.MEMORIES, is_in("id", batch), ["id"])
    }
    gone = [revision for name, revision in newest.items() if name not in stored]
    return sorted(gone, key=lambda revision: (revision.generation, revision.memory_id), reverse=True)


def _kept(snapshot: Snapshot, memory_id: str, number: int | None) -> Revision:
    where = f"memory_id = {quoted(memory_id)} AND revision > 0"
    if number is not None:
        where += f" AND revision = {int(number)}"
    elif memory_id not in snapshot.memories([memory_id]):
        where += " AND removed"
    else:
        where = "false"
    found = [revision_of(row) for row in snapshot.rows(schema.REVISIONS, where)]
    if not found:
        raise MemsuiteError(
            ErrorCode.MEMORY_NOT_FOUND,
            "memory_id",
            "The memory is not in the trash."
            if number is None
            else "The memory has no earlier state of this revision.",
            received=memory_id,
        )
    return max(found, key=lambda revision: revision.generation)


def newest_numbers(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, int]:
    """The highest revision number used by memories no longer stored: a number names one state
    for ever."""
    numbers: dict[str, int] = dict.fromkeys(ids, 0)
    for batch in batches(ids):
        for row in snapshot.rows(schema.REVISIONS, is_in("memory_id", batch), ["memory_id", "revision"]):
            numbers[row["memory_id"]] = max(numbers[row["memory_id"]], int(row["revision"]))
    return numbers


def removals(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, Revision]:
    """For memories no longer stored: the state in which each was taken away last."""
    newest: dict[str, Revision] = {}
    for batch in batches(ids):
        for row in snapshot.rows(schema.REVISIONS, f"removed AND {is_in('memory_id', batch)}"):
            revision = revision_of(row)
            known = newest.get(revision.memory_id)
            if known is None or known.generation < revision.generation:
                newest[revision.memory_id] = revision
    return newest


def _steps(snapshot: Snapshot, operation_id: str, known: bool = False) -> list[_Step]:
    mine = f"operation_id = {quoted(operation_id)}"
    revisions = {row["memory_id"]: revision_of(row) for row in snapshot.rows(schema.REVISIONS, mine)}
    written = {row["id"] for row in snapshot.rows(schema.MEMORIES, mine, ["id"])}
    replaced = {
        row["memory_id"]
        for row in snapshot.rows(
            schema.REVISIONS, f"before_operation_id = {quoted(operation_id)}", ["memory_id"]
        )
    }
    touched = sorted(written | revisions.keys() | replaced)
    if not touched and not known:
        raise MemsuiteError(
            ErrorCode.NOT_FOUND, "operation_id", "No operation has this id.", received=operation_id
        )
    current = snapshot.full_rows(touched)
    last = removals(snapshot, [name for name in touched if name not in current])
    steps = []
    for name in touched:
        row = current.get(name)
        by = row["operation_id"] if row is not None else last[name].operation_id
        steps.append(_Step(name, revisions.get(name), row, by == operation_id))
    return steps
