"""What a person decides about a conflict: the ledger row and the memories it concerns, in one operation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from memories.contract import Claim, ErrorCode, MemoryForm, MemsuiteError, clashes
from memories.contract.claims import restated
from memories.repository import ledger, schema
from memories.repository.changes import ChangeSet
from memories.repository.engine import quoted
from memories.repository.ledger import Conflict, LedgerChanges, conflict_of
from memories.repository.planning import (
    PlannedUpdate,
    gather_update,
    plan_update,
    refuse_duplicate,
    version_conflict,
)
from memories.repository.records import Author, StoredMemory
from memories.repository.relations import Superseding
from memories.repository.results import ResolutionResult
from memories.repository.snapshot import Snapshot
from memories.repository.transaction import Transaction
from memories.repository.vectors import Vector
from memories.repository.write_context import UnembeddedError, WriteContext, not_found

Choice = TypeVar("Choice", bound=StrEnum)


class Resolution(StrEnum):
    KEEP_A = ledger.KEEP_A
    KEEP_B = ledger.KEEP_B
    BOTH_STAND = ledger.BOTH_STAND
    EDITED = ledger.EDITED


class Loser(StrEnum):
    """What becomes of the memory whose value is not kept."""

    CORRECTED = "corrected"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Decision:
    """How a conflict is resolved. ``edits`` are patches by side (``a``, ``b``) for an edited one,
    ``revisions`` those a person saw, by memory id; where given, a memory changed since refuses it."""

    resolution: Resolution
    note: str
    loser: Loser = Loser.CORRECTED
    edits: Mapping[str, object] = field(default_factory=dict)
    revisions: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        resolution: object,
        note: object,
        *,
        loser: object = Loser.CORRECTED,
        edits: Mapping[str, object] | None = None,
        revisions: Mapping[str, int] | None = None,
    ) -> Decision:
        """Check what a door was given. Raises ``required_field`` without a note, ``invalid_parameter``."""
        kind, fate = _one_of(Resolution, "resolution", resolution), _one_of(Loser, "loser", loser)
        edits = dict(edits or {})
        if bool(edits) != (kind is Resolution.EDITED) or not edits.keys() <= {"a", "b"}:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER,
                "edits",
                "An edited resolution, and no other, comes with a patch for side a, side b or both.",
                received=sorted(edits),
            )
        return cls(kind, required_note(note), fate, edits, dict(revisions or {}))

    @property
    def kept(self) -> str:
        """The side whose value stays; "" where no side loses."""
        return {Resolution.KEEP_A: "a", Resolution.KEEP_B: "b"}.get(self.resolution, "")


class Resolver:
    """The decisions about the conflicts of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def resolve(self, conflict_id: str, decision: Decision, author: Author) -> ResolutionResult:
        """Raises ``conflict_not_found``, ``conflict_not_open``, ``version_conflict``,
        ``conflicting_claims`` where the memories would disagree all the same, ``duplicate_memory``
        where the corrected one would only repeat the other, and what the contract refuses."""
        return self._context.again(lambda: self._resolve(conflict_id, decision, author))

    def _resolve(self, conflict_id: str, decision: Decision, author: Author) -> ResolutionResult:
        context = self._context
        seen = context.store.snapshot()
        plan = context.store.read(
            lambda snapshot: _planned(snapshot, conflict_id, decision, context.allowed_secrets)
        )
        vectors = self._vectors(plan)
        with context.store.transaction(
            author, "resolve_conflict", wait=context.lock_wait, note=decision.note
        ) as transaction:
            if vectors:
                context.require_identity(transaction.snapshot)
            if transaction.snapshot is not seen:
                plan = _planned(transaction.snapshot, conflict_id, decision, context.allowed_secrets)
            changes = ChangeSet(transaction, context.conflict_limit)
            for planned in plan.updates.values():
                vector = vectors.get(planned.words)
                if planned.needs_vector and vector is None:
                    raise UnembeddedError
                gather_update(context, changes, planned, vector if planned.needs_vector else None, author)
            _touch(changes, plan)
            changes.decide(_decided(plan, decision, author, transaction))
            written = changes.write()
        return _result(plan.conflict, written, transaction)

    def _vectors(self, plan: _Plan) -> dict[str, Vector]:
        """New vectors by the words they belong to."""
        needing = [planned for planned in plan.updates.values() if planned.needs_vector]
        if not needing:
            return {}
        vectors = self._context.embed([planned.form for planned in needing])
        return {planned.words: vector for planned, vector in zip(needing, vectors, strict=True)}

    def reopen(self, conflict_id: str, author: Author, note: str) -> ResolutionResult:
        """Take a decision back. Raises ``conflict_not_found``, and ``invalid_parameter`` for a conflict
        that is open, or whose memories no longer disagree."""
        context = self._context
        with context.store.transaction(
            author, "reopen_conflict", wait=context.lock_wait, note=required_note(note)
        ) as transaction:
            conflict = _conflict(transaction.snapshot, conflict_id)
            if conflict.is_open:
                raise _not_reopened("This conflict is open.")
            sides = _sides(transaction.snapshot, conflict)
            plan = _Plan(conflict, sides, {}, "")
            if plan.clash is None:
                raise _not_reopened("The two memories no longer disagree.")
            changes = ChangeSet(transaction, context.conflict_limit)
            _touch(changes, plan)
            changes.decide(conflict.reopened(sides[0].subject_key, *plan.clash))
            written = changes.write()
        return _result(conflict, written, transaction)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A decision held against one state. ``updates`` are the new forms by side; ``superseded`` is the
    side that the other one comes to supersede, "" where none does."""

    conflict: Conflict
    memories: tuple[StoredMemory, StoredMemory]
    updates: Mapping[str, PlannedUpdate]
    superseded: str

    @property
    def clash(self) -> tuple[str, str] | None:
        """The values on which the two disagree afterwards, None where they do not."""
        a, b = self._after("a"), self._after("b")
        if a.subject_key != b.subject_key:
            return None
        key = self.conflict.claim_key
        return next(
            ((found.value_a, found.value_b) for found in clashes(a.claims, b.claims) if found.key == key),
            None,
        )

    @property
    def values(self) -> tuple[str, str]:
        """What the two sides state of the key afterwards; "" where one states it no longer."""
        key = self.conflict.claim_key
        return self.clash or (_stated(self._after("a").claims, key), _stated(self._after("b").claims, key))

    def _after(self, side: str) -> MemoryForm | StoredMemory:
        return self.updates[side].form if side in self.updates else self.memories["ab".index(side)]


def _planned(
    snapshot: Snapshot, conflict_id: str, decision: Decision, allowed_secrets: Collection[str]
) -> _Plan:
    conflict = _conflict(snapshot, conflict_id)
    if not conflict.is_open:
        raise MemsuiteError(
            ErrorCode.CONFLICT_NOT_OPEN,
            "conflict_id",
            "This conflict is resolved. Reopen it to decide anew.",
            received=conflict_id,
        )
    memories = _sides(snapshot, conflict)
    for memory in memories:
        seen = decision.revisions.get(memory.id, memory.revision)
        if seen != memory.revision:
            raise version_conflict(f"revisions.{memory.id}", seen, memory.revision)
    superseded = "ba"["ab".index(decision.kept)] if decision.kept else ""
    if superseded and decision.loser is Loser.SUPERSEDED:
        return _Plan(conflict, memories, {}, superseded)
    edits = {superseded: _correction(conflict, memories, superseded)} if superseded else decision.edits
    plan = _Plan(conflict, memories, _updates(snapshot, memories, edits, allowed_secrets), "")
    if edits:
        _require_agreement(plan)
    return plan


def _updates(
    snapshot: Snapshot,
    memories: tuple[StoredMemory, StoredMemory],
    edits: Mapping[str, object],
    allowed_secrets: Collection[str],
) -> dict[str, PlannedUpdate]:
    updates = {
        side: plan_update(snapshot, memories["ab".index(side)].id, payload, allowed_secrets=allowed_secrets)
        for side, payload in edits.items()
    }
    leaving = [planned.stored.id for planned in updates.values()]
    for planned in updates.values():
        refuse_duplicate(snapshot, planned, leaving)
    if len({planned.form.fingerprint for planned in updates.values()}) < len(updates):
        raise MemsuiteError(
            ErrorCode.DUPLICATE_MEMORY, "edits", "Both memories would say the same. Merge them instead."
        )
    return updates


def _correction(conflict: Conflict, memories: tuple[StoredMemory, StoredMemory], loser: str) -> object:
    """The patch by which the loser states the kept value."""
    lost, kept = memories["ab".index(loser)], memories["ba".index(loser)]
    value = next(claim.value for claim in kept.claims if claim.key == conflict.claim_key)
    facts = restated(lost.facts, conflict.claim_key, value)
    if facts is None:
        raise MemsuiteError(
            ErrorCode.CONFLICTING_CLAIMS,
            "loser",
            "The value cannot be put into the other memory's words by itself. Edit its fact, or let the "
            "memory be superseded.",
            received=conflict.claim_key,
        )
    return {"facts": list(facts)}


def _require_agreement(plan: _Plan) -> None:
    if plan.clash is not None:
        values = {"existing": plan.clash[0], "received": plan.clash[1]}
        raise MemsuiteError(
            ErrorCode.CONFLICTING_CLAIMS,
            "edits",
            "The two memories would still disagree. Where both are right, let both stand.",
            received=[{"claim_key": plan.conflict.claim_key} | values],
        )


def _touch(changes: ChangeSet, plan: _Plan) -> None:
    """Both memories get the decision into their history, also where none of their values changes."""
    rows = changes.load([memory.id for memory in plan.memories])
    for side, memory in zip("ab", plan.memories, strict=True):
        if side not in plan.updates:
            changes.replace(rows[memory.id], None)
    if plan.superseded:
        lost, kept = (plan.memories[order.index(plan.superseded)].id for order in ("ab", "ba"))
        superseding = Superseding.by(changes, rows[kept])
        if not superseding.already(lost):
            superseding.add(lost)
            superseding.write()


def _decided(plan: _Plan, decision: Decision, author: Author, transaction: Transaction) -> Conflict:
    at = transaction.stamp.at
    return plan.conflict.decided(str(decision.resolution), decision.note, author.actor, at, plan.values)


def _result(conflict: Conflict, written: LedgerChanges, transaction: Transaction) -> ResolutionResult:
    after = {row.id: row for row in written.written}
    others = (row for row in written.written if row.is_open and row.id != conflict.id)
    return ResolutionResult(
        conflict=after[conflict.id],
        operation_id=transaction.stamp.operation_id,
        changed=(conflict.memory_a_id, conflict.memory_b_id),
        conflicts=tuple(others),
    )


def _conflict(snapshot: Snapshot, conflict_id: str) -> Conflict:
    for table in (schema.CONFLICTS, schema.ARCHIVE):
        for row in snapshot.rows(table, f"id = {quoted(conflict_id)}"):
            return conflict_of(row)
    raise MemsuiteError(
        ErrorCode.CONFLICT_NOT_FOUND, "conflict_id", "No conflict has this id.", received=conflict_id
    )


def _sides(snapshot: Snapshot, conflict: Conflict) -> tuple[StoredMemory, StoredMemory]:
    found = snapshot.memories([conflict.memory_a_id, conflict.memory_b_id])
    for name in (conflict.memory_a_id, conflict.memory_b_id):
        if name not in found:
            raise not_found(name)
    return found[conflict.memory_a_id], found[conflict.memory_b_id]


def _stated(claims: Sequence[Claim], key: str) -> str:
    return "; ".join(claim.value for claim in claims if claim.key == key)


def required_note(note: object) -> str:
    """Raises ``required_field``: a decision without its reason helps nobody later."""
    if not isinstance(note, str) or not note.strip():
        raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "note", "A reason is required.")
    return note.strip()


def _not_reopened(message: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, "conflict_id", message)


def _one_of(kind: type[Choice], name: str, value: object) -> Choice:
    try:
        return kind(str(value))
    except ValueError as error:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            name,
            "There is no such choice.",
            received=value,
            expected=[str(known) for known in kind],
        ) from error
