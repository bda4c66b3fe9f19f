"""The contradiction ledger: one row for each pair of memories of one subject and each claim key
on which they state different values. Closed by itself when the clash goes, by a person otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memories.contract import Clash, clashes
from memories.contract.claim_values import typed
from memories.repository.ids import new_id
from memories.repository.records import Row

if TYPE_CHECKING:
    from memories.repository.records import StoredMemory

OPEN, RESOLVED = "open", "resolved"
AUTO, HUMAN = "auto", "human"
KEEP_A, KEEP_B, BOTH_STAND, EDITED = "keep_a", "keep_b", "both_stand", "edited"
CLAIMS_CHANGED = "the claims no longer differ"
MEMORY_DELETED = "memory deleted"


@dataclass(frozen=True, slots=True)
class Conflict:
    """One ledger row. ``value_a`` and ``value_b`` are the values as they were written when the
    row was last touched; several values of one key are joined by "; "."""

    id: str
    conflict_key: str
    memory_a_id: str
    memory_b_id: str
    subject: str
    claim_key: str
    value_a: str
    value_b: str
    status: str
    resolution_type: str
    resolution: str
    resolution_note: str
    resolved_by: str
    created_at: datetime
    resolved_at: datetime | None
    archived_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    @property
    def is_human(self) -> bool:
        """A person decided: only a changed value may open it again."""
        return self.status == RESOLVED and self.resolution_type == HUMAN

    def says(self, value_a: str, value_b: str) -> bool:
        """Whether these are the values the row is about, each on its side."""
        return same_value(self.value_a, value_a) and same_value(self.value_b, value_b)

    def states(self, value_a: str, value_b: str) -> bool:
        """Whether these two values, in either order, are the ones the row is about."""
        return self.says(value_a, value_b) or self.says(value_b, value_a)

    def closed(self, at: datetime, note: str) -> Conflict:
        return replace(
            self,
            status=RESOLVED,
            resolution_type=AUTO,
            resolution="",
            resolution_note=note,
            resolved_by="system",
            resolved_at=at,
        )

    def decided(self, resolution: str, note: str, by: str, at: datetime, values: tuple[str, str]) -> Conflict:
        """As a person has decided; ``values`` are those that stand afterwards, of a and of b, so that
        the decision holds for just them."""
        return replace(
            self,
            status=RESOLVED,
            resolution_type=HUMAN,
            resolution=resolution,
            resolution_note=note,
            resolved_by=by,
            resolved_at=at,
            archived_at=None,
            value_a=values[0],
            value_b=values[1],
        )

    def reopened(self, subject: str, value_a: str, value_b: str) -> Conflict:
        return replace(
            self,
            subject=subject,
            status=OPEN,
            resolution_type="",
            resolution="",
            resolution_note="",
            resolved_by="",
            resolved_at=None,
            archived_at=None,
            value_a=value_a,
            value_b=value_b,
        )

    def as_row(self) -> Row:
        return {name: getattr(self, name) for name in Conflict.__slots__}


def conflict_of(row: Row) -> Conflict:
    return Conflict(**{name: row[name] for name in Conflict.__slots__})


def conflict_key(one: str, other: str, claim_key: str) -> str:
    """The same for a pair whichever memory comes first."""
    first, second = sorted((one, other))
    return hashlib.sha256(f"{first}\x1f{second}\x1f{claim_key}".encode()).hexdigest()


def accepted(clash: Clash, decisions: Iterable[Conflict]) -> bool:
    """Whether a person has let both values of this clash stand, for any pair of the subject."""
    return any(
        decision.resolution == BOTH_STAND
        and decision.claim_key == clash.key
        and decision.states(clash.value_a, clash.value_b)
        for decision in decisions
    )


@dataclass(frozen=True, slots=True)
class LedgerChanges:
    """Rows to write into the ledger; ``from_archive`` are the keys of those to take out of the
    archive, ``replaced`` the open and the decided rows as they stood before this change closed,
    decided or reopened them."""

    written: tuple[Conflict, ...]
    from_archive: tuple[str, ...]
    replaced: tuple[Conflict, ...]

    @property
    def closed(self) -> tuple[Conflict, ...]:
        """Open rows that this change has settled, as they stood."""
        settled = {row.conflict_key for row in self.written if not row.is_open}
        return tuple(row for row in self.replaced if row.is_open and row.conflict_key in settled)


def settle(
    changed: Sequence[StoredMemory],
    gone: Mapping[str, str],
    subjects: Mapping[str, Sequence[StoredMemory]],
    known: Sequence[Conflict],
    at: datetime,
    decided: Sequence[Conflict] = (),
) -> LedgerChanges:
    """The ledger after a change.

    ``changed`` are memories as they are now, ``gone`` maps ids no longer stored to the note that
    closes their rows, ``subjects`` holds all memories of each subject concerned as they are now,
    and ``known`` all ledger rows, archived ones too, about any memory named or its subject.
    ``decided`` are rows as a person leaves them, or as they stood before what is taken back; each
    counts as far as it fits what the memories say now.
    """
    by_key = {row.conflict_key: row for row in known}
    clashing = {
        conflict_key(other.id, memory.id, clash.key): (other, memory, clash)
        for memory in changed
        for other in subjects.get(memory.subject_key, ())
        if other.id != memory.id
        for clash in clashes(other.claims, memory.claims)
    }
    written: dict[str, Conflict] = {}
    for key, (other, memory, clash) in clashing.items():
        row = _standing(other, memory, clash, by_key.get(key), known, at)
        if row is not None:
            written[key] = row
    touched = {memory.id: CLAIMS_CHANGED for memory in changed} | dict(gone)
    closed = [
        row for row in known if row.is_open and row.conflict_key not in clashing and _note(row, touched)
    ]
    for row in closed:
        written[row.conflict_key] = row.closed(at, _note(row, touched))
    for row in decided:
        key = row.conflict_key
        fitting = _fitting(row, clashing.get(key))
        if key in by_key and fitting is not None:
            written[key] = fitting
    archived = tuple(key for key in written if (row := by_key.get(key)) and row.archived_at is not None)
    stood = (by_key[key] for key in written if key in by_key)
    replaced = tuple(row for row in stood if row.is_open or row.is_human)
    return LedgerChanges(tuple(written.values()), archived, replaced)


def _standing(
    other: StoredMemory,
    memory: StoredMemory,
    clash: Clash,
    row: Conflict | None,
    known: Sequence[Conflict],
    at: datetime,
) -> Conflict | None:
    """The row this clash needs written, if any. Side a of ``clash`` is ``other``."""
    if row is None:
        return None if accepted(clash, known) else _opened(other, memory, clash, at)
    values = _sides(row, other, clash)
    if (row.is_open or row.is_human) and row.says(*values):
        return None
    return row.reopened(memory.subject_key, *values)


def _fitting(row: Conflict, clashing: tuple[StoredMemory, StoredMemory, Clash] | None) -> Conflict | None:
    """A row as it was left, held against what the memories say; None where that contradicts it: an
    open row without a clash, or a decision about other values."""
    if clashing is None:
        return None if row.is_open else row
    values = _sides(row, clashing[0], clashing[2])
    if row.is_open:
        return row.reopened(clashing[1].subject_key, *values)
    return row if row.says(*values) else None


def _sides(row: Conflict, other: StoredMemory, clash: Clash) -> tuple[str, str]:
    """The values of a clash in the order of the row's memories. Side a of ``clash`` is ``other``."""
    if row.memory_a_id == other.id:
        return clash.value_a, clash.value_b
    return clash.value_b, clash.value_a


