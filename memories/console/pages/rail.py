"""The numbers of the rail, for a page that was shown without them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from memories.console.access import accepts, signed_in
from memories.console.rendering import render_page
from memories.console.shell import Shell


@accepts("GET")
@signed_in
def rail_counts(request: HttpRequest) -> HttpResponse:
    """The counts of every page that this person may open; one that cannot be told stays empty."""
    return render_page(request, "console/parts/rail_counts.html", {"links": Shell(request).counted})


urlpatterns = [path("rail/", rail_counts, name="rail_counts")]
