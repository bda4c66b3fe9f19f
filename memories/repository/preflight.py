"""What an add meets: decided once before the embedding, and again under the lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memories.contract import Clash, ErrorCode, MemoryForm, MemsuiteError, WriteMode, clashes
from memories.repository.engine import quoted
from memories.repository.ledger import BOTH_STAND, Conflict, accepted, conflict_of
from memories.repository.records import StoredMemory
from memories.repository.schema import ARCHIVE, CONFLICTS
from memories.repository.snapshot import Snapshot


class AddStatus(StrEnum):
    """The outcomes of an add that are not errors."""

    CREATED = "created"
    UPDATED = "updated"
    IDEMPOTENT = "idempotent"
    UPDATE_SUGGESTED = "update_suggested"

    @property
    def success(self) -> bool:
        """Whether the memory is stored now in the words that were given."""
        return self is not AddStatus.UPDATE_SUGGESTED

    @property
    def writes(self) -> bool:
        return self in (AddStatus.CREATED, AddStatus.UPDATED)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with an add; ``existing`` is the memory it meets, ``candidates`` the ids of all
    of its subject."""

    status: AddStatus
    existing: StoredMemory | None = None
    candidates: tuple[str, ...] = ()


def decide(
    form: MemoryForm,
    mode: WriteMode,
    same_subject: Sequence[StoredMemory],
    decisions: Sequence[Conflict] = (),
) -> Decision:
    """Apply the table "Results of an add" of the contract to what is stored.

    ``decisions`` are the resolutions of this subject by which a person let two values stand.
    Raises ``conflicting_claims`` and ``ambiguous_subject``.
    """
    exact = next((memory for memory in same_subject if memory.fingerprint == form.fingerprint), None)
    if exact is not None:
        return Decision(AddStatus.IDEMPOTENT, exact)
    _refuse_clashes(form, same_subject, decisions)
    if not same_subject:
        return Decision(AddStatus.CREATED)
    ids = tuple(memory.id for memory in same_subject)
    if mode is WriteMode.CREATE:
        return Decision(AddStatus.UPDATE_SUGGESTED, _best_match(form, same_subject), ids)
    if len(same_subject) > 1:
        raise MemsuiteError(
            ErrorCode.AMBIGUOUS_SUBJECT,
            "subject",
            f"{len(ids)} memories have this subject; update one of them by its id.",
            received=list(ids),
        )
    return Decision(AddStatus.UPDATED, same_subject[0], ids)


def standing_decisions(snapshot: Snapshot, subject_keys: Sequence[str]) -> list[Conflict]:
    """The "both stand" resolutions of some subjects, archived ones too."""
    listed = ", ".join(quoted(key) for key in subject_keys)
    where = f"resolution = {quoted(BOTH_STAND)} AND subject IN ({listed})"
    return [conflict_of(row) for table in (CONFLICTS, ARCHIVE) for row in snapshot.rows(table, where)]


def _refuse_clashes(
    form: MemoryForm, same_subject: Sequence[StoredMemory], decisions: Sequence[Conflict]
) -> None:
    found = [
        (memory, clash)
        for memory in same_subject
        for clash in clashes(memory.claims, form.claims)
        if not accepted(clash, decisions)
    ]
    if found:
        raise MemsuiteError(
            ErrorCode.CONFLICTING_CLAIMS,
            "facts",
            "The same subject is stored with other values. Nothing was written. Update that memory "
            "if it is out of date, or leave it to a person to decide.",
            received=[_clash_answer(memory, clash) for memory, clash in found],
        )


def _clash_answer(memory: StoredMemory, clash: Clash) -> dict[str, str]:
    return {
        "memory_id": memory.id,
        "claim_key": clash.key,
        "existing": clash.value_a,
        "received": clash.value_b,
    }


def _best_match(form: MemoryForm, same_subject: Sequence[StoredMemory]) -> StoredMemory:
    """Most shared claims, then the newest."""
    stated = {(claim.key, claim.normal) for claim in form.claims}

    def rank(memory: StoredMemory) -> tuple[int, int, str]:
        shared = sum((claim.key, claim.normal) in stated for claim in memory.claims)
        return shared, memory.generation, memory.id

    return max(same_subject, key=rank)
