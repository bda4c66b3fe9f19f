"""A conflict as a person decides it: both sides with where they come from, and what each choice would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.console.fact_diff import fact_changes
from memories.console.parts import FactChange
from memories.contract.claims import restated
from memories.repository import Conflict, MemoryRepository, Snapshot, StoredMemory, Usage, schema
from memories.repository.engine import ROWS_UNLIMITED, quoted
from memories.repository.revisions import Revision

MOST_REVISIONS = 50
STATES = ("open", "resolved", "archived")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two memories; ``memory`` is None where it is no longer stored. ``since`` is when it came to
    state its value, ``revision`` the state of it that did so first."""

    letter: str
    memory_id: str
    memory: StoredMemory | None
    value: str
    kind: str
    since: datetime | None
    revision: int
    usage: Usage

    @property
    def name(self) -> str:
        return f"{self.memory.domain}:{self.memory.subject}" if self.memory else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What keeping one side's value makes of the other memory. Without ``changes`` the value cannot be put
    into its words, and only superseding is left."""

    kept: Side
    lost: Side
    changes: tuple[FactChange, ...]
    says: str

    @property
    def can_correct(self) -> bool:
        return bool(self.changes)


@dataclass(frozen=True, slots=True)
class ConflictView:
    conflict: Conflict
    a: Side
    b: Side
    state: str

    @property
    def heading(self) -> str:
        return f"2 memories disagree about {self.conflict.claim_key}"

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.a, self.b

    @property
    def is_whole(self) -> bool:
        """Whether both memories are still stored."""
        return self.a.memory is not None and self.b.memory is not None

    @property
    def keep_a(self) -> Outcome | None:
        return _outcome(self.conflict.claim_key, self.a, self.b)

    @property
    def keep_b(self) -> Outcome | None:
        return _outcome(self.conflict.claim_key, self.b, self.a)


def conflict_view(store: MemoryRepository, conflict: Conflict) -> ConflictView:
    ids = (conflict.memory_a_id, conflict.memory_b_id)
    memories = store.read(lambda snapshot: snapshot.memories(ids))
    usage = store.usage.of(ids)
    values = (conflict.value_a, conflict.value_b)
    sides = [
        _side(store, letter, name, memories.get(name), value, conflict.claim_key, usage.get(name, Usage()))
        for letter, name, value in zip("AB", ids, values, strict=True)
    ]
    return ConflictView(conflict, sides[0], sides[1], state_of(conflict))


def state_of(conflict: Conflict) -> str:
    """The list that a conflict stands in."""
    return "archived" if conflict.archived_at is not None else conflict.status


def listed(store: MemoryRepository, state: str, memory_id: str = "") -> list[Conflict]:
    """All conflicts of one state, newest first."""
    return store.conflicts(status=state, memory_id=memory_id, limit=ROWS_UNLIMITED)


def counted(store: MemoryRepository, memory_id: str = "") -> dict[str, int]:
    """How many conflicts are in each state; of one memory where it is named."""
    side = quoted(memory_id)
    mine = f"(memory_a_id = {side} OR memory_b_id = {side})" if memory_id else ""

    def count(snapshot: Snapshot) -> dict[str, int]:
        of_state = {
            state: " AND ".join(filter(None, [f"status = {quoted(state)}", mine])) for state in STATES[:2]
        }
        found = {state: snapshot.row_count(schema.CONFLICTS, where) for state, where in of_state.items()}
        return found | {STATES[2]: snapshot.row_count(schema.ARCHIVE, mine)}

    return store.read(count)


def _side(
    store: MemoryRepository,
    letter: str,
    name: str,
    memory: StoredMemory | None,
    written: str,
    key: str,
    usage: Usage,
) -> Side:
    if memory is None:
        return Side(letter, name, None, written, "", None, 0, usage)
    claims = [claim for claim in memory.claims if claim.key == key]
    value = "; ".join(claim.value for claim in claims) or written
    kind = str(claims[0].kind) if claims else ""
    since, revision = _stated_since(memory, key, store.revisions(name, limit=MOST_REVISIONS))
    return Side(letter, name, memory, value, kind, since, revision, usage)


def _stated_since(memory: StoredMemory, key: str, revisions: Sequence[Revision]) -> tuple[datetime, int]:
    """When the memory came to state its value of the key, and in which of its revisions."""
    now = {claim.normal for claim in memory.claims if claim.key == key}
    since, number = memory.created_at, 1
    for revision in revisions:
        row = revision.memory()
        if row is None:
            return revision.at, revision.revision + 1
        before = {claim["normal"] for claim in row["claims"] or () if claim["key"] == key}
        if before != now:
            return revision.at, revision.revision + 1
        number = revision.revision
    return since, number if revisions else memory.revision


def _outcome(key: str, kept: Side, lost: Side) -> Outcome | None:
    if kept.memory is None or lost.memory is None:
        return None
    value = next((claim.value for claim in kept.memory.claims if claim.key == key), "")
    facts = restated(lost.memory.facts, key, value) if value else None
    if facts is None:
        return Outcome(kept, lost, (), "The value does not fit the other's words")
    places = [
        str(at + 1) for at, pair in enumerate(zip(lost.memory.facts, facts, strict=True)) if len({*pair}) > 1
    ]
    noun, verb = ("Fact", "becomes") if len(places) == 1 else ("Facts", "become")
    says = f"{noun} {' and '.join(places)} of {lost.letter} {verb} {key}={value}"
    return Outcome(kept, lost, fact_changes(lost.memory.facts, facts), says)
