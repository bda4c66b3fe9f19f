"""Maintenance in the JSON API: health, and reading the store anew."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Query

from maintenance.health import examine_health
from memories.console.api.answers import answer
from memories.console.api.bodies import body_of, described, only, text_of
from memories.console.api.site import Endpoints
from memories.console.audit import recorded
from memories.console.heavy import heavy_work
from memories.console.repository_access import repository
from memories.contract import ErrorCode, MemsuiteError
from memories.repository.upkeep.planning import Mode

endpoints = Endpoints("maintenance")

_COMPACT = described(
    {"confirmed": {"type": "boolean"}, "mode": {"type": "string", "enum": [*Mode]}}, "confirmed"
)


@endpoints.get("health", "health")
def health(request: HttpRequest) -> HttpResponse:
    """What is stored, how large, how well indexed, and whether the model answers."""
    return answer(examine_health(repository().settings, repository().embedder).as_answer())


@endpoints.post("refresh", "refresh", "view_memory", body=described({}))
def refresh(request: HttpRequest) -> HttpResponse:
    """The state that is served now. Every request reads the newest one, so there is nothing to refresh;
    the address stays for callers of the older suite."""
    only(body_of(request))
    snapshot = repository().snapshot()
    return answer({"generation": snapshot.generation, "memories": snapshot.count})


@endpoints.get("maintenance/compact/plan", "compact_plan")
def compact_plan(
    request: HttpRequest, mode: Annotated[str, Query(pattern="^(routine|reclaim)$")] = "routine"
) -> HttpResponse:
    """What maintenance would do now, for each table."""
    return answer(repository().maintenance().plan(Mode(mode)).as_answer())


@endpoints.post("maintenance/compact", "compact", "maintenance.compact", body=_COMPACT)
def compact(request: HttpRequest) -> HttpResponse:
    """Prune, compact and verify, behind a verified backup; ``confirmed`` must be true."""
    body = body_of(request)
    only(body, "confirmed", "mode")
    mode = text_of(body, "mode", default="routine")
    if body.get("confirmed") is not True:
        raise MemsuiteError(
            ErrorCode.CONFIRMATION_REQUIRED, "confirmed", "Say confirmed: true.", expected=True
        )
    if mode not in list(Mode):
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "mode", "There is no such mode.", received=mode, expected=[*Mode]
        )
    with heavy_work(), recorded(request, "compact", parameters={"mode": mode}) as event:
        result = repository().maintenance().run(Mode(mode))
        event.complete(changed=int(result.success), operation_id="")
    return answer(result.as_answer(), 200 if result.success else 503)
