"""The check of each field of a memory: from whatever was sent to its normal form, or what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

from memories.contract import limits, normalise
from memories.contract.errors import ErrorCode, MemsuiteError
from memories.contract.memory import Category, Relation, RelationType, Tier, WriteMode

_Choice = TypeVar("_Choice", bound=StrEnum)

_RELATION_FIELDS = ("type", "target_id", "target")


def domain(value: object) -> str:
    return _label(value, "domain", limits.DOMAIN_MAX, ErrorCode.DOMAIN_TOO_LONG)


def subject(value: object) -> str:
    return _label(value, "subject", limits.SUBJECT_MAX, ErrorCode.SUBJECT_TOO_LONG)


def facts(value: object, *, domain: str, subject: str) -> tuple[str, ...]:
    """1 to 12 facts; `domain` and `subject` are those of the memory they will stand in."""
    items = _list(value, "facts")
    if not items:
        raise _missing("facts")
    if len(items) > limits.FACTS_MAX:
        raise _too_many(ErrorCode.TOO_MANY_FACTS, "facts", len(items), limits.FACTS_MAX)
    kept = tuple(_fact(item, f"facts[{index}]") for index, item in enumerate(items))
    total = sum(map(len, kept))
    if total > limits.FACTS_TOTAL_MAX:
        raise _too_long(ErrorCode.FACTS_TOO_LONG, "facts", total, limits.FACTS_TOTAL_MAX, value)
    refuse_repeated_prefix(kept, domain=domain, subject=subject)
    return kept


def refuse_repeated_prefix(facts: tuple[str, ...], *, domain: str, subject: str) -> None:
    for index, fact in enumerate(facts):
        if normalise.repeats_prefix(fact, domain, subject):
            raise MemsuiteError(
                ErrorCode.DUPLICATE_SUBJECT_PREFIX,
                f"facts[{index}]",
                "The fact repeats the domain and subject, which the text already opens with.",
                received=fact,
            )


def write_mode(value: object) -> WriteMode:
    return _choice(value, "write_mode", WriteMode, ErrorCode.INVALID_WRITE_MODE)


def tier(value: object) -> Tier:
    """An integer and nothing that merely equals one: `true` and `"1"` are slips of the sender."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type("tier", value, "an integer: 1, 2 or 3")
    if value not in tuple(Tier):
        raise MemsuiteError(
            ErrorCode.INVALID_TIER,
            "tier",
            "The tier is 1, 2 or 3.",
            received=value,
            expected=[int(t) for t in Tier],
        )
    return Tier(value)


def category(value: object) -> Category:
    return _choice(value, "category", Category, ErrorCode.INVALID_CATEGORY)


def relations(value: object) -> tuple[Relation, ...]:
    """At most 20; a relation given twice is kept once, labels compared without case."""
    items = _list(value, "relations")
    if len(items) > limits.RELATIONS_MAX:
        raise _too_many(ErrorCode.TOO_MANY_RELATIONS, "relations", len(items), limits.RELATIONS_MAX)
    kept: dict[tuple[str, str, str], Relation] = {}
    for index, item in enumerate(items):
        relation = _relation(item, f"relations[{index}]")
        kept.setdefault((relation.type, relation.target_id, relation.target.casefold()), relation)
    return tuple(kept.values())


def tags(value: object) -> tuple[str, ...]:
    """At most 20 distinct tags, compared without case; the first spelling is kept."""
    kept: dict[str, str] = {}
    items = _list(value, "tags")
    for index, item in enumerate(items):
        tag = _tag(item, f"tags[{index}]")
        kept.setdefault(tag.casefold(), tag)
        if len(kept) > limits.TAGS_MAX:
            raise _too_many(ErrorCode.TOO_MANY_TAGS, "tags", len(items), limits.TAGS_MAX)
    return tuple(kept.values())


def quality(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong_type("quality", value, "a number from 0 to 1")
    if not limits.QUALITY_MIN <= value <= limits.QUALITY_MAX:  # so is NaN, which compares to nothing
        raise MemsuiteError(
            ErrorCode.INVALID_QUALITY,
            "quality",
            "The quality lies between 0 and 1.",
            received=value,
            expected="0..1",
        )
    return abs(float(value))  # no negative zero


def type_label(value: object) -> str:
    label = normalise.words(_text(value, "type"), "type")
    if not 1 <= len(label) <= limits.TYPE_MAX:
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE_LABEL,
            "type",
            f"A type has 1 to {limits.TYPE_MAX} characters, not {len(label)}.",
            received=value,
            expected=f"1..{limits.TYPE_MAX} characters",
        )
    return label


