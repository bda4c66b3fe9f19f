"""Undo, the button of every message that says what was changed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from memories.console.access import accepts, may, page_of
from memories.console.rendering import toast
from memories.console.repository_access import author, repository


@accepts("POST")
@may("change_memory")
def undo(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Take an operation back where nothing has changed since, and say what was left alone."""
    result = repository().undo(operation_id, author(request.user))
    toast(request, _says(len(result.undone), len(result.skipped)), bad=not result.undone)
    return HttpResponseRedirect(page_of(request))


def _says(undone: int, skipped: int) -> str:
    if skipped:
        return f"Undone for {undone:,} of {undone + skipped:,}, the rest has changed since"
    if not undone:
        return "Nothing to undo"
    return f"Undone, {undone:,} {'memory' if undone == 1 else 'memories'} as before"


urlpatterns = [path("operations/<str:operation_id>/undo/", undo, name="undo")]
