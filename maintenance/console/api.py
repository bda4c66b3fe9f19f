"""Maintenance in the JSON API: health, and reading the store anew."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from maintenance.health import examine_health
from memories.console.api.answers import answer
from memories.console.api.bodies import body_of, described, only
from memories.console.api.site import Endpoints
from memories.console.repository_access import repository, suite_settings

endpoints = Endpoints("maintenance")


@endpoints.get("health", "health")
def health(request: HttpRequest) -> HttpResponse:
    """What is stored, how large, how well indexed, and whether the model answers."""
    return answer(examine_health(suite_settings(), repository().embedder).as_answer())


@endpoints.post("refresh", "refresh", "view_memory", body=described({}))
def refresh(request: HttpRequest) -> HttpResponse:
    """The state that is served now. Every request reads the newest one, so there is nothing to refresh;
    the address stays for callers of the older suite."""
    only(body_of(request))
    snapshot = repository().snapshot()
    return answer({"generation": snapshot.generation, "memories": snapshot.count})
