"""A person's saved filters: keep, rename, delete. They are nobody else's business, so there is no permission
beyond that of seeing memories."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from memories.console.access import accepts, may, page_of
from memories.console.navigation import page_url
from memories.console.parts import Action, Empty
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.saved_filter_models import LONGEST_NAME, SavedFilter
from memories.console.saved_filters import rename, save, saved_filters
from memories.contract import MemsuiteError


@accepts("GET", "POST")
@may("view_memory")
def saved(request: HttpRequest) -> HttpResponse:
    """The person's filters; a POST with ``filter`` and ``name`` keeps another."""
    if request.method != "POST":
        return _page(request)
    try:
        kept = save(_owner(request), request.POST.get("name", ""), request.POST.get("filter", ""))
    except MemsuiteError as error:
        return _page(request, error)
    toast(request, f"Saved the filter {kept.name}")
    return HttpResponseRedirect(page_of(request))


@accepts("POST")
@may("view_memory")
def change(request: HttpRequest, saved_id: int) -> HttpResponse:
    """Rename or delete one, by ``action``."""
    kept = SavedFilter.objects.filter(owner=_owner(request), pk=saved_id).first()
    if kept is None:
        raise Http404
    if request.POST.get("action") == "delete":
        kept.delete()
        toast(request, f"Deleted the filter {kept.name}")
    else:
        try:
            rename(kept, request.POST.get("name", ""))
        except MemsuiteError as error:
            return _page(request, error, kept.pk)
        toast(request, f"Renamed to {kept.name}")
    return HttpResponseRedirect(page_url("saved_filters"))


def _page(request: HttpRequest, error: MemsuiteError | None = None, at: int | None = None) -> HttpResponse:
    """``at`` is the filter whose form was refused; without one it was a new filter's."""
    context = {
        "title": "Saved filters",
        "purpose": "Lists you come back to. Only you see yours.",
        "saved": saved_filters(request.user, repository()),
        "longest": LONGEST_NAME,
        "error": error,
        "at": at,
        "typed": request.POST.get("name", ""),
        "filter": request.POST.get("filter", ""),
        "empty": Empty(
            "search",
            "No saved filters",
            "Narrow the list of memories, then save the filter there under a name.",
            [Action("To the memories", page_url("memories"))],
        ),
    }
    status = 200 if error is None else 422
    return render_page(request, "console/memories/saved.html", context, status=status)


def _owner(request: HttpRequest) -> User:
    # Whoever holds a permission is a person with an account.
    return cast(User, request.user)


urlpatterns = [
    path("saved-filters/", saved, name="saved_filters"),
    path("saved-filters/<int:saved_id>/", change, name="saved_filter"),
]
