"""What stands in the form of a memory, exactly as typed, and what is sent to the contract of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from typing import Any, Protocol

from memories.contract import RelationType
from memories.contract.limits import QUALITY_DEFAULT
from memories.repository.results import MemoryDetail

Payload = dict[str, Any]

FIELDS = ("domain", "subject", "facts", "tier", "category", "type", "quality", "tags", "relations")
"""The fields of a memory in the order of the form."""


class Posted(Protocol):
    """A form as it came in (Django's ``QueryDict``)."""

    def get(self, name: str, default: str, /) -> Any: ...

    def getlist(self, name: str) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class DraftRelation:
    """One relation row; exactly one of ``target_id`` and ``target`` (a label) is set."""

    type: str
    target_id: str = ""
    target: str = ""

    def as_payload(self) -> dict[str, str]:
        named = {"target_id": self.target_id} if self.target_id else {"target": self.target}
        return {"type": self.type} | named


@dataclass(frozen=True, slots=True)
class Draft:
    """The text in every field. ``facts`` may hold blank rows; ``new_tag`` and ``new_relation`` are
    what is typed into the fields that add one. ``type`` is "" where it follows the category."""

    domain: str = ""
    subject: str = ""
    facts: tuple[str, ...] = ("",)
    tier: str = ""
    category: str = ""
    type: str = ""
    quality: str = ""
    tags: tuple[str, ...] = ()
    relations: tuple[DraftRelation, ...] = ()
    base_revision: str = ""
    new_tag: str = ""
    new_relation_type: str = str(RelationType.DEPENDS)
    new_relation: str = ""

    @property
    def said(self) -> tuple[tuple[int, str], ...]:
        """The facts that say something, each with its row; blank rows are room to type in."""
        return tuple((row, fact) for row, fact in enumerate(self.facts) if fact.strip())

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The tags with what is typed but not added yet, parted at commas."""
        typed = (tag.strip() for tag in self.new_tag.split(","))
        return (*self.tags, *(tag for tag in typed if tag))

    @property
    def is_blank(self) -> bool:
        """Whether nothing was typed."""
        return self == replace(BLANK, new_relation_type=self.new_relation_type)

    def as_add(self) -> Payload:
        """The payload of an add: what was left empty is left out, and refused where it is needed."""
        values = {name: self.value(name) for name in FIELDS}
        return {name: value for name, value in values.items() if value not in ("", [], None)}

    def as_patch(self, stored: Draft) -> Payload:
        """The payload of an update: only what differs from ``stored``, so that automatic tags stay
        automatic and a row over today's limits can be mended field by field."""
        values = {name: self.value(name) for name in FIELDS if self.value(name) != stored.value(name)}
        if values.get("type") == "":
            values["type"] = self.category
        return values

    def value(self, name: str) -> Any:
        """A field as the contract takes it; what is no number stays text, for the contract to refuse."""
        match name:
            case "facts":
                return [fact for _, fact in self.said]
            case "tags":
                return list(self.all_tags)
            case "relations":
                return [relation.as_payload() for relation in self.relations]
            case "tier":
                return int(self.tier) if self.tier in ("1", "2", "3") else self.tier
            case "quality":
                return _number(self.quality)
        return getattr(self, name).strip()


BLANK = Draft(facts=("", ""), tier="2", quality=f"{QUALITY_DEFAULT:g}")
"""The form of a new memory before anything is typed."""


def posted_draft(data: Posted) -> Draft:
    """The draft that a form posted."""
    plain = {
        field.name: str(data.get(field.name, ""))
        for field in fields(Draft)
        if field.name not in ("facts", "tags", "relations")
    }
    return Draft(
        **plain,
        facts=tuple(data.getlist("fact")) or ("",),
        tags=tuple(data.getlist("tag")),
        relations=tuple(_relations(data)),
    )


def hidden_fields(draft: Draft) -> list[tuple[str, str]]:
    """The draft as the pairs a form would post, for pages that carry it along unseen."""
    pairs = [(name, getattr(draft, name)) for name in ("domain", "subject", "tier", "category", "type")]
    pairs += [("quality", draft.quality), ("base_revision", draft.base_revision)]
    pairs += [("new_relation_type", draft.new_relation_type), ("new_relation", draft.new_relation)]
    pairs += [("fact", fact) for fact in draft.facts]
    pairs += [("tag", tag) for tag in draft.all_tags]
    for relation in draft.relations:
        pairs += [
            ("relation_type", relation.type),
            ("relation_id", relation.target_id),
            ("relation_label", relation.target),
        ]
    return pairs


def stored_draft(detail: MemoryDetail) -> Draft:
    """The form of a stored memory."""
    memory = detail.memory
    relations = tuple(
        DraftRelation(edge.relation_type, "" if edge.label else edge.memory_id, edge.label)
        for edge in detail.edges_out
    )
    row = {name: getattr(memory, name) for name in ("domain", "subject", "facts", "tier", "category")}
    row |= {name: getattr(memory, name) for name in ("type", "quality", "tags", "revision")}
    return draft_of(row, relations)


def draft_of(row: Mapping[str, Any], relations: Sequence[DraftRelation]) -> Draft:
    """The form of a memory given as a row, of today or of the past."""
    return Draft(
        domain=row["domain"],
        subject=row["subject"],
        facts=tuple(row["facts"]),
        tier=str(row["tier"]),
        category=row["category"],
        type="" if row["type"] == row["category"] else row["type"],
        # Stored with four bytes: six digits are what it means.
        quality=f"{row['quality']:g}",
        tags=tuple(row["tags"]),
        relations=tuple(relations),
        base_revision=str(row["revision"]),
    )


def over_newer(mine: Draft, base: Draft | None, theirs: Draft) -> Draft:
    """A draft made over ``base`` put over the newer ``theirs``: fields it left alone are theirs, so
    that keeping it takes nothing back that it never touched."""
    untouched = {
        name: getattr(theirs, name)
        for name in FIELDS
        if base is not None and mine.value(name) == base.value(name)
    }
    return replace(mine, base_revision=theirs.base_revision, **untouched)


def _relations(data: Posted) -> list[DraftRelation]:
    rows = zip_longest(
        data.getlist("relation_type"),
        data.getlist("relation_id"),
        data.getlist("relation_label"),
        fillvalue="",
    )
    return [DraftRelation(kind, target_id, "" if target_id else label) for kind, target_id, label in rows]


def _number(text: str) -> Any:
    """0.8 and 0,8 as a number, anything else as it is."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return text.strip()
