"""Validation of what is to be written. The first failing check wins, in one fixed order:

shape, unknown fields, required fields, domain, subject, facts, write_mode, tier, category, relations, tags,
quality, type, base_revision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memories.contract import fields
from memories.contract.errors import ErrorCode, MemsuiteError
from memories.contract.limits import QUALITY_DEFAULT
from memories.contract.memory import Category, MemoryForm, Relation, Tier, WriteMode

_T = TypeVar("_T")

REQUIRED_FIELDS = ("domain", "subject", "facts", "tier", "category")
OPTIONAL_FIELDS = ("relations", "tags", "quality", "type")
ADD_FIELDS = (*REQUIRED_FIELDS, *OPTIONAL_FIELDS, "write_mode")
UPDATE_FIELDS = (*REQUIRED_FIELDS, *OPTIONAL_FIELDS, "base_revision")

# Subjects under which anything could be filed, so that nothing is found again.
GENERIC_SUBJECTS = frozenset(
    {
        *("app", "application", "config", "configuration", "correction", "fact", "general", "memories"),
        *("memory", "misc", "plugin", "preference", "project", "projet", "service", "setup", "system"),
        *("tech", "tool", "tools", "user"),
    }
)


@dataclass(frozen=True, slots=True)
class AddRequest:
    """A memory to add.

    `given`: the names the payload had. `normalized_fields`: those whose value normalisation changed.
    `warnings`: `{"code", "field", "message"}` each.
    """

    form: MemoryForm
    write_mode: WriteMode
    given: frozenset[str]
    normalized_fields: tuple[str, ...]
    warnings: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """A change to a memory: None keeps what is stored."""

    domain: str | None
    subject: str | None
    facts: tuple[str, ...] | None
    tier: Tier | None
    category: Category | None
    relations: tuple[Relation, ...] | None
    tags: tuple[str, ...] | None
    quality: float | None
    type: str | None
    base_revision: int | None
    given: frozenset[str]
    normalized_fields: tuple[str, ...]
    warnings: tuple[dict[str, str], ...]

    def form_over(self, stored: MemoryForm) -> MemoryForm:
        """The memory after the change. A type that only echoed the category goes on doing so."""
        names = (*REQUIRED_FIELDS, *OPTIONAL_FIELDS)
        changes: dict[str, Any] = {
            name: getattr(self, name) for name in names if getattr(self, name) is not None
        }
        if self.category is not None and self.type is None and stored.type == stored.category:
            changes["type"] = self.category.value
        return replace(stored, **changes)


def validate_add(payload: object) -> AddRequest:
    """Raises MemsuiteError with the first thing that is wrong, and nothing else whatever `payload` is."""
    given = _object(payload, ADD_FIELDS)
    fields.refuse_missing(given, REQUIRED_FIELDS)
    domain = fields.domain(given["domain"])
    subject = fields.subject(given["subject"])
    facts = fields.facts(given["facts"], domain=domain, subject=subject)
    write_mode = _optional(given, "write_mode", fields.write_mode)
    form = MemoryForm(
        domain,
        subject,
        facts,
        fields.tier(given["tier"]),
        fields.category(given["category"]),
        relations=_optional(given, "relations", fields.relations) or (),
        tags=_optional(given, "tags", fields.tags) or (),
        quality=fields.quality(given.get("quality", QUALITY_DEFAULT)),
        type=_optional(given, "type", fields.type_label) or "",
    )
    return AddRequest(
        form,
        write_mode or WriteMode.CREATE,
        given=frozenset(given),
        normalized_fields=_normalized(given, _as_given(form)),
        warnings=_warnings(domain, subject),
    )


def validate_update(payload: object) -> UpdateRequest:
    """The agent's update: the five fields are required, whatever is omitted of the others is kept."""
    given = _object(payload, UPDATE_FIELDS)
    fields.refuse_missing(given, REQUIRED_FIELDS)
    return _update(given, domain="", subject="", stored_facts=())


def validate_patch(payload: object, stored: MemoryForm) -> UpdateRequest:
    """A person's update: at least one field. Only what is given is validated, never what is stored."""
    given = _object(payload, UPDATE_FIELDS)
    if not given.keys() - {"base_revision"}:
        raise MemsuiteError(
            ErrorCode.EMPTY_PATCH,
            "",
            "A patch changes at least one field.",
            received=sorted(given),
            expected=[*REQUIRED_FIELDS, *OPTIONAL_FIELDS],
        )
    return _update(given, domain=stored.domain, subject=stored.subject, stored_facts=stored.facts)


def _update(
    given: Mapping[str, object], *, domain: str, subject: str, stored_facts: tuple[str, ...]
) -> UpdateRequest:
    new_domain = _optional(given, "domain", fields.domain)
    new_subject = _optional(given, "subject", fields.subject)
    domain, subject = new_domain or domain, new_subject or subject
    facts = _optional(given, "facts", lambda value: fields.facts(value, domain=domain, subject=subject))
    if facts is None and (new_domain or new_subject):
        # The facts stay, but under a new name: they may now repeat it.
        fields.refuse_repeated_prefix(stored_facts, domain=domain, subject=subject)
    values: dict[str, Any] = {
        "domain": new_domain,
        "subject": new_subject,
        "facts": facts,
        "tier": _optional(given, "tier", fields.tier),
        "category": _optional(given, "category", fields.category),
        "relations": _optional(given, "relations", fields.relations),
        "tags": _optional(given, "tags", fields.tags),
        "quality": _optional(given, "quality", fields.quality),
        "type": _optional(given, "type", fields.type_label),
        "base_revision": _optional(given, "base_revision", fields.base_revision),
    }
    return UpdateRequest(
        **values,
        given=frozenset(given),
        normalized_fields=_normalized(given, values),
        warnings=_warnings(domain, subject) if new_domain or new_subject else (),
    )


def _object(payload: object, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(payload, Mapping):
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE, "", "A memory is an object.", received=payload, expected=list(known)
        )
    fields.refuse_unknown(payload, known)
    return payload


def _optional(given: Mapping[str, object], name: str, check: Callable[[object], _T]) -> _T | None:
    """None only when the name is absent: a null is checked like any value, and refused."""
    return check(given[name]) if name in given else None


def _as_given(form: MemoryForm) -> dict[str, object]:
    return {name: getattr(form, name) for name in (*REQUIRED_FIELDS, *OPTIONAL_FIELDS)}


def _normalized(given: Mapping[str, object], values: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in values if name in given and _plain(given[name]) != _plain(values[name]))


def _plain(value: object) -> object:
    """As JSON would show it, so that what was sent and what was made of it can be compared."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.as_dict() if isinstance(value, Relation) else value


def _warnings(domain: str, subject: str) -> tuple[dict[str, str], ...]:
    folded = subject.casefold()
    if folded not in GENERIC_SUBJECTS and folded != domain.casefold():
        return ()
    message = "This subject could hold anything; a narrower one is found again and compared with its equals."
    return ({"code": "overly_broad_subject", "field": "subject", "message": message},)