def base_revision(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type("base_revision", value, "an integer")
    if not 0 <= value <= limits.REVISION_MAX:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "base_revision",
            "A revision is not negative.",
            received=value,
            expected="0..",
        )
    return value


def _label(value: object, field: str, limit: int, too_long: ErrorCode) -> str:
    label = normalise.label(_text(value, field), field)
    if not label:
        raise _missing(field)
    if len(label) > limit:
        raise _too_long(too_long, field, len(label), limit, value)
    return label


def _fact(value: object, field: str) -> str:
    fact = normalise.fact(_text(value, field), field)
    if not fact:
        raise MemsuiteError(ErrorCode.EMPTY_FACT, field, "A fact says something.", received=value)
    if len(fact) > limits.FACT_MAX:
        raise _too_long(ErrorCode.FACT_TOO_LONG, field, len(fact), limits.FACT_MAX, value)
    return fact


def _tag(value: object, field: str) -> str:
    tag = normalise.tag(_text(value, field), field)
    if not tag:
        raise MemsuiteError(ErrorCode.INVALID_TAG, field, "A tag is not empty.", received=value)
    if len(tag) > limits.TAG_MAX:
        raise _too_long(ErrorCode.TAG_TOO_LONG, field, len(tag), limits.TAG_MAX, value)
    return tag


def _relation(value: object, field: str) -> Relation:
    if not isinstance(value, Mapping):
        raise _wrong_type(field, value, "an object with type and either target_id or target")
    refuse_unknown(value, _RELATION_FIELDS, within=field)
    if value.get("type") is None:
        raise _missing(f"{field}.type")
    kind = _choice(value["type"], f"{field}.type", RelationType, ErrorCode.INVALID_RELATION_TYPE)
    target_id = _target(value, "target_id", field, normalise.tag, limits.RELATION_ID_MAX)
    target = _target(value, "target", field, normalise.words, limits.RELATION_TARGET_MAX)
    if bool(target_id) == bool(target):
        raise MemsuiteError(
            ErrorCode.INVALID_RELATION_TARGET,
            field,
            "A relation names exactly one of target_id and target.",
            received=value,
            expected=["target_id", "target"],
        )
    return Relation(kind, target_id=target_id, target=target)


def _target(
    relation: Mapping[str, object], name: str, field: str, normal: Callable[[str, str], str], limit: int
) -> str:
    """The target, or "" when absent. Other suites send both, the unused one empty or null: absent as well."""
    value = relation.get(name)
    if value is None:
        return ""
    place = f"{field}.{name}"
    text = normal(_text(value, place), place)
    if len(text) > limit:
        raise _too_long(ErrorCode.INVALID_RELATION_TARGET, place, len(text), limit, value)
    return text


def _choice(value: object, field: str, choices: type[_Choice], code: ErrorCode) -> _Choice:
    """A member by its exact name: an unknown or differently spelt one is named, never guessed."""
    name = normalise.words(_text(value, field), field)
    try:
        return choices(name)
    except ValueError:
        supported = [choice.value for choice in choices]
        raise MemsuiteError(
            code, field, "Not one of the supported values.", received=value, expected=supported
        ) from None


def refuse_unknown(given: Mapping[str, object], known: tuple[str, ...], *, within: str = "") -> None:
    """Refuses the first name that is not known: a misspelt field must not be lost in silence."""
    for name in given:
        if not isinstance(name, str) or name not in known:
            shown = name if isinstance(name, str) else f"<{type(name).__name__}>"
            raise MemsuiteError(
                ErrorCode.UNKNOWN_FIELD,
                f"{within}.{shown}" if within else shown,
                "There is no such field.",
                received=name,
                expected=list(known),
            )


def refuse_missing(given: Mapping[str, object], required: tuple[str, ...]) -> None:
    """A required field that is null says as little as one that is not there."""
    for name in required:
        if given.get(name) is None:
            raise _missing(name)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise _wrong_type(field, value, "text")
    return value


def _list(value: object, field: str) -> list[object] | tuple[object, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong_type(field, value, "a list")
    return value


def _wrong_type(field: str, value: object, expected: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_TYPE, field, f"Must be {expected}.", received=value, expected=expected
    )


def _missing(field: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.REQUIRED_FIELD, field, "This field is needed and is missing or empty.")


def _too_many(code: ErrorCode, field: str, count: int, limit: int) -> MemsuiteError:
    return MemsuiteError(
        code, field, f"At most {limit}, not {count}.", received=count, expected=f"at most {limit}"
    )


def _too_long(code: ErrorCode, field: str, length: int, limit: int, value: object) -> MemsuiteError:
    return MemsuiteError(
        code,
        field,
        f"At most {limit:,} characters, not {length:,}.",
        received=value,
        expected=f"at most {limit} characters",
    )
