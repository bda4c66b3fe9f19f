"""Updating a memory, and moving one to the trash."""

from __future__ import annotations

from memories.contract import UpdateRequest, validate_update
from memories.repository.changes import ChangeSet
from memories.repository.ledger import LedgerChanges
from memories.repository.planning import PlannedUpdate, gather_update, plan_update, refuse_duplicate
from memories.repository.preflight import AddStatus
from memories.repository.records import Author, Row
from memories.repository.results import DeleteResult, UpdateResult
from memories.repository.snapshot import Snapshot
from memories.repository.vectors import Vector
from memories.repository.write_context import (
    UnembeddedError,
    WriteContext,
    not_found,
    open_conflicts_of,
)


class Updater:
    """The updates and deletions of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def update(self, memory_id: str, payload: object, author: Author, *, patch: bool) -> UpdateResult:
        """Replace a memory's form. Raises ``memory_not_found``, ``version_conflict``,
        ``duplicate_memory`` and what the contract refuses."""
        return self._context.again(lambda: self._update(memory_id, payload, author, patch))

    def _update(self, memory_id: str, payload: object, author: Author, patch: bool) -> UpdateResult:
        request = validate_update(payload) if not patch else None
        seen = self._context.store.snapshot()
        planned = self._context.store.read(
            lambda snapshot: self._planned(snapshot, memory_id, payload, request)
        )
        if planned.unchanged:
            return _updated(planned, AddStatus.IDEMPOTENT, planned.stored.revision)
        embedded, vector = planned.words, self._vector_for(planned)
        with self._context.store.transaction(author, "update", wait=self._context.lock_wait) as transaction:
            if vector is not None:
                self._context.require_identity(transaction.snapshot)
            if transaction.snapshot is not seen:
                planned = self._planned(transaction.snapshot, memory_id, payload, request)
            if planned.unchanged:
                return _updated(planned, AddStatus.IDEMPOTENT, planned.stored.revision)
            if planned.needs_vector and (vector is None or planned.words != embedded):
                raise UnembeddedError
            changes = ChangeSet(transaction, self._context.conflict_limit)
            gather_update(self._context, changes, planned, vector if planned.needs_vector else None, author)
            ledger = changes.write()
        operation = transaction.stamp.operation_id
        return _updated(planned, AddStatus.UPDATED, planned.stored.revision + 1, ledger, operation)

    def _planned(
        self, snapshot: Snapshot, memory_id: str, payload: object, request: UpdateRequest | None
    ) -> PlannedUpdate:
        allowed = self._context.allowed_secrets
        planned = plan_update(snapshot, memory_id, payload, request, allowed_secrets=allowed)
        refuse_duplicate(snapshot, planned)
        return planned

    def _vector_for(self, planned: PlannedUpdate) -> Vector | None:
        """A vector where the words change; a new tag or quality needs none."""
        return self._context.embed([planned.form])[0] if planned.needs_vector else None

    def delete(self, memory_id: str, author: Author, note: str) -> DeleteResult:
        """Move a memory to the trash, with its edges. Raises ``memory_not_found``."""
        self._context.store.read(lambda snapshot: _row(snapshot, memory_id))
        with self._context.store.transaction(
            author, "delete", wait=self._context.lock_wait, note=note
        ) as transaction:
            row = _row(transaction.snapshot, memory_id)
            edges = transaction.snapshot.edges_of([memory_id])
            changes = ChangeSet(transaction, self._context.conflict_limit)
            changes.remove(row)
            ledger = changes.write()
            operation = transaction.stamp.operation_id
        return DeleteResult(memory_id, row["content"], operation, len(edges), len(ledger.closed))


def _updated(
    planned: PlannedUpdate,
    status: AddStatus,
    revision: int,
    ledger: LedgerChanges | None = None,
    operation: str = "",
) -> UpdateResult:
    return UpdateResult(
        status=status,
        memory_id=planned.stored.id,
        canonical_content=planned.form.content,
        replaced_content=planned.stored.content,
        revision=revision,
        operation_id=operation,
        updated_fields=planned.updated_fields,
        conflicts=open_conflicts_of(ledger, planned.stored.id) if ledger else (),
        normalized_fields=planned.request.normalized_fields,
        warnings=planned.request.warnings,
    )


def _row(snapshot: Snapshot, memory_id: str) -> Row:
    row = snapshot.full_rows([memory_id]).get(memory_id)
    if row is None:
        raise not_found(memory_id)
    return row
