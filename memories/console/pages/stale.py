"""Stale memories: of low quality and long unheard of; what to do with them is the flow for many."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.http import urlencode

from memories.analysis.staleness import DAYS, MOST_DAYS, QUALITY, Bounds
from memories.console.access import accepts, may
from memories.console.bulk_actions import KINDS, may_apply
from memories.console.navigation import Page, Section, register
from memories.console.paging import window
from memories.console.parts import Action, BulkBar, Empty, Pager
from memories.console.rendering import render_page
from memories.console.repository_access import repository
from memories.console.stale_memories import bounds_of, count_stale, stale_of
from memories.repository import Action as Change
from memories.repository import StoredMemory

register(Page(Section.DECIDE, 50, "Stale", "console:stale", "clock", count=count_stale))

SLIDER_DAYS = 365
"""The end of the slider; the number beside it goes on to ten years."""

_LABELS = {Change.MARK_REVIEWED: "Touch", Change.SET_QUALITY: "Raise quality", Change.TRASH: "Move to trash"}
"""What one does with stale memories: say that they still hold, value them more, or let them go."""


@accepts("GET")
@may("view_memory")
def stale(request: HttpRequest) -> HttpResponse:
    """The list, longest unheard first, or for htmx the part of it that changes with the bounds."""
    bounds, store = bounds_of(request.GET), repository()
    found = stale_of(store, bounds)
    offset, size = window(request.GET, found.num_rows)
    page = found.slice(offset, size)
    names, heard = page["id"].to_pylist(), page["heard_at"].to_pylist()
    memories = store.read(lambda snapshot: snapshot.memories(names))
    actions = _actions(request.user)
    context = {
        "title": "Stale",
        "wide": True,
        "bounds": bounds,
        "defaults": {"days": DAYS, "quality": f"{QUALITY:g}", "chosen": bounds == Bounds()},
        "most": {"days": MOST_DAYS, "slider": SLIDER_DAYS},
        "total": found.num_rows,
        "stored": store.count(),
        "rows": _rows(names, heard, memories),
        "filter": urlencode([("days", str(bounds.days)), ("quality", f"{bounds.quality:g}")]),
        "pager": Pager.of(request, found.num_rows, offset, size),
        "bulk": BulkBar("stale-form", found.num_rows, on_page=len(names), actions=actions, more=True)
        if actions and names
        else None,
        "empty": _empty(bounds, store.count()),
    }
    return render_page(request, "console/stale/list.html", context, fragment="console/stale/_list.html")


def _rows(names: list[str], heard: list[datetime], memories: dict[str, StoredMemory]) -> list[dict[str, Any]]:
    pairs = zip(names, heard, strict=True)
    return [{"memory": memories[name], "heard": at} for name, at in pairs if name in memories]


def _actions(user: User | AnonymousUser) -> list[Action]:
    kinds = [KINDS[change] for change in _LABELS]
    return [
        Action(_LABELS[kind.action], value=str(kind.action), danger=kind.danger)
        for kind in kinds
        if may_apply(user, kind)
    ]


def _empty(bounds: Bounds, stored: int) -> Empty:
    if not stored:
        return Empty("clock", "No memories yet", "What nobody asks for in a long time will be shown here.")
    return Empty(
        "clock",
        "Nothing is stale",
        f"No memory of quality {bounds.quality:g} or less has gone {bounds.days:,} days without being made, "
        "recalled or reviewed. Tier 1 is never counted.",
    )


urlpatterns = [path("stale/", stale, name="stale")]
