"""Adding memories: validate, screen, preflight, embed, lock, preflight again, commit. The lock is
never held while something is embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories.contract import AddRequest, ErrorCode, MemoryForm, MemsuiteError, validate_add
from memories.repository.changes import ChangeSet
from memories.repository.edges import edges_of_form
from memories.repository.ids import new_id
from memories.repository.ledger import LedgerChanges
from memories.repository.preflight import AddStatus, Decision, decide, standing_decisions
from memories.repository.records import Author, Row, StoredMemory, derived_columns, memory_of
from memories.repository.results import AddResult
from memories.repository.snapshot import Snapshot
from memories.repository.vectors import Vector
from memories.repository.write_context import (
    UnembeddedError,
    WriteContext,
    open_conflicts_of,
    refuse_unknown_targets,
    retagged,
    stored_targets,
    tags_by_hand,
)
from memories.screening import refuse_secrets

LESSON = "lesson"
"""Source of what a person made of a lesson."""


@dataclass
class _Item:
    """One add on its way."""

    request: AddRequest
    decision: Decision | None = None
    error: MemsuiteError | None = None
    vector: Vector | None = None
    needed_vector: bool = False
    at: datetime | None = None
    columns: Row | None = None
    """What follows from the form, worked out before the lock is taken."""

    @property
    def form(self) -> MemoryForm:
        return self.request.form

    @property
    def writes(self) -> bool:
        return self.error is None and self.decision is not None and self.decision.status.writes


class Adder:
    """The adds of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def add_many(
        self, payloads: Sequence[object], author: Author, *, at: Sequence[datetime | None] | None = None
    ) -> list[AddResult | MemsuiteError]:
        """Add memories in one commit. Each gets its result or the error that refused it; what
        concerns all of them (the lock, the disk, the embedder) is raised and nothing is written."""
        moments = at or [None] * len(payloads)
        allowed = self._context.allowed_secrets
        items = [_item(payload, moment, allowed) for payload, moment in zip(payloads, moments, strict=True)]
        good = [item for item in items if isinstance(item, _Item)]
        results = iter(self._context.again(lambda: self._add(good, author)))
        return [next(results) if isinstance(item, _Item) else item for item in items]

    def _add(self, items: list[_Item], author: Author) -> list[AddResult | MemsuiteError]:
        context = self._context
        context.store.read(lambda snapshot: self._preflight(snapshot, items))
        if not any(item.writes for item in items):
            return [self._unwritten(item) for item in items]
        self._embed(items)
        for item in items:
            if item.vector is not None and item.columns is None:
                by_hand = tags_by_hand(item.request.given, author)
                item.columns = derived_columns(item.form, tags_manual=by_hand)
        identity = context.embedder.identity
        with context.store.transaction(
            author, "add", identity=identity, wait=context.lock_wait
        ) as transaction:
            context.require_identity(transaction.snapshot)
            changes = ChangeSet(transaction, context.conflict_limit)
            rows = self._decide_and_gather(changes, items, author)
            ledger = changes.write()
        operation = transaction.stamp.operation_id
        return [self._added(item, rows, ledger, operation) for item in items]

    def _embed(self, items: Sequence[_Item]) -> None:
        """Vectors for what is to be written; on a second try, for whatever has none yet."""
        needing = [item for item in items if item.vector is None and (item.writes or item.needed_vector)]
        vectors = self._context.embed([item.form for item in needing])
        for item, vector in zip(needing, vectors, strict=True):
            item.vector = vector

    def _preflight(self, snapshot: Snapshot, items: Sequence[_Item]) -> None:
        subjects = _Subjects(snapshot, [item.form.subject_key for item in items])
        for item in items:
            subjects.decide(item)

    def _decide_and_gather(
        self, changes: ChangeSet, items: Sequence[_Item], author: Author
    ) -> dict[int, Row]:
        """Decide each item again, on the locked state and on what the items before it made of it;
        returns the rows written, by the identity of their item."""
        subjects = _Subjects(changes.snapshot, [item.form.subject_key for item in items])
        known = stored_targets(changes.snapshot, [item.form for item in items])
        rows: dict[int, Row] = {}
        for item in items:
            subjects.decide(item)
            if not item.writes:
                continue
            if item.vector is None:
                item.needed_vector = True
                raise UnembeddedError
            try:
                rows[id(item)] = self._gather(changes, item, author, known)
            except MemsuiteError as error:
                item.error = error
                continue
            subjects.take(memory_of(rows[id(item)] | _UNSTAMPED))
        return rows

    def _gather(self, changes: ChangeSet, item: _Item, author: Author, known: frozenset[str]) -> Row:
        """The row an item becomes, put into the operation."""
        assert item.decision is not None
        moment = item.at or changes.transaction.stamp.at
        vector = {"vector": item.vector, "embedding_id": str(self._context.embedder.identity)}
        existing = item.decision.existing
        if existing is None:
            row = _new_row(item, author, moment) | vector
            refuse_unknown_targets(item.form, known, row["id"])
            changes.create(row, edges_of_form(row["id"], item.form, moment))
            return row
        form, row = _upserted(changes, item.request, existing, moment)
        refuse_unknown_targets(form, known | stored_targets(changes.snapshot, [form]), existing.id)
        changes.replace(row | vector, edges_of_form(existing.id, form, moment))
        return row | vector

    def _unwritten(self, item: _Item) -> AddResult | MemsuiteError:
        if item.error is not None:
            return item.error
        decision = item.decision
        assert decision is not None and decision.existing is not None
        if decision.status is AddStatus.IDEMPOTENT:
            self._context.usage.record_confirmation(decision.existing.id)
        suggested = decision.status is AddStatus.UPDATE_SUGGESTED
        return AddResult(
            status=decision.status,
            memory_id=decision.existing.id,
            canonical_content=item.form.content,
            existing_content=decision.existing.content if suggested else "",
            candidates=decision.candidates,
            normalized_fields=item.request.normalized_fields,
            warnings=item.request.warnings,
        )

    def _added(
        self, item: _Item, rows: Mapping[int, Row], ledger: LedgerChanges, operation: str
    ) -> AddResult | MemsuiteError:
        if not item.writes:
            return self._unwritten(item)
        row, decision = rows[id(item)], item.decision
        assert decision is not None
        return AddResult(
            status=decision.status,
            memory_id=row["id"],
            canonical_content=row["content"],
            operation_id=operation,
            replaced_content=decision.existing.content if decision.existing else "",
            conflicts=open_conflicts_of(ledger, row["id"]),
            normalized_fields=item.request.normalized_fields,
            warnings=item.request.warnings,
        )


