"""One item of the review in full: what it is about, why, and what accepting it would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from memories.analysis.broken_relations import broken_relations
from memories.analysis.drift import drift_of
from memories.console.access import allows
from memories.console.conflict_desk import conflict_with
from memories.console.fact_diff import fact_changes
from memories.console.navigation import page_url
from memories.console.parts import FactChange
from memories.console.review_inbox import Item, Kind
from memories.contract import MemsuiteError
from memories.repository import Conflict, MemoryRepository, StoredMemory, Usage
from memories.repository.lessons import Lesson
from memories.repository.quarantine import Quarantined


@dataclass(frozen=True, slots=True)
class Button:
    """A way to decide. With ``url`` it leads there, else it is sent as ``deed``."""

    label: str
    key: str
    deed: str = ""
    url: str = ""
    primary: bool = False


@dataclass(frozen=True)
class Card:
    """An item with all that is shown of it; what does not apply to its kind is empty."""

    item: Item
    buttons: tuple[Button, ...]
    memory: StoredMemory | None = None
    usage: Usage | None = None
    changes: tuple[FactChange, ...] = ()
    others: tuple[StoredMemory, ...] = ()
    conflict: Conflict | None = None
    lesson: Lesson | None = None
    row: Quarantined | None = None
    draft: Mapping[str, Any] | None = None


def card_of(store: MemoryRepository, item: Item, user: User | AnonymousUser, here: str) -> Card | None:
    """The card of an item; None where what it is about is gone meanwhile. ``here`` is the page to return
    to from another one."""
    memories = store.read(lambda snapshot: snapshot.memories(item.memory_ids)) if item.memory_ids else {}
    stored = [memories[name] for name in item.memory_ids if name in memories]
    if len(stored) < len(item.memory_ids):
        return None
    card = Card(
        item,
        (),
        memory=stored[0] if stored else None,
        usage=store.usage.of([stored[0].id]).get(stored[0].id, Usage()) if stored else None,
        others=tuple(stored[1:]),
    )
    try:
        card = _FILL.get(item.kind, _as_it_is)(store, card)
    except MemsuiteError:
        return None
    permitted = tuple(button for button in _buttons(card, here) if _may(user, item.kind, button))
    return replace(card, buttons=permitted)


def proposed_facts(store: MemoryRepository, memory_id: str) -> tuple[str, ...]:
    """The facts that would put a drifted memory right; none where nothing is proposed."""
    memory = store.get(memory_id).memory
    drift = drift_of(memory)
    return drift.proposed if drift is not None else ()


# --- what a kind shows ------------------------------------------------------------------


def _as_it_is(store: MemoryRepository, card: Card) -> Card:
    return card


def _drift(store: MemoryRepository, card: Card) -> Card:
    assert card.memory is not None
    facts = proposed_facts(store, card.memory.id)
    return replace(card, changes=fact_changes(card.memory.facts, facts) if facts else ())


def _broken(store: MemoryRepository, card: Card) -> Card:
    assert card.memory is not None
    found = store.read(broken_relations).get(card.memory.id, ())
    changes = tuple(FactChange("gone", f"{relation.type} {relation.target}") for relation in found)
    return replace(card, changes=changes)


def _conflict(store: MemoryRepository, card: Card) -> Card:
    return replace(card, conflict=conflict_with(store, card.item.id))


def _lesson(store: MemoryRepository, card: Card) -> Card:
    return replace(card, lesson=store.lessons.get(card.item.id))


def _import(store: MemoryRepository, card: Card) -> Card:
    row = store.quarantine.get(card.item.id)
    return replace(card, row=row, draft=_draft(row.row) if row.kind == "memory" else None)


_FILL: Mapping[Kind, Callable[[MemoryRepository, Card], Card]] = {
    Kind.DRIFT: _drift,
    Kind.BROKEN: _broken,
    Kind.CONFLICT: _conflict,
    Kind.LESSON: _lesson,
    Kind.IMPORT: _import,
}


def _draft(row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a row that did not fit can stand in the form of a new memory."""
    facts = row.get("facts")
    facts = facts if isinstance(facts, list) and facts else [row.get("content") or row.get("text") or ""]
    tags = row.get("tags")
    return {
        **{name: str(row.get(name) or "") for name in ("domain", "subject", "tier", "category")},
        "facts": [" ".join(str(fact).split()) for fact in facts],
        "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
    }


# --- what one can do ----------------------------------------------------------------------


def _buttons(card: Card, here: str) -> list[Button]:
    kind, item = card.item.kind, card.item
    edit = _edit(card, here)
    accept: list[Button] = []
    if kind is Kind.DRIFT and card.changes:
        accept = [Button("Accept", "A", "accept", primary=True)]
    elif kind is Kind.BROKEN:
        several = "relations" if len(card.changes) > 1 else "relation"
        accept = [Button(f"Remove the {several}", "A", "accept", primary=True)]
    elif kind is Kind.JUNK:
        accept = [Button("Move to trash", "A", "accept", primary=True)]
    elif kind in (Kind.INSTRUCTION, Kind.UNVERIFIED):
        accept = [Button("It is fine", "A", "accept", primary=True)]
    elif kind is Kind.IMPORT:
        accept = [Button("It is stored now", "A", "accept", primary=card.draft is None)]
    elif kind is Kind.CONFLICT:
        url = page_url("conflict", item.id, next=here)
        accept = [Button("Decide", "A", url=url, primary=True)]
    elif kind is Kind.DUPLICATE:
        url = page_url("duplicates", group=item.id, next=here)
        accept = [Button("Compare and merge", "M", url=url, primary=True)]
    elif kind is Kind.LESSON:
        url = page_url("lesson", item.id) or page_url("lessons")
        accept = [Button("Decide", "A", url=url, primary=True)] if url else []
    trash = [Button("Move to trash", "T", "trash")] if kind in _TRASHABLE else []
    return [*accept, *edit, *trash]


_TRASHABLE = (Kind.SECRET, Kind.INSTRUCTION, Kind.UNVERIFIED)


def _edit(card: Card, here: str) -> list[Button]:
    if card.memory is None or card.item.kind is Kind.CONFLICT:
        return []
    return [
        Button("Edit", "E", url=page_url("memory", card.memory.id), primary=card.item.kind is Kind.SECRET)
    ]


def _may(user: User | AnonymousUser, kind: Kind, button: Button) -> bool:
    if button.deed == "trash" or (kind is Kind.JUNK and button.deed):
        return allows(user, "memories.delete_memory")
    return allows(user, _NEEDED.get(kind, "memories.change_memory"))


_NEEDED = {Kind.CONFLICT: "memories.resolve_conflict", Kind.LESSON: "memories.approve_lesson"}
