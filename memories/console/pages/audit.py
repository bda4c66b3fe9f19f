"""Audit: everything that was done to the memories, by whom, and the way back."""

from __future__ import annotations

from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from django.utils.http import urlencode

from memories.console.access import accepts, may
from memories.console.audit_csv import csv_lines, shown
from memories.console.audit_detail import SAMPLES, changes_of, named_memories, touched_ids
from memories.console.audit_filter import RESULTS, AuditFilter
from memories.console.audit_history import History, action_label, actors_and_actions, find, named_ids
from memories.console.memory_history import who
from memories.console.navigation import Page, Section, page_url, register
from memories.console.parts import PAGE_SIZES, Empty, Pager
from memories.console.rendering import render_page
from memories.console.repository_access import repository

register(Page(Section.RUN, 30, "Audit", "console:audit", "audit", "view_memory", key="y"))

DEEPEST = 1_000_000
"""The last row that a page of the list may start at."""


@accepts("GET")
@may("view_memory")
def audit(request: HttpRequest) -> HttpResponse:
    """Operations, newest first."""
    asked = AuditFilter.of(request.GET)
    store, size = repository(), _size(request)
    history = History(store, asked)
    total = history.total
    offset = min(_number(request, "offset", DEEPEST), max(total - 1, 0) // size * size)
    actors, actions = actors_and_actions(store)
    query = urlencode(asked.pairs())
    context = {
        "title": "Audit",
        "purpose": "Everything that was done to the memories, newest first.",
        "wide": True,
        "asked": asked,
        "operations": history.page(offset, size),
        "total": total,
        "pager": Pager.of(request, total, offset, size),
        "size": size,
        "actors": [(actor, who(actor)) for actor in actors],
        "actions": [(action, action_label(action)) for action in actions],
        "results": RESULTS.items(),
        "export_url": f"{page_url('audit_export')}?{query}" if query else page_url("audit_export"),
        "empty": _empty(bool(query)),
    }
    return render_page(request, "console/audit/list.html", context, fragment="console/audit/_rows.html")


@accepts("GET")
@may("view_memory")
def operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """One operation: what was asked, what came of it, the memories it touched."""
    store = repository()
    found = find(store, operation_id)
    if found is None:
        raise Http404
    ids = touched_ids(store, operation_id, named_ids(operation_id))
    size = _size(request)
    offset = min(_number(request, "offset", DEEPEST), max(len(ids) - 1, 0) // size * size)
    context = {
        "title": "Operation",
        "operation": found,
        "parameters": [(name.replace("_", " "), shown(value)) for name, value in found.parameters.items()],
        "texts": [(name.replace("_", " "), shown(value)) for name, value in found.texts.items()],
        "touched": named_memories(store, ids[offset : offset + size]),
        "total": len(ids),
        "pager": Pager.of(request, len(ids), offset, size),
        "changes": changes_of(store, operation_id, ids[:SAMPLES]),
    }
    return render_page(request, "console/audit/operation.html", context)


@accepts("GET")
@may("view_memory")
@may("change_memory")
def export(request: HttpRequest) -> StreamingHttpResponse:
    """The list as it is filtered, as CSV."""
    history = History(repository(), AuditFilter.of(request.GET))
    response = StreamingHttpResponse(csv_lines(history.every()), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="audit-{datetime.now(UTC):%Y-%m-%d}.csv"'
    return response


def _size(request: HttpRequest) -> int:
    asked = _number(request, "size", max(PAGE_SIZES))
    return asked if asked in PAGE_SIZES else 50


def _number(request: HttpRequest, name: str, most: int) -> int:
    """A number of the query that only moves within the list: what is none counts as 0."""
    text = request.GET.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _empty(narrowed: bool) -> Empty:
    if narrowed:
        return Empty("audit", "No operation matches", "Take a filter away, or widen the days.")
    return Empty("audit", "Nothing has been done yet", "What anyone changes is listed here, with a way back.")


urlpatterns = [
    path("audit/", audit, name="audit"),
    path("audit/export/", export, name="audit_export"),
    path("audit/<str:operation_id>/", operation, name="audit_operation"),
]