def _opened(other: StoredMemory, memory: StoredMemory, clash: Clash, at: datetime) -> Conflict:
    return Conflict(
        id=new_id(),
        conflict_key=conflict_key(other.id, memory.id, clash.key),
        memory_a_id=other.id,
        memory_b_id=memory.id,
        subject=memory.subject_key,
        claim_key=clash.key,
        value_a=clash.value_a,
        value_b=clash.value_b,
        status=OPEN,
        resolution_type="",
        resolution="",
        resolution_note="",
        resolved_by="",
        created_at=at,
        resolved_at=None,
        archived_at=None,
    )


def _note(row: Conflict, touched: Mapping[str, str]) -> str:
    """Why the change closes this row; "" when it does not concern it. A deletion says more."""
    notes = [touched[side] for side in (row.memory_a_id, row.memory_b_id) if side in touched]
    return next((note for note in notes if note != CLAIMS_CHANGED), notes[0] if notes else "")


def same_value(one: str, other: str) -> bool:
    """Whether two values as written mean the same."""
    return typed(one, quoted=True)[2] == typed(other, quoted=True)[2]


def overflow(resolved: Sequence[Conflict], limit: int) -> list[Conflict]:
    """The oldest resolved rows beyond the ones the ledger keeps at hand."""
    beyond = len(resolved) - limit
    if beyond <= 0:
        return []
    oldest = sorted(resolved, key=lambda row: (row.resolved_at or row.created_at, row.conflict_key))
    return oldest[:beyond]
