"""The values that the parts in ``templates/console/parts`` show.

Each is made by a view and handed to one template tag of the same name (``memories.console.tags``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest

PAGE_SIZES = (20, 50, 100)


@dataclass(frozen=True, slots=True)
class Action:
    """A button or link. With ``url`` a link; else a submit button carrying ``name`` and ``value``."""

    label: str
    url: str = ""
    name: str = "action"
    value: str = ""
    icon: str = ""
    primary: bool = False
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Pill:
    """A filter in use: ``tier`` ``2``, and the address of the list without it."""

    label: str
    value: str
    remove_url: str


@dataclass(frozen=True, slots=True)
class FilterBar:
    """``hidden`` are the pairs of the query that the search form keeps; ``sorts`` are (value, label)."""

    url: str
    query: str = ""
    placeholder: str = "Search in this list"
    pills: Sequence[Pill] = ()
    hidden: Sequence[tuple[str, str]] = ()
    clear_url: str = ""
    sorts: Sequence[tuple[str, str]] = ()
    sort: str = ""
    actions: Sequence[Action] = ()
    target: str = ""
    """The id of the element that htmx swaps while one types; "" leaves it to the button."""


@dataclass(frozen=True, slots=True)
class BulkBar:
    """The bar over a list whose rows are ticked. ``form_id`` is the form that its buttons submit;
    where ``on_page`` rows are not all of ``total``, it offers to select these. ``more`` adds a button that
    leads to all actions there are."""

    form_id: str
    total: int
    on_page: int = 0
    selected: int = 0
    everything: bool = False
    actions: Sequence[Action] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One memory of a confirm sheet: its facts before and after, already told apart (see ``FactChange``)."""

    memory_id: str
    domain: str
    subject: str
    changes: Sequence[FactChange] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class FactChange:
    """``kind`` is same, add, gone or edit. An edit has its words as (kind, text), kind "", ins or del."""

    kind: str
    text: str
    words: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class ConfirmSheet:
    """What is about to happen, shown before it does. ``hidden`` go along with the confirmation."""

    title: str
    lead: str
    confirm: str
    back_url: str
    url: str = ""
    figures: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    samples: Sequence[Sample] = ()
    samples_of: int = 0
    irreversible: Sequence[str] = ("Nothing. Undo brings everything back that has not changed since.",)
    hidden: Sequence[tuple[str, str]] = ()
    note: str = ""
    note_required: bool = False
    danger: bool = False
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """``left_seconds`` is None until it can be told."""

    label: str
    done: int
    total: int
    rate: float = 0.0
    left_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Empty:
    """A list with nothing in it: what would be here, and what to do."""

    icon: str
    title: str
    text: str
    actions: Sequence[Action] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """``kind`` is "", ok, warn or bad. ``code`` is what to search for, after what to do."""

    title: str
    text: str = ""
    kind: str = ""
    code: str = ""
    icon: str = ""
    actions: Sequence[Action] = ()


@dataclass(frozen=True, slots=True)
class Stat:
    """One number of the row of tiles; ``value`` is formatted as it shows."""

    label: str
    value: str
    url: str = ""
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pager:
    """A page of a list; ``offset`` counts rows, ``hidden`` are the pairs of the query to keep."""

    url: str
    total: int
    offset: int
    size: int
    hidden: Sequence[tuple[str, str]] = field(default_factory=tuple)
    sizes: Sequence[int] = PAGE_SIZES

    @classmethod
    def of(cls, request: HttpRequest, total: int, offset: int, size: int) -> Pager:
        """The pager of the list at the request's address, keeping its whole query."""
        kept = [(key, value) for key, value in _pairs(request) if key not in ("offset", "size")]
        return cls(request.path, total, offset, size, kept)

    @property
    def first(self) -> int:
        return min(self.offset + 1, self.total)

    @property
    def last(self) -> int:
        return min(self.offset + self.size, self.total)

    @property
    def previous_url(self) -> str:
        return self._at(max(self.offset - self.size, 0)) if self.offset > 0 else ""

    @property
    def next_url(self) -> str:
        return self._at(self.offset + self.size) if self.last < self.total else ""

    def _at(self, offset: int) -> str:
        from django.utils.http import urlencode

        query = [*self.hidden, ("size", str(self.size)), ("offset", str(offset))]
        return f"{self.url}?{urlencode(query)}"


def _pairs(request: HttpRequest) -> list[tuple[str, str]]:
    return [(key, value) for key, values in request.GET.lists() for value in values]
