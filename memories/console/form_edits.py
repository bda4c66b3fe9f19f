"""The buttons inside the form: they change what is typed and store nothing.

Each posts ``edit`` with a command, ``fact_up:2``, so that rows come, go and move without a script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memories.console.memory_form import Draft, DraftRelation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edited:
    """The draft after a button, and the id of the element the person goes on with ("" for none)."""

    draft: Draft
    focus: str = ""


def edited(draft: Draft, command: str, *, is_stored: Callable[[str], bool]) -> Edited:
    """Carry out a button. An unknown or outdated command changes nothing.

    ``is_stored`` tells whether a text is the id of a stored memory: a relation points at it then, and
    keeps the text as a label otherwise.
    """
    name, _, argument = command.partition(":")
    if name == "relation_add_id":
        return _with_relation(draft, DraftRelation(draft.new_relation_type, target_id=argument))
    if name == "relation_add":
        return _typed_relation(draft, is_stored)
    if name == "tag_add":
        return Edited(replace(draft, tags=_distinct(draft.all_tags), new_tag=""), "f-tag")
    if name == "relation_find":
        return Edited(draft, "f-relation")
    if name == "fact_add":
        return _fact_added(draft, _row(argument, draft.facts, default=len(draft.facts) - 1))
    row = _row(argument, _rows_of(draft, name), default=-1)
    change = _ROW_CHANGES.get(name)
    return change(draft, row) if change is not None and row >= 0 else Edited(draft)


def _fact_added(draft: Draft, after: int) -> Edited:
    facts = (*draft.facts[: after + 1], "", *draft.facts[after + 1 :])
    return Edited(replace(draft, facts=facts), f"f-fact-{after + 1}")


def _fact_moved(draft: Draft, row: int, to: int, button: str) -> Edited:
    if not 0 <= to < len(draft.facts):
        return Edited(draft, f"f-fact-{row}")
    facts = list(draft.facts)
    facts.insert(to, facts.pop(row))
    # The button goes with its row, and does not take part at either end.
    ends = 0 if button == "up" else len(facts) - 1
    return Edited(replace(draft, facts=tuple(facts)), f"f-fact-{to}" + ("" if to == ends else f"-{button}"))


def _fact_up(draft: Draft, row: int) -> Edited:
    return _fact_moved(draft, row, row - 1, "up")


def _fact_down(draft: Draft, row: int) -> Edited:
    return _fact_moved(draft, row, row + 1, "down")


def _fact_removed(draft: Draft, row: int) -> Edited:
    facts = _without(draft.facts, row) or ("",)
    return Edited(replace(draft, facts=facts), f"f-fact-{min(row, len(facts) - 1)}")


def _tag_removed(draft: Draft, row: int) -> Edited:
    return Edited(replace(draft, tags=_without(draft.tags, row)), "f-tag")


def _relation_removed(draft: Draft, row: int) -> Edited:
    return Edited(replace(draft, relations=_without(draft.relations, row)), "f-relation")


_ROW_CHANGES: dict[str, Callable[[Draft, int], Edited]] = {
    "fact_up": _fact_up,
    "fact_down": _fact_down,
    "fact_remove": _fact_removed,
    "tag_remove": _tag_removed,
    "relation_remove": _relation_removed,
}


def _rows_of(draft: Draft, command: str) -> Sequence[object]:
    kind = command.partition("_")[0]
    return {"fact": draft.facts, "tag": draft.tags, "relation": draft.relations}.get(kind, ())


def _typed_relation(draft: Draft, is_stored: Callable[[str], bool]) -> Edited:
    text = draft.new_relation.strip()
    if not text:
        return Edited(draft, "f-relation")
    kind = draft.new_relation_type
    found = is_stored(text)
    return _with_relation(
        draft, DraftRelation(kind, target_id=text) if found else DraftRelation(kind, target=text)
    )


def _with_relation(draft: Draft, relation: DraftRelation) -> Edited:
    kept = _distinct((*draft.relations, relation))
    return Edited(replace(draft, relations=kept, new_relation=""), "f-relation")


def _row(text: str, rows: Sequence[object], *, default: int) -> int:
    return int(text) if text in {str(row) for row in range(len(rows))} else default


def _without(rows: tuple[T, ...], row: int) -> tuple[T, ...]:
    return rows[:row] + rows[row + 1 :]


def _distinct(rows: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(rows))
