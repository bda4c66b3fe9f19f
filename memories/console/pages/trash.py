"""The trash: what was taken away, by whom and when, and the way back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.http import urlencode

from memories.console.access import accepts, allows, may
from memories.console.navigation import Page, Section, register
from memories.console.paging import window
from memories.console.parts import Action, BulkBar, Empty, FilterBar, Pager
from memories.console.rendering import render_page
from memories.console.repository_access import repository
from memories.console.trash_contents import count_in_trash, in_trash

LONGEST_SEARCH = 500

register(
    Page(
        Section.DECIDE,
        60,
        "Trash",
        "console:trash",
        "trash",
        key="s",
        count=count_in_trash,
    )
)


@accepts("GET")
@may("view_memory")
def trash(request: HttpRequest) -> HttpResponse:
    """The list, last deleted first; restoring is the flow of every change of many."""
    text = request.GET.get("q", "")[:LONGEST_SEARCH].strip()
    everything, found = in_trash(repository()), in_trash(repository(), text)
    offset, size = window(request.GET, len(found))
    restores = allows(request.user, "memories.delete_memory")
    context = {
        "title": "Trash",
        "wide": True,
        "total": len(everything),
        "found": len(found),
        "rows": found[offset : offset + size],
        "filter": urlencode({"q": text}) if text else "",
        "restores": restores,
        "searching": bool(text),
        "bar": FilterBar(
            request.path,
            query=text,
            placeholder="Search in the trash",
            clear_url=request.path if text else "",
            target="trash",
        ),
        "bulk": BulkBar("trash-form", len(found), actions=(Action("Restore", value="restore", icon="undo"),)),
        "pager": Pager.of(request, len(found), offset, size),
        "empty": _empty(request, bool(text), len(everything)),
    }
    return render_page(request, "console/trash/list.html", context, fragment="console/trash/_list.html")


def _empty(request: HttpRequest, searching: bool, total: int) -> Empty:
    if searching and total:
        return Empty("search", f"0 of {total:,} match", "", (Action("Clear the search", url=request.path),))
    return Empty("trash", "The trash is empty", "Memories that are deleted lie here and can be restored.")


urlpatterns = [path("trash/", trash, name="trash")]
