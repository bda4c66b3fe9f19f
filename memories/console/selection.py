"""Selections: which memories a person has chosen for one change, kept on the server.

The browser holds a key, never the list. What selects is kept beside the ids, so that the same selection
can be counted again when the change is confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, QueryDict
from django.utils import timezone

from memories.console.filtering import holding
from memories.console.filters import MemoryFilter
from memories.console.repository_access import repository
from memories.console.selection_models import Selection
from memories.console.stale_memories import bounds_of, stale_of
from memories.console.trash_contents import in_trash
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

KEPT = timedelta(hours=1)
KEPT_FOR_JOB = timedelta(days=1)
MOST_CHOSEN = 1_000
"""Ids one form or call may name; more are selected by a filter."""


class By(StrEnum):
    """What selects."""

    HAND = "hand"
    """Ticked rows of a list of memories."""
    HAND_TRASH = "hand_trash"
    """Ticked rows of the trash."""
    FILTER = "filter"
    """All that a list's filter lets through; ``query`` is the list's query."""
    TAGS = "tags"
    """All that hold one of the tags in ``query`` (``tag=a&tag=b``)."""
    TRASH = "trash"
    """All in the trash that say the ``q`` of ``query``."""
    STALE = "stale"
    """All that are stale within the bounds of ``query`` (``days=90&quality=0.3``)."""

    @property
    def of_trash(self) -> bool:
        return self in (By.HAND_TRASH, By.TRASH)


def matching_ids(query: Mapping[str, str]) -> list[str]:
    """The memories that a list's query lets through, in the list's order."""
    return MemoryFilter.of(query).ids(repository())


def select(
    owner: User,
    store: MemoryRepository,
    by: By,
    *,
    query: str = "",
    chosen: Sequence[str] = (),
    back: str,
) -> Selection:
    """Keep what is selected now. ``back`` is the page to return to.

    Raises ``too_many_ids``, and what the filter's query may raise.
    """
    if len(chosen) > MOST_CHOSEN:
        raise MemsuiteError(
            ErrorCode.TOO_MANY_IDS,
            "ids",
            "Too many rows are ticked. Select all that match a filter instead.",
            received=len(chosen),
            expected=MOST_CHOSEN,
        )
    ids = _ids(store, by, query, chosen)
    now = timezone.now()
    _forget_old()
    return Selection.objects.create(
        owner=owner,
        kind=str(by),
        query=query,
        ids="\n".join(ids),
        count=len(ids),
        back=back,
        made_at=now,
        expires_at=now + KEPT,
    )


def selection_of(owner: User, key: str) -> Selection:
    """A person's own selection. Raises Http404 for any other, and ``selection_changed`` when it is too
    old to be trusted."""
    found = Selection.objects.filter(key=key, owner_id=owner.pk).first()
    if found is None:
        raise Http404
    if found.expires_at <= timezone.now():
        raise MemsuiteError(
            ErrorCode.SELECTION_CHANGED, "selection", "This selection is more than an hour old. Select again."
        )
    return found


def current_ids(store: MemoryRepository, selection: Selection) -> list[str]:
    """What the same selection selects now."""
    return _ids(store, By(selection.kind), selection.query, selection.memory_ids)


@dataclass(frozen=True, slots=True)
class Drift:
    """How a selection differs now from what was shown."""

    joined: tuple[str, ...]
    left: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.joined or self.left)


def drift_of(store: MemoryRepository, selection: Selection) -> Drift:
    shown, now = selection.memory_ids, current_ids(store, selection)
    known, found = set(shown), set(now)
    return Drift(
        joined=tuple(name for name in now if name not in known),
        left=tuple(name for name in shown if name not in found),
    )


def changed_since_shown(drift: Drift) -> MemsuiteError:
    """The refusal of a change whose memories are no longer those that were shown."""
    return MemsuiteError(
        ErrorCode.SELECTION_CHANGED,
        "selection",
        f"{len(drift.joined):,} joined and {len(drift.left):,} left since the preview.",
    )


def take(selection: Selection) -> None:
    """Mark a selection as applied, so that one confirmation counts once. Raises ``selection_changed``
    when it has been."""
    taken = Selection.objects.filter(pk=selection.pk, used_at=None).update(used_at=timezone.now())
    if not taken:
        raise MemsuiteError(
            ErrorCode.SELECTION_CHANGED, "selection", "This change was confirmed already. See the history."
        )


def give_back(selection: Selection) -> None:
    """The change of a taken selection came to nothing: it may be confirmed again."""
    Selection.objects.filter(pk=selection.pk).update(used_at=None)


def keep_for_job(selection: Selection) -> None:
    """A job may wait longer than a selection is kept."""
    Selection.objects.filter(pk=selection.pk).update(expires_at=timezone.now() + KEPT_FOR_JOB)


def _ids(store: MemoryRepository, by: By, query: str, chosen: Iterable[str]) -> list[str]:
    asked = QueryDict(query)
    if by is By.FILTER:
        return MemoryFilter.of(asked).ids(store)
    if by is By.TAGS:
        table = store.catalogue().table
        held: list[str] = table.filter(holding(table, "tags", asked.getlist("tag")))["id"].to_pylist()
        return held
    if by is By.TRASH:
        return [trashed.id for trashed in in_trash(store, asked.get("q", ""))]
    if by is By.STALE:
        names: list[str] = stale_of(store, bounds_of(asked))["id"].to_pylist()
        return names
    there = _there(store, by)
    return [name for name in dict.fromkeys(chosen) if name in there]


def _there(store: MemoryRepository, by: By) -> set[Any]:
    if by is By.HAND_TRASH:
        return {trashed.id for trashed in in_trash(store)}
    return set(store.catalogue().table["id"].to_pylist())


def _forget_old() -> None:
    Selection.objects.filter(expires_at__lte=timezone.now()).delete()