_UNSTAMPED = {"revision": 0, "operation_id": "", "generation": 0}
"""Stand-ins for what a row gets only when its operation is written."""


class _Subjects:
    """The memories of the subjects of a batch, as its items change them one after the other."""

    def __init__(self, snapshot: Snapshot, keys: Sequence[str]) -> None:
        self._snapshot = snapshot
        self._memories = snapshot.same_subject(keys)

    def decide(self, item: _Item) -> None:
        key = item.form.subject_key
        memories = self._memories.get(key, [])
        item.error, item.decision = None, None
        try:
            try:
                item.decision = decide(item.form, item.request.write_mode, memories)
            except MemsuiteError as error:
                if error.code is not ErrorCode.CONFLICTING_CLAIMS:
                    raise
                # Rare, so only now: has a person let these two values stand?
                decisions = standing_decisions(self._snapshot, [key])
                item.decision = decide(item.form, item.request.write_mode, memories, decisions)
        except MemsuiteError as error:
            item.error = error

    def take(self, memory: StoredMemory) -> None:
        """A memory of this batch as it will be stored."""
        others = [other for other in self._memories.get(memory.subject_key, []) if other.id != memory.id]
        self._memories[memory.subject_key] = [*others, memory]


def _item(payload: object, at: datetime | None, allowed: tuple[str, ...]) -> _Item | MemsuiteError:
    try:
        request = validate_add(payload)
        refuse_secrets(request.form, allowed=allowed)
    except MemsuiteError as error:
        return error
    return _Item(request, at=at)


def _upserted(
    changes: ChangeSet, request: AddRequest, existing: StoredMemory, moment: datetime
) -> tuple[MemoryForm, Row]:
    """The form and the row of a memory that an add updates."""
    before = existing.form(changes.relations_of(existing.id))
    form = _over(request, before)
    named = retagged(form, before, existing.tags_manual)
    columns = derived_columns(named, tags_manual=existing.tags_manual)
    return form, changes.current(existing.id) | columns | {"updated_at": moment}


def _over(request: AddRequest, stored: MemoryForm) -> MemoryForm:
    """The form of an upsert: what the add left out is kept as it is stored."""
    kept = {
        name: getattr(stored, name) for name in ("relations", "tags", "quality") if name not in request.given
    }
    if "type" not in request.given and stored.type != stored.category:
        kept["type"] = stored.type
    return replace(request.form, **kept)


def _new_row(item: _Item, author: Author, moment: datetime) -> Row:
    assert item.columns is not None
    return item.columns | {
        "id": new_id(),
        "source": author.source,
        "session_id": author.session_id,
        "user_id": author.user_id,
        "platform": author.platform,
        "created_at": moment,
        "updated_at": moment,
        "reviewed_at": None,
        # A lesson becomes a memory only by the hand of the person who approves it.
        "approved_by": author.actor if author.source == LESSON else "",
    }
