"""Captured turns: by wing and room, search, trust, trash; a memory made of one; wings renamed, merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from memories.console.access import accepts, allows, may, page_of
from memories.console.audit import recorded
from memories.console.navigation import Page, Section, register
from memories.console.pages.add import add_page
from memories.console.paging import window
from memories.console.parts import Action, BulkBar, Empty, FilterBar, Pager, Pill
from memories.console.preview import preview_of_add
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.selection import MOST_CHOSEN
from memories.console.turn_list import (
    TurnQuery,
    draft_of_turn,
    person_named,
    rows_of,
    wing_query,
    wings_of,
)
from memories.contract import ErrorCode, MemsuiteError
from memories.repository.turn_reading import TurnFilter

PURPOSE = (
    "What was said, as it was captured. An agent finds only the turns of the person it talks with; here, "
    "where people administer, everybody's are shown."
)

register(
    Page(
        Section.BROWSE,
        80,
        "Turns",
        "console:turns",
        "turns",
        key="o",
        count=lambda store: store.turns.count(),
    )
)


@accepts("GET")
@may("view_memory")
def turns(request: HttpRequest) -> HttpResponse:
    """The list, last seen first, or the best match first where words are searched."""
    store, query = repository(), TurnQuery.of(request.GET.dict())
    found = query.ids(store)
    offset, size = window(request.GET, len(found))
    shown = found[offset : offset + size]
    trashes = allows(request.user, "memories.delete_memory")
    context = {
        "title": "Turns",
        "purpose": PURPOSE,
        "wide": True,
        "query": query,
        "tabs": _tabs(request, query),
        "rows": rows_of(store, shown),
        "found": len(found),
        "trashes": trashes,
        "bar": _bar(request, query),
        "wings": _wings(request, query),
        "bulk": BulkBar("turns-form", len(shown), len(shown), actions=(_change(query),)),
        "pager": Pager.of(request, len(found), offset, size),
        "empty": _empty(request, query),
    }
    return render_page(request, "console/turns/list.html", context, fragment="console/turns/_list.html")


@accepts("POST")
@may("view_memory")
@may("delete_memory")
def change(request: HttpRequest) -> HttpResponse:
    """Move the ticked turns to the trash or back; ``restore`` names one whose own button was pressed."""
    one = request.POST.get("restore", "")
    ids = [one] if one else _chosen(request)
    if one or request.POST.get("action") == "restore":
        with recorded(request, "restore_turns", ids=ids) as event:
            changed = repository().turns.restore(ids, event.author)
            event.complete(changed=changed, unchanged=len(ids) - changed)
        toast(request, f"Restored {_counted(changed)}")
    else:
        with recorded(request, "trash_turns", ids=ids) as event:
            changed = repository().turns.trash(ids, event.author)
            event.complete(changed=changed, unchanged=len(ids) - changed)
        toast(request, f"Moved {_counted(changed)} to the trash")
    return HttpResponseRedirect(page_of(request))


@accepts("POST")
@may("view_memory")
@may("merge_tags")
def wing(request: HttpRequest) -> HttpResponse:
    """Rename a wing; into one that is there the two are merged."""
    name, into = request.POST.get("wing", ""), request.POST.get("into", "")
    with recorded(request, "rename_wing", parameters={"wing": name, "into": into}) as event:
        moved = repository().turns.rename_wing(name, into, event.author)
        event.complete(changed=moved)
    toast(request, f"Moved {_counted(moved)} to another wing")
    return HttpResponseRedirect(page_of(request))


@accepts("POST")
@may("view_memory")
@may("add_memory")
def memory_of_turn(request: HttpRequest) -> HttpResponse:
    """The form of a new memory, begun with what the person said in a turn. Saves nothing."""
    name = request.POST.get("only", "")
    turn = repository().turns.of([name]).get(name)
    if turn is None:
        raise Http404
    draft = draft_of_turn(turn)
    return add_page(request, draft, preview_of_add(repository(), draft, blank_is_fine=True))


def _chosen(request: HttpRequest) -> Sequence[str]:
    ids = request.POST.getlist("id")
    if len(ids) > MOST_CHOSEN:
        raise MemsuiteError(
            ErrorCode.TOO_MANY_IDS,
            "ids",
            "Too many rows are ticked.",
            received=len(ids),
            expected=MOST_CHOSEN,
        )
    return list(dict.fromkeys(ids))


def _counted(number: int) -> str:
    return f"{number:,} turn" if number == 1 else f"{number:,} turns"


def _change(query: TurnQuery) -> Action:
    if query.trashed:
        return Action("Restore", value="restore", icon="undo")
    return Action("Move to trash", value="trash", icon="trash", danger=True)


def _tabs(request: HttpRequest, query: TurnQuery) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "url": TurnQuery(trashed=trashed).address(request.path),
            "count": repository().turns.count(TurnFilter(trashed=trashed)),
            "current": trashed == query.trashed,
        }
        for title, trashed in (("Turns", False), ("Trash", True))
    ]


def _bar(request: HttpRequest, query: TurnQuery) -> FilterBar:
    without = {
        "wing": replace(query, wing="", room=""),
        "room": replace(query, room=""),
        "kind": replace(query, kind=""),
        "person": replace(query, person=None),
    }
    shown = {"wing": query.wing, "room": query.room, "kind": query.kind}
    if query.person is not None:
        shown["person"] = person_named(query.person)
    pills = [Pill(name, value, without[name].address(request.path)) for name, value in shown.items() if value]
    return FilterBar(
        request.path,
        query=query.text,
        placeholder="Search in turns",
        pills=pills,
        hidden=[pair for pair in query.pairs if pair[0] != "q"],
        clear_url=TurnQuery(trashed=query.trashed).address(request.path) if query.is_narrow else "",
        target="turns",
    )


def _wings(request: HttpRequest, query: TurnQuery) -> list[dict[str, Any]]:
    return [
        {
            "wing": one,
            "url": wing_query(query, one.name).address(request.path),
            "rooms": [
                {"room": room, "url": wing_query(query, one.name, room.room).address(request.path)}
                for room in one.rooms
            ],
        }
        for one in wings_of(repository(), query)
    ]


def _empty(request: HttpRequest, query: TurnQuery) -> Empty:
    if query.is_narrow:
        url = TurnQuery(trashed=query.trashed).address(request.path)
        return Empty("search", "No turn matches", "", (Action("Clear the filter", url=url),))
    if query.trashed:
        return Empty("trash", "No turn is in the trash", "Turns that are put away lie here.")
    return Empty(
        "turns",
        "No turns yet",
        "They are captured when auto_capture is switched on in the settings of the Hermes plugin.",
    )


urlpatterns = [
    path("turns/", turns, name="turns"),
    path("turns/change/", change, name="turns_change"),
    path("turns/wing/", wing, name="turns_wing"),
    path("turns/memory/", memory_of_turn, name="turns_memory"),
]
