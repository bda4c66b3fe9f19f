"""A memory's history as its reader sees it: what each change made of it, fact by fact."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.console.fact_diff import fact_changes
from memories.console.memory_form import Draft, DraftRelation, draft_of, stored_draft
from memories.console.parts import FactChange
from memories.repository.results import MemoryDetail
from memories.repository.revisions import Revision

DONE = {
    "add": "created",
    "update": "updated",
    "delete": "moved to the trash",
    "restore": "restored",
    "undo": "undone",
    "mark_reviewed": "marked as reviewed",
    "add_tags": "tagged",
    "remove_tags": "untagged",
    "merge_tags": "retagged",
    "set_category": "category set",
    "set_type": "type set",
    "set_tier": "tier set",
    "set_quality": "quality set",
    "trash": "moved to the trash",
    "supersede": "superseding declared",
}
"""Operations in the words of a history; another one is shown by its name."""

PLAIN = ("domain", "subject", "tier", "category", "type", "quality")


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A field that changed: ``before`` and ``after`` as they are shown, "" for none."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change. ``revision`` numbers the state it made (0 for none), ``can_restore`` tells whether
    that state is kept and is not the present one."""

    revision: int
    did: str
    by: str
    at: datetime
    note: str
    facts: tuple[FactChange, ...]
    values: tuple[ValueChange, ...]
    can_restore: bool
    is_present: bool


@dataclass(frozen=True, slots=True)
class _State:
    """The memory between two changes; None where it was not stored."""

    draft: Draft | None
    created: Mapping[str, Any]


def history_of(detail: MemoryDetail, revisions: Sequence[Revision]) -> list[HistoryEntry]:
    """The entries newest first, from what each operation replaced (``revisions``, newest first)."""
    memory = detail.memory
    states = [_State(stored_draft(detail), _origin(memory))] + [_state(revision) for revision in revisions]
    entries = [
        _entry(revision, states[at], states[at + 1], present=at == 0) for at, revision in enumerate(revisions)
    ]
    oldest = states[-1]
    # A first revision replaced nothing, so that no operation tells of it: the memory itself does.
    if oldest.draft is not None and oldest.draft.base_revision == "1":
        entries.append(_birth(oldest, present=not revisions))
    return entries


def draft_at(revisions: Sequence[Revision], number: str) -> Draft | None:
    """The form of a memory at an earlier revision, None where it is not kept."""
    for revision in revisions:
        if revision.revision > 0 and str(revision.revision) == number:
            return _state(revision).draft
    return None


def who(actor: str, session_id: str = "") -> str:
    """``agent, session b71e``; ``ingrid, console``; the name of an import."""
    door, _, name = actor.partition(":")
    said = f"{name}, {door}" if name else door
    return f"{said}, session {session_id[:8]}" if session_id else said


def _entry(revision: Revision, after: _State, before: _State, *, present: bool) -> HistoryEntry:
    number = int(after.draft.base_revision) if after.draft is not None else 0
    return HistoryEntry(
        revision=number,
        did=DONE.get(revision.operation, revision.operation.replace("_", " ")),
        by=who(revision.actor, revision.session_id),
        at=revision.at,
        # The note of an undo names an operation by its id, which says nothing to a reader.
        note="" if revision.operation == "undo" else revision.note,
        facts=_fact_changes(before.draft, after.draft),
        values=_value_changes(before.draft, after.draft),
        can_restore=number > 0 and not present,
        is_present=present,
    )


def _birth(state: _State, *, present: bool) -> HistoryEntry:
    assert state.draft is not None
    return HistoryEntry(
        revision=1,
        did="created",
        by=who(state.created["source"], state.created["session_id"]),
        at=state.created["created_at"],
        note="",
        facts=fact_changes((), state.draft.facts),
        values=(),
        can_restore=not present,
        is_present=present,
    )


def _fact_changes(before: Draft | None, after: Draft | None) -> tuple[FactChange, ...]:
    return fact_changes(before.facts if before else (), after.facts if after else ())


def _value_changes(before: Draft | None, after: Draft | None) -> tuple[ValueChange, ...]:
    """The other fields; of a memory that came or went nothing is said but its facts."""
    if before is None or after is None:
        return ()
    plain = [ValueChange(name, getattr(before, name), getattr(after, name)) for name in PLAIN]
    gone = [tag for tag in before.tags if tag not in after.tags]
    come = [tag for tag in after.tags if tag not in before.tags]
    tags = [ValueChange("tag", tag, "") for tag in gone] + [ValueChange("tag", "", tag) for tag in come]
    old, new = _relations(before), _relations(after)
    related = [ValueChange("relation", name, "") for name in old if name not in new]
    related += [ValueChange("relation", "", name) for name in new if name not in old]
    return tuple(change for change in plain if change.before != change.after) + tuple(tags + related)


def _relations(draft: Draft) -> list[str]:
    return [f"{relation.type} {relation.target or relation.target_id}" for relation in draft.relations]


def _state(revision: Revision) -> _State:
    kept = json.loads(revision.before)
    row = kept["row"]
    if row is None:
        return _State(None, {})
    relations = [
        _declared(edge["relation_type"], edge["target_id"], edge["target_label"])
        for edge in kept["edges"]
        if edge["source_id"] == revision.memory_id
    ]
    created = {"source": row["source"], "session_id": row["session_id"]}
    return _State(
        draft_of(row, relations), created | {"created_at": datetime.fromisoformat(row["created_at"])}
    )


def _declared(kind: str, target_id: str, label: str) -> DraftRelation:
    """By label where one was given, resolved or not, else by id."""
    return DraftRelation(kind, target=label) if label else DraftRelation(kind, target_id=target_id)


def _origin(memory: Any) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in ("source", "session_id", "created_at")}
