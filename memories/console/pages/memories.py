"""The list of all memories: search, filters, order, pages. Its whole state is its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.utils.http import urlencode

from memories.console.access import accepts, allows, full_name, may
from memories.console.bulk_actions import KINDS, may_apply
from memories.console.filters import MemoryFilter, Sort
from memories.console.memory_list import Choices, Listing, listing, search_notice
from memories.console.navigation import Page, Section, page_url, register
from memories.console.parts import PAGE_SIZES, Action, BulkBar, Empty, Notice, Pager
from memories.console.rendering import render_page, wants_fragment
from memories.console.repository_access import repository
from memories.console.saved_filters import saved_filters
from memories.contract import Category, ErrorCode, MemsuiteError, Tier
from memories.repository import Action as Change

register(
    Page(
        Section.BROWSE,
        10,
        "Memories",
        "console:memories",
        "memory",
        "view_memory",
        key="m",
        count=lambda store: store.count(),
        light=True,
    )
)

PAGE_SIZE = 50
ROWS_FORM = "rows"

_OFFERED = (
    Change.ADD_TAGS,
    Change.REMOVE_TAGS,
    Change.SET_CATEGORY,
    Change.SET_TIER,
    Change.MARK_REVIEWED,
    Change.TRASH,
)
"""What the bar over the list offers at once, what destroys last; its button More leads to the others."""


@accepts("GET")
@may("view_memory")
def memories(request: HttpRequest) -> HttpResponse:
    """The list, or for htmx the part of it that changes with the filter."""
    wanted = MemoryFilter.of(request.GET)
    offset, size = _whole(request, "offset", 0), _size(request)
    fragment = wants_fragment(request)
    if not fragment and any(not value for value in request.GET.values()):
        # A form sends its empty fields along; the address that one keeps does without.
        return HttpResponseRedirect(_address(wanted, size, offset))
    found = listing(repository(), wanted, offset, size)
    here = _address(wanted, size, found.offset)
    context = _context(request, wanted, found) | {"here": here, "fragment": fragment}
    answer = render_page(
        request, "console/memories/list.html", context, fragment="console/memories/_list.html"
    )
    if fragment:
        answer["HX-Push-Url"] = here
    return answer


def _context(request: HttpRequest, wanted: MemoryFilter, found: Listing) -> dict[str, Any]:
    store, size = repository(), found.size
    notice = search_notice(store, wanted, found, lambda other: _address(other, size))
    changes = _changes(request.user)
    return {
        "title": "Memories",
        "wide": True,
        "wanted": wanted,
        # Sent as nothing, so that the order follows when what is searched for changes.
        "suits": wanted.without("sort").order,
        "found": found,
        "size": size if size != PAGE_SIZE else "",
        "pills": [replace(pill, remove_url=_sized(pill.remove_url, size)) for pill in wanted.pills(_url())],
        "clear_url": _address(MemoryFilter(sort=wanted.sort), size),
        "heads": _heads(wanted, size),
        "choices": Choices.of(store.catalogue()),
        "categories": [str(name) for name in Category],
        "tiers": [int(tier) for tier in Tier],
        "saved": saved_filters(request.user, store, wanted),
        "notice": notice,
        "empty": None if found.rows else _empty(request.user, wanted, found, notice),
        "pager": Pager(_url(), found.total, found.offset, size, wanted.pairs()),
        "bulk": BulkBar(ROWS_FORM, found.total, on_page=len(found.rows), actions=changes, more=True)
        if changes and found.rows
        else None,
        "bulk_url": page_url("bulk"),
    }


def _changes(user: User | AnonymousUser) -> list[Action]:
    """What this person may do to many, once there is a page that does it."""
    if not page_url("bulk"):
        return []
    kinds = [KINDS[change] for change in _OFFERED]
    return [
        Action(kind.label, value=str(kind.action), danger=kind.danger)
        for kind in kinds
        if may_apply(user, kind)
    ]


def _heads(wanted: MemoryFilter, size: int) -> Mapping[str, tuple[str, bool]]:
    """For each column that orders the list: the address so ordered, and whether it is."""
    columns = {"subject": Sort.SUBJECT, "changed": Sort.CHANGED, "recalled": Sort.RECALLED}
    return {
        name: (_address(replace(wanted, sort=sort), size), wanted.order is sort)
        for name, sort in columns.items()
    }


def _empty(
    user: User | AnonymousUser, wanted: MemoryFilter, found: Listing, notice: Notice | None
) -> Empty | None:
    if not found.stored:
        add = page_url("add") if allows(user, full_name("add_memory")) else ""
        return Empty(
            "memory",
            "No memories yet",
            "The agent stores what it learns with its memory tool. Write the first one yourself, or add the "
            "sample memories with manage.py demo_data in a home of their own.",
            [Action("Add a memory", add, icon="plus", primary=True)] if add else (),
        )
    if notice is not None and not wanted.without("q").narrows:
        # The notice above says it all: nothing but the search leaves anything out.
        return None
    cleared = Action("Clear filters", _address(MemoryFilter(sort=wanted.sort), found.size))
    return Empty(
        "search",
        "Nothing matches",
        f"None of the {found.stored:,} memories passes all of these filters.",
        [cleared],
    )


def _url() -> str:
    return page_url("memories")


def _address(wanted: MemoryFilter, size: int, offset: int = 0) -> str:
    """The list so filtered; what has its default is left out."""
    extra = [("size", str(size))] if size != PAGE_SIZE else []
    extra += [("offset", str(offset))] if offset else []
    query = urlencode([*wanted.pairs(), *extra])
    return f"{_url()}?{query}" if query else _url()


def _sized(address: str, size: int) -> str:
    if size == PAGE_SIZE:
        return address
    return f"{address}{'&' if '?' in address else '?'}size={size}"


def _size(request: HttpRequest) -> int:
    size = _whole(request, "size", PAGE_SIZE)
    return size if size in PAGE_SIZES else PAGE_SIZE


def _whole(request: HttpRequest, name: str, default: int) -> int:
    """A whole number of the query. Raises ``invalid_parameter``."""
    text = request.GET.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            name,
            f"{name} must be a whole number.",
            received=text,
            expected="0 or more",
        )
    return int(text)


urlpatterns = [path("memories/", memories, name="memories")]
