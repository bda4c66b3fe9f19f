"""What the contract says of each field of a draft, all at once: a person corrects a form, not one error
after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memories.console.memory_form import Draft, Payload
from memories.contract import ErrorCode, MemsuiteError
from memories.contract import fields as checks

Problems = Mapping[str, str]
"""What is wrong, by the place in the form where it is said: a field, or ``fact-2`` for a row."""

_PLACE = re.compile(r"(?P<field>\w+)(?:\[(?P<index>\d+)\])?")
_ONE = {"tags": "Tag", "relations": "Relation"}

_CHECKS: dict[str, Callable[[Any], object]] = {
    "domain": checks.domain,
    "subject": checks.subject,
    "tier": checks.tier,
    "category": checks.category,
    "type": checks.type_label,
    "quality": checks.quality,
    "tags": checks.tags,
    "relations": checks.relations,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the form an error is said, and its words."""

    name: str
    says: str


def problems_of(draft: Draft, payload: Payload, *, blank_is_fine: bool) -> dict[str, str]:
    """Everything wrong with what ``payload`` would send of ``draft``; the first problem of a place.

    With ``blank_is_fine`` nothing is said of fields that are empty yet.
    """
    found: dict[str, str] = {}
    for error in _errors(draft, payload, blank_is_fine):
        place = place_of(error, draft)
        found.setdefault(place.name, place.says)
    return found


def place_of(error: MemsuiteError, draft: Draft) -> Place:
    """Where the form shows an error of the contract, of the screening or of the store; ``form`` for
    what is about no field."""
    match = _PLACE.match(error.field)
    field, index = (match["field"], match["index"]) if match else ("", None)
    if field == "facts" and index is not None:
        rows = [row for row, _ in draft.said]
        return Place(f"fact-{rows[int(index)]}" if int(index) < len(rows) else "facts", error.message)
    if field in _ONE and index is not None:
        return Place(field, f"{_ONE[field]} {int(index) + 1}: {error.message}")
    known = field in _CHECKS or field == "facts"
    return Place(field if known else "form", error.message)


def _errors(draft: Draft, payload: Payload, blank_is_fine: bool) -> Iterator[MemsuiteError]:
    for name, check in _CHECKS.items():
        if name in payload:
            yield from _refused(lambda check=check, name=name: check(payload[name]))  # type: ignore[misc]
        elif not blank_is_fine and name in ("domain", "subject", "tier", "category"):
            yield _missing(name)
    if "facts" in payload:
        yield from _fact_errors(draft, payload["facts"], blank_is_fine)
    elif not blank_is_fine:
        yield _missing("facts")


def _fact_errors(draft: Draft, facts: list[str], blank_is_fine: bool) -> Iterator[MemsuiteError]:
    name = {"domain": draft.domain.strip(), "subject": draft.subject.strip()}
    for index, fact in enumerate(facts):
        for error in _refused(lambda fact=fact: checks.facts([fact], **_labels(name))):  # type: ignore[misc]
            yield MemsuiteError(error.code, f"facts[{index}]", error.message)
    if facts or not blank_is_fine:
        yield from (
            error
            for error in _refused(lambda: checks.facts(facts, **_labels(name)))
            # One that is about a row was said above, with the row.
            if "[" not in error.field
        )


def _labels(name: dict[str, str]) -> dict[str, str]:
    """Domain and subject in normal form where they have one; they are refused by their own checks."""
    normal = {}
    for field, check in (("domain", checks.domain), ("subject", checks.subject)):
        try:
            normal[field] = check(name[field])
        except MemsuiteError:
            normal[field] = name[field]
    return normal


def _refused(check: Callable[[], object]) -> Iterator[MemsuiteError]:
    try:
        check()
    except MemsuiteError as error:
        yield error


def _missing(name: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.REQUIRED_FIELD, name, "This field is needed and is missing or empty.")
