"""A person's saved filters with how many memories each lists now."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict

from memories.console.filters import MemoryFilter
from memories.console.navigation import page_url
from memories.console.saved_filter_models import LONGEST_NAME, SavedFilter
from memories.contract import ErrorCode, MemsuiteError
from memories.embedding.base import Readiness
from memories.repository import MemoryRepository, Recalls
from memories.repository.snapshot import State

MOST = 20
"""Saved filters of one person: each is counted wherever they are shown."""


@dataclass(frozen=True, slots=True)
class SavedView:
    """``count`` is None where it cannot be told: the filter no longer reads, or its search cannot be made."""

    id: int
    name: str
    url: str
    count: int | None
    current: bool


def saved_filters(
    user: User | AnonymousUser, repository: MemoryRepository, shown: MemoryFilter | None = None
) -> list[SavedView]:
    """A person's filters by name; ``current`` is the one that reads as ``shown``."""
    if user.pk is None:
        return []
    here = shown.query_string() if shown is not None else None
    return [
        SavedView(
            saved.pk,
            saved.name,
            f"{page_url('memories')}?{saved.query}",
            _counter.count(repository, saved.query),
            saved.query == here,
        )
        for saved in SavedFilter.objects.filter(owner_id=user.pk)
    ]


def save(user: User, name: str, query: str) -> SavedFilter:
    """Keep a filter under a name; one of that name is replaced.

    Raises ``invalid_parameter`` for a name that will not do, a filter that narrows nothing, or one too many.
    """
    wanted = MemoryFilter.of(QueryDict(query))
    if not wanted.narrows:
        raise _refused("filter", "There is no filter to save: the list shows everything.")
    name = _checked(name)
    others = SavedFilter.objects.filter(owner=user).exclude(name=name)
    if others.count() >= MOST:
        raise _refused("name", f"At most {MOST} filters can be saved. Delete one first.")
    saved, _ = SavedFilter.objects.update_or_create(
        owner=user, name=name, defaults={"query": wanted.query_string()}
    )
    return saved


def rename(saved: SavedFilter, name: str) -> None:
    """Raises ``invalid_parameter`` for a name that will not do or that another one has."""
    name = _checked(name)
    if SavedFilter.objects.filter(owner_id=saved.owner_id, name=name).exclude(pk=saved.pk).exists():
        raise _refused("name", f"Another saved filter is named {name}.")
    saved.name = name
    saved.save(update_fields=["name"])


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise _refused("name", f"A name has 1 to {LONGEST_NAME} characters.")
    return name


def _refused(field: str, message: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, field, message)


class _Counter:
    """Counts of queries, kept while the memories and their recalls are as they were. Thread safe."""

    KEPT = 256

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, tuple[State, Recalls, int]] = OrderedDict()

    def count(self, repository: MemoryRepository, query: str) -> int | None:
        state, recalled = repository.snapshot().state, repository.usage.recalls()
        with self._lock:
            known = self._counts.get(query)
        if known is not None and known[0] == state and known[1] is recalled:
            return known[2]
        try:
            wanted = MemoryFilter.of(QueryDict(query))
            count = wanted.count(repository)
        except MemsuiteError:
            return None
        if wanted.q and repository.embedder.state().readiness is not Readiness.READY:
            # A search that was not made finds nothing: that is no count.
            return count or None
        with self._lock:
            self._counts[query] = state, recalled, count
            self._counts.move_to_end(query)
            while len(self._counts) > self.KEPT:
                self._counts.popitem(last=False)
        return count


_counter = _Counter()
