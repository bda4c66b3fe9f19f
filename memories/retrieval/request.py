"""What a caller may ask of a search, checked strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from memories.contract import Category, ErrorCode, MemsuiteError, Tier
from memories.contract.fields import category, refuse_missing, refuse_unknown, tier
from memories.contract.limits import TAG_MAX
from memories.repository import Filter

TOP_K_MAX = 50
NEIGHBOUR_BUDGET_MAX = 5
"""Related memories shown beside the results: more would bury what was asked for."""


class Mode(StrEnum):
    """How to search; ``auto`` leaves it to the router."""

    AUTO = "auto"
    HYBRID = "hybrid"
    LEXICAL = "lexical"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. ``category``, ``tier`` and ``tag`` narrow it before anything is ranked, and hold
    for every row of the answer."""

    query: str
    top_k: int = 10
    category: Category | None = None
    tier: Tier | None = None
    tag: str | None = None
    mode: Mode = Mode.AUTO
    relation_depth: int = 1
    neighbor_budget: int = 5
    diagnostics: bool = False

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> SearchRequest:
        """The request that ``arguments`` describe; what is left out has its default.

        Raises ``unknown_field``, ``required_field``, ``invalid_type``, ``invalid_parameter``,
        ``invalid_category`` or ``invalid_tier``, in that order of checks.
        """
        refuse_unknown(arguments, tuple(field.name for field in fields(cls)))
        refuse_missing(arguments, ("query",))
        return cls(**{name: _CHECKS[name](name, arguments[name]) for name in _CHECKS if name in arguments})

    @property
    def filter(self) -> Filter | None:
        """What is pushed down to the tables; None when nothing narrows the search."""
        if self.category is None and self.tier is None and self.tag is None:
            return None
        return Filter(category=self.category, tier=self.tier, tag=self.tag)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong_type(name, value, "text")
    if not value.strip():
        raise _refused(name, value, "a text that is not blank")
    return value


def _tag(name: str, value: object) -> str:
    text = " ".join(_text(name, value).split())
    if len(text) > TAG_MAX:
        raise _refused(name, value, f"at most {TAG_MAX} characters")
    return text


def _mode(name: str, value: object) -> Mode:
    if not isinstance(value, str):
        raise _wrong_type(name, value, "text")
    if value not in list(Mode):
        raise _refused(name, value, [str(mode) for mode in Mode])
    return Mode(value)


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "true or false")
    return value


def _within(least: int, most: int) -> Any:
    def check(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong_type(name, value, "an integer")
        if not least <= value <= most:
            raise _refused(name, value, {"minimum": least, "maximum": most})
        return value

    return check


# In the order in which they are checked.
_CHECKS: dict[str, Any] = {
    "query": _text,
    "top_k": _within(1, TOP_K_MAX),
    "category": lambda name, value: category(value),
    "tier": lambda name, value: tier(value),
    "tag": _tag,
    "mode": _mode,
    "relation_depth": _within(0, 1),
    "neighbor_budget": _within(0, NEIGHBOUR_BUDGET_MAX),
    "diagnostics": _boolean,
}


def _wrong_type(name: str, value: object, expected: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_TYPE, name, f"Must be {expected}.", received=value, expected=expected
    )


def _refused(name: str, value: object, expected: object) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        name,
        f"{name} is outside what it may be.",
        received=value,
        expected=expected,
    )
