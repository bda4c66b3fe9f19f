"""The filter of a list of memories: read from a query, shown as pills, written back as a query.

The list page, selections and counts all read the same query through ``MemoryFilter``; which memories
it lets through is ``memories.console.filtering``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from enum import StrEnum
from typing import Any

from django.utils.http import urlencode

from memories.console.filtering import counted, matching
from memories.console.parts import Pill
from memories.contract import ErrorCode, MemsuiteError
from memories.contract import fields as checks
from memories.repository import MemoryRepository

LONGEST_TEXT = 500
"""Characters of one value: a search field takes as many, and no stored label is longer."""


class How(StrEnum):
    """How the words of a search are looked for."""

    WORDS = "words"
    """As the agent searches: by meaning and words, the best fifty, none where nothing answers."""
    CONTAINS = "contains"
    """As they stand, case apart, in the subject and the facts."""


class Sort(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    CHANGED = "changed"
    QUALITY = "quality"
    RECALLED = "recalled"
    MOST_RECALLED = "most_recalled"
    SUBJECT = "subject"
    RELEVANCE = "relevance"

    @property
    def label(self) -> str:
        return _SORT_LABELS[self]


_SORT_LABELS = {
    Sort.NEWEST: "Newest first",
    Sort.OLDEST: "Oldest first",
    Sort.CHANGED: "Last changed",
    Sort.QUALITY: "Quality",
    Sort.RECALLED: "Last recalled",
    Sort.MOST_RECALLED: "Most recalled",
    Sort.SUBJECT: "Subject",
    Sort.RELEVANCE: "Best match",
}


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """What a list of memories is narrowed to; all that is given must hold. Days are UTC and both ends
    count. The fields have the names of the query."""

    q: str = ""
    how: How = How.WORDS
    category: str = ""
    type: str = ""
    tier: int | None = None
    tag: str = ""
    entity: str = ""
    source: str = ""
    session: str = ""
    quality_min: float | None = None
    quality_max: float | None = None
    created_from: date | None = None
    created_to: date | None = None
    conflict: bool = False
    never_recalled: bool = False
    sort: Sort | None = None

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> MemoryFilter:
        """The filter of a query (a ``QueryDict`` or any mapping of texts). Blank values and names that are
        no filter (``offset``, ``size``) are passed over.

        Raises ``invalid_parameter``, ``invalid_category`` or ``invalid_tier``, naming the value at fault.
        """
        given = {name: str(query[name]).strip() for name in _READ if name in query}
        return cls(**{name: _READ[name](name, text) for name, text in given.items() if text})

    @property
    def order(self) -> Sort:
        """The order of the list: the one asked for, else the one that suits."""
        suits = Sort.RELEVANCE if self.q and self.how is How.WORDS else Sort.NEWEST
        return suits if self.sort is None or (self.sort is Sort.RELEVANCE and not self.q) else self.sort

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, how=How.WORDS, sort=None) != MemoryFilter()

    def sorts(self) -> tuple[tuple[str, str], ...]:
        """The orders there are for this list, as (value, label)."""
        return tuple((sort.value, sort.label) for sort in Sort if self.q or sort is not Sort.RELEVANCE)

    def ids(self, repository: MemoryRepository) -> list[str]:
        """The ids of all memories that match, in the list's order."""
        return matching(repository, self)

    def count(self, repository: MemoryRepository) -> int:
        """How many memories match."""
        return counted(repository, self)

    def pairs(self) -> list[tuple[str, str]]:
        """The query that reads as this filter; what has its default is left out."""
        return [(name, _written(value)) for name, value in self._given()]

    def query_string(self) -> str:
        return urlencode(self.pairs())

    def without(self, *names: str) -> MemoryFilter:
        defaults: dict[str, Any] = {field.name: field.default for field in fields(self)}
        return replace(self, **{name: defaults[name] for name in names})

    def pills(self, url: str) -> tuple[Pill, ...]:
        """Each condition with the address of the list at ``url`` without it. The searched words are not
        among them: the search field shows those."""
        return tuple(
            Pill(_LABELS[name], "" if value is True else _written(value), self.without(name).address(url))
            for name, value in self._given()
            if name in _LABELS
        )

    def address(self, url: str) -> str:
        query = self.query_string()
        return f"{url}?{query}" if query else url

    def _given(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default and not (field.name == "how" and not self.q):
                yield field.name, value


_LABELS = {
    "category": "category",
    "type": "type",
    "tier": "tier",
    "tag": "tag",
    "entity": "entity",
    "source": "source",
    "session": "session",
    "quality_min": "quality from",
    "quality_max": "quality to",
    "created_from": "from",
    "created_to": "until",
    "conflict": "in conflict",
    "never_recalled": "never recalled",
}


def _written(value: object) -> str:
    if value is True:
        return "1"
    return (
        value.isoformat()
        if isinstance(value, date)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _text(name: str, text: str) -> str:
    if len(text) > LONGEST_TEXT or not text.isprintable():
        raise _refused(name, text, f"at most {LONGEST_TEXT} characters on one line")
    return text


def _choice(choices: type[StrEnum]) -> Callable[[str, str], StrEnum]:
    def read(name: str, text: str) -> StrEnum:
        if text not in list(choices):
            raise _refused(name, text, [str(choice) for choice in choices])
        return choices(text)

    return read


def _tier(name: str, text: str) -> int:
    return int(checks.tier(int(text) if text.isascii() and text.isdigit() else 0))


def _share(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise _refused(name, text, "a number from 0 to 1")
    return abs(value)


def _day(name: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise _refused(name, text, "a day as 2026-03-14") from error


def _switch(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise _refused(name, text, ["0", "1"])
    return text == "1"


_READ: Mapping[str, Callable[[str, str], Any]] = {
    "q": _text,
    "how": _choice(How),
    "category": lambda name, text: str(checks.category(text)),
    "type": _text,
    "tier": _tier,
    "tag": _text,
    "entity": _text,
    "source": _text,
    "session": _text,
    "quality_min": _share,
    "quality_max": _share,
    "created_from": _day,
    "created_to": _day,
    "conflict": _switch,
    "never_recalled": _switch,
    "sort": _choice(Sort),
}


def _refused(name: str, text: str, expected: object) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        name,
        f"The filter {_LABELS.get(name, name)} cannot be read. Remove it or choose another value.",
        received=text,
        expected=expected,
    )
