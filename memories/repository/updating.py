"""Updating a memory, and moving one to the trash."""

from __future__ import annotations

from dataclasses import dataclass

from memories.contract import (
    ErrorCode,
    MemoryForm,
    MemsuiteError,
    UpdateRequest,
    validate_patch,
    validate_update,
)
from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.edges import Edge, edges_of_form
from memories.repository.engine import quoted
from memories.repository.ledger import LedgerChanges
from memories.repository.preflight import AddStatus
from memories.repository.records import Author, Row, StoredMemory, derived_columns, embedding_text
from memories.repository.results import DeleteResult, UpdateResult
from memories.repository.snapshot import Snapshot
from memories.repository.vectors import Vector
from memories.repository.write_context import (
    UnembeddedError,
    WriteContext,
    not_found,
    open_conflicts_of,
    refuse_unknown_targets,
    relations_of,
    retagged,
    stored_targets,
    tags_by_hand,
)
from memories.screening import refuse_secrets


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
        planned = self._context.store.read(lambda snapshot: _planned(snapshot, memory_id, payload, request))
        if planned.unchanged:
            return _updated(planned, AddStatus.IDEMPOTENT, planned.stored.revision)
        embedded, vector = planned.words, self._vector_for(planned)
        with self._context.store.transaction(author, "update", wait=self._context.lock_wait) as transaction:
            if vector is not None:
                self._context.require_identity(transaction.snapshot)
            if transaction.snapshot is not seen:
                planned = _planned(transaction.snapshot, memory_id, payload, request)
            if planned.unchanged:
                return _updated(planned, AddStatus.IDEMPOTENT, planned.stored.revision)
            if planned.needs_vector and (vector is None or planned.words != embedded):
                raise UnembeddedError
            changes = ChangeSet(transaction, self._context.conflict_limit)
            self._gather(changes, planned, vector if planned.needs_vector else None, author)
            ledger = changes.write()
        operation = transaction.stamp.operation_id
        return _updated(planned, AddStatus.UPDATED, planned.stored.revision + 1, ledger, operation)

    def _vector_for(self, planned: _Planned) -> Vector | None:
        """A vector where the words change; a new tag or quality needs none."""
        return self._context.embed([planned.form])[0] if planned.needs_vector else None

    def _gather(self, changes: ChangeSet, planned: _Planned, vector: Vector | None, author: Author) -> None:
        stored, form, asked = planned.stored, planned.form, planned.request
        moment = changes.transaction.stamp.at
        by_hand = stored.tags_manual or tags_by_hand(asked.given, author)
        named = form if asked.tags is not None else retagged(form, planned.before, by_hand)
        columns = derived_columns(named, tags_manual=by_hand)
        row = changes.current(stored.id) | columns | {"updated_at": moment}
        if vector is not None:
            row |= {"vector": vector, "embedding_id": str(self._context.embedder.identity)}
        edges: list[Edge] | None = None
        if asked.relations is not None:
            refuse_unknown_targets(form, stored_targets(changes.snapshot, [form]), stored.id)
            edges = edges_of_form(stored.id, form, moment)
        changes.replace(row, edges)

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


@dataclass(frozen=True)
class _Planned:
    """An update held against one state."""

    stored: StoredMemory
    before: MemoryForm
    form: MemoryForm
    request: UpdateRequest

    @property
    def words(self) -> str:
        """What would be embedded."""
        return embedding_text(self.form)

    @property
    def needs_vector(self) -> bool:
        return embedding_text(self.before) != self.words

    @property
    def unchanged(self) -> bool:
        return not self.updated_fields

    @property
    def updated_fields(self) -> tuple[str, ...]:
        names = ("domain", "subject", "facts", "tier", "category", "relations", "tags", "quality", "type")
        return tuple(name for name in names if getattr(self.before, name) != getattr(self.form, name))


def _planned(snapshot: Snapshot, memory_id: str, payload: object, request: UpdateRequest | None) -> _Planned:
    stored = snapshot.memories([memory_id]).get(memory_id)
    if stored is None:
        raise not_found(memory_id)
    before = stored.form(relations_of(snapshot, memory_id))
    asked = request if request is not None else validate_patch(payload, before)
    if asked.base_revision is not None and asked.base_revision != stored.revision:
        raise MemsuiteError(
            ErrorCode.VERSION_CONFLICT,
            "base_revision",
            "The memory has changed since it was read. Read it again, then update.",
            received=asked.base_revision,
            expected=stored.revision,
        )
    form = asked.form_over(before)
    refuse_secrets(form)
    _refuse_duplicate(snapshot, stored, form)
    return _Planned(stored, before, form, asked)


def _refuse_duplicate(snapshot: Snapshot, stored: StoredMemory, form: MemoryForm) -> None:
    fingerprint = form.fingerprint
    if fingerprint == stored.fingerprint:
        return
    where = f"fingerprint = {quoted(fingerprint)} AND id != {quoted(stored.id)}"
    for row in snapshot.rows(schema.MEMORIES, where, ["id"], 1):
        raise MemsuiteError(
            ErrorCode.DUPLICATE_MEMORY,
            "facts",
            "Another memory says exactly this already.",
            received=row["id"],
        )


def _updated(
    planned: _Planned,
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
