"""Trash, earlier states, and taking an operation back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.engine import is_in, quoted
from memories.repository.ledger import LedgerChanges
from memories.repository.records import Author, Row
from memories.repository.results import RestoreResult, UndoResult
from memories.repository.revisions import LIGHT, Revision, revision_of
from memories.repository.snapshot import Snapshot, batches
from memories.repository.store import Store, Transaction


class History:
    """The past of one repository. Nothing in here needs the embedder: vectors are kept."""

    def __init__(self, store: Store, *, lock_wait: float, conflict_limit: int) -> None:
        self._store = store
        self._lock_wait = lock_wait
        self._conflict_limit = conflict_limit

    def restore(self, memory_id: str, author: Author, revision: int | None = None) -> RestoreResult:
        """Bring a memory back from the trash, or to its state of an earlier ``revision``.

        Raises ``memory_not_found`` when there is nothing to bring back.
        """
        with self._transaction(author, "restore") as transaction:
            snapshot = transaction.snapshot
            current = snapshot.full_rows([memory_id]).get(memory_id)
            wanted = _kept(snapshot, memory_id, revision, current)
            changes = ChangeSet(transaction, self._conflict_limit)
            number = current["revision"] if current else newest_numbers(snapshot, [memory_id])[memory_id]
            changes.revive(current, wanted.image(), number)
            ledger = changes.write()
        return self._restored(memory_id, ledger, transaction.stamp.operation_id)

    def undo(self, operation_id: str, author: Author) -> UndoResult:
        """Take an operation back: every memory that has not changed since gets the state it had
        before. Those that have are left alone and named. Raises ``not_found``."""
        with self._transaction(author, "undo", note=f"undo of {operation_id}") as transaction:
            steps = _steps(transaction.snapshot, operation_id)
            if not steps:
                raise MemsuiteError(
                    ErrorCode.NOT_FOUND, "operation_id", "No operation has this id.", received=operation_id
                )
            undone = self._take_back(transaction, [step for step in steps if step.untouched])
        return UndoResult(
            undone_operation_id=operation_id,
            operation_id=transaction.stamp.operation_id if undone else "",
            undone=undone,
            skipped=tuple(step.memory_id for step in steps if not step.untouched),
        )

    def _take_back(self, transaction: Transaction, steps: Sequence[_Step]) -> tuple[str, ...]:
        changes = ChangeSet(transaction, self._conflict_limit)
        gone = [step.memory_id for step in steps if step.current is None]
        numbers = newest_numbers(transaction.snapshot, gone)
        for step in steps:
            image = step.revision.image() if step.revision is not None else None
            if image is not None and image.row is not None:
                number = step.current["revision"] if step.current else numbers[step.memory_id]
                changes.revive(step.current, image, number)
            elif step.current is not None:
                changes.remove(step.current)
        changes.write()
        return tuple(step.memory_id for step in steps)

    def _transaction(
        self, author: Author, operation: str, note: str = ""
    ) -> AbstractContextManager[Transaction]:
        return self._store.transaction(author, operation, wait=self._lock_wait, note=note)

    def _restored(self, memory_id: str, ledger: LedgerChanges, operation: str) -> RestoreResult:
        memory = self._store.read(lambda snapshot: snapshot.memories([memory_id]))[memory_id]
        return RestoreResult(
            memory_id,
            memory.content,
            memory.revision,
            operation,
            tuple(row for row in ledger.written if row.is_open),
        )


@dataclass(frozen=True)
class _Step:
    """One memory that an operation touched: the state it replaced (None where it made the memory)
    and the row as it is now."""

    memory_id: str
    revision: Revision | None
    current: Row | None
    untouched: bool


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


def _kept(snapshot: Snapshot, memory_id: str, number: int | None, current: Row | None) -> Revision:
    where = f"memory_id = {quoted(memory_id)} AND revision > 0"
    if number is not None:
        where += f" AND revision = {int(number)}"
    elif current is None:
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


def _steps(snapshot: Snapshot, operation_id: str) -> list[_Step]:
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
    current = snapshot.full_rows(touched)
    last = removals(snapshot, [name for name in touched if name not in current])
    steps = []
    for name in touched:
        row = current.get(name)
        by = row["operation_id"] if row is not None else last[name].operation_id
        steps.append(_Step(name, revisions.get(name), row, by == operation_id))
    return steps
