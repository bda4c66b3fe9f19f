"""Tags: how many memories carry each; rename, merge, delete; spellings that look alike. Entities to read."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.http import urlencode

from memories.console.access import accepts, allows, may
from memories.console.labels import Label, Labels, Order
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Action, Empty, FilterBar, Pager
from memories.console.per_state import PerState
from memories.console.rendering import render_page
from memories.console.repository_access import repository
from memories.console.spellings import Suggestion, suggestions
from memories.repository import MemoryRepository

LONGEST_SEARCH = 80
SUGGESTED = 12

_KINDS = {"tags": "tag", "entities": "entity"}
"""Columns of the catalogue that hold labels, and the name of each in a list's query."""


def _labels(store: MemoryRepository) -> dict[str, Labels]:
    table = store.catalogue().table
    return {column: Labels.of(table, column) for column in _KINDS}


def _suggested(store: MemoryRepository) -> list[Suggestion]:
    return suggestions(labels.of(store)["tags"].counts())


labels = PerState(_labels)
_suggestions = PerState(_suggested)

register(
    Page(
        Section.BROWSE,
        30,
        "Tags",
        "console:tags",
        "tag",
        key="k",
        count=lambda store: len(labels.of(store)["tags"]),
    )
)


@accepts("GET")
@may("view_memory")
def tags(request: HttpRequest) -> HttpResponse:
    """The list of labels; what changes them is the flow of every change of many."""
    known = labels.of(repository())
    kind = "entities" if request.GET.get("of") == "entities" else "tags"
    text = request.GET.get("q", "")[:LONGEST_SEARCH].strip()
    order = Order(request.GET["sort"]) if request.GET.get("sort") in list(Order) else Order.COUNT
    found = known[kind].search(text) if text else known[kind]
    offset, size = window(request.GET, len(found))
    merges = kind == "tags" and allows(request.user, "memories.merge_tags")
    most = known[kind].most()
    shown = [_row(label, kind, most) for label in found.page(order, offset, size)]
    suggested = _suggestions.of(repository()) if kind == "tags" else []
    context = {
        "title": "Tags",
        "wide": True,
        "kind": kind,
        "known": known[kind],
        "tabs": _tabs(request, known, kind),
        "rows": shown,
        "found": len(found),
        "order": order,
        "sort_urls": {each.value: _sorted_by(request, each) for each in Order},
        "merges": merges,
        "bar": _bar(request, text, kind, order),
        "pager": Pager.of(request, len(found), offset, size),
        "empty": _empty(request, text, kind, len(known[kind])),
        "suggested": suggested[:SUGGESTED],
        "suggested_total": len(suggested),
        "names": [row["label"].name for row in shown],
    }
    return render_page(request, "console/tags/list.html", context, fragment="console/tags/_list.html")


def _row(label: Label, kind: str, most: int) -> dict[str, Any]:
    share = f"{100 * label.memories / most:.1f}%" if most else "0%"
    url = page_url("memories", **{_KINDS[kind]: label.name})
    return {"label": label, "share": share, "url": url, "domains": ", ".join(label.domains)}


def _tabs(request: HttpRequest, known: dict[str, Labels], kind: str) -> list[dict[str, Any]]:
    return [
        {
            "title": name.capitalize(),
            "url": request.path if name == "tags" else f"{request.path}?of={name}",
            "count": len(known[name]),
            "current": name == kind,
        }
        for name in _KINDS
    ]


def _sorted_by(request: HttpRequest, order: Order) -> str:
    query = {name: request.GET[name] for name in ("of", "q", "size") if request.GET.get(name)}
    return f"{request.path}?{urlencode({**query, 'sort': order.value})}"


def _bar(request: HttpRequest, text: str, kind: str, order: Order) -> FilterBar:
    hidden = [("of", kind)] if kind != "tags" else []
    clear = f"{request.path}?{urlencode(hidden)}" if hidden else request.path
    return FilterBar(
        request.path,
        query=text,
        placeholder=f"Search {kind}",
        hidden=[*hidden, ("sort", order.value)],
        clear_url=clear if text else "",
        target="labels",
    )


def _empty(request: HttpRequest, text: str, kind: str, total: int) -> Empty:
    if text and total:
        url = request.path if kind == "tags" else f"{request.path}?of={kind}"
        return Empty("search", f"0 of {total:,} match", "", (Action("Clear the search", url=url),))
    return Empty("tag", f"No {kind} yet", "They come with the memories.")


urlpatterns = [path("tags/", tags, name="tags")]
