"""What the API changes, one memory at a time. Every change is in the audit history like a person's."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from memories.console.api.answers import answer
from memories.console.api.bodies import FORM, REQUIRED, TEXT, body_of, described, only, text_of
from memories.console.api.site import Endpoints
from memories.console.audit import recorded
from memories.console.conflict_desk import resolve
from memories.console.repository_access import repository
from memories.contract import ErrorCode, MemsuiteError, Relation, RelationType, WriteMode, validate_patch
from memories.repository.resolving import Decision, Loser, Resolution
from memories.repository.results import MemoryDetail
from memories.repository.usage import Usage
from memories.screening import refuse_secrets
from memories.text.entities import entities

endpoints = Endpoints("changing")

_REVISION = {"type": "integer", "minimum": 1}
_ADD = described(
    FORM | {"write_mode": {"type": "string", "enum": [str(mode) for mode in WriteMode]}}, *REQUIRED
)
_PATCH = described(FORM | {"base_revision": _REVISION})
_BY_ID = described({"memory_id": TEXT, "note": TEXT}, "memory_id")
_UPDATE = described(FORM | {"memory_id": TEXT, "base_revision": _REVISION}, "memory_id")
_DECISION = described(
    {
        "resolution": {"type": "string", "enum": [str(resolution) for resolution in Resolution]},
        "note": TEXT,
        "resolution_note": TEXT,
        "loser": {"type": "string", "enum": [str(loser) for loser in Loser]},
        "edits": {"type": "object"},
    },
    "resolution",
    "note",
)
_ENTITIES = described({"memory_id": TEXT, "entities": {"type": "array", "items": TEXT}}, "memory_id")


@endpoints.post("memories", "add_memory", "add_memory", body=_ADD)
def add_memory(request: HttpRequest) -> HttpResponse:
    """Add a memory; the same words again are counted as a confirmation."""
    payload = body_of(request)
    with recorded(request, "add", parameters={"given": sorted(payload)}) as event:
        result = repository().add(payload, event.author)
        writes = result.status.writes
        event.complete(changed=int(writes), unchanged=int(not writes), operation_id=result.operation_id)
    return answer(result.as_answer())


@endpoints.post("memories/{memory_id}", "change_memory", "change_memory", body=_PATCH)
def change_memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Change the fields that are given; ``base_revision`` refuses a change over a newer state."""
    return _updated(request, memory_id, body_of(request))


@endpoints.post("update", "update", "change_memory", body=_UPDATE)
def update(request: HttpRequest) -> HttpResponse:
    """The same, the memory named in the body."""
    payload = body_of(request)
    memory_id = text_of(payload, "memory_id")
    return _updated(
        request, memory_id, {name: value for name, value in payload.items() if name != "memory_id"}
    )


@endpoints.post("memories/{memory_id}/preview", "preview", "change_memory", body=_PATCH)
def preview(request: HttpRequest, memory_id: str) -> HttpResponse:
    """What a change would make of a memory. Writes nothing and embeds nothing."""
    detail = repository().get(memory_id)
    before = detail.memory.form(_declared(detail))
    wanted = validate_patch(body_of(request), before)
    form = wanted.form_over(before)
    refuse_secrets(form, allowed=repository().settings.allowed_secret_patterns)
    return answer(
        {
            "previous_content": detail.memory.content,
            "canonical_content": form.content,
            "revision": detail.memory.revision,
            "normalized_fields": list(wanted.normalized_fields),
            "warnings": [dict(warning) for warning in wanted.warnings],
        }
    )


@endpoints.post("memories/{memory_id}/access", "access", "view_memory", body=described({}))
def access(request: HttpRequest, memory_id: str) -> HttpResponse:
    """How often a memory was recalled. Looking at it here counts nothing."""
    only(body_of(request))
    repository().get(memory_id)
    usage = repository().usage.of([memory_id]).get(memory_id, Usage())
    return answer({"memory_id": memory_id, "access_count": usage.recalls})


@endpoints.post("conflicts/{conflict_id}/resolve", "resolve_conflict", "resolve_conflict", body=_DECISION)
def resolve_conflict(request: HttpRequest, conflict_id: str) -> HttpResponse:
    """Decide about an open conflict, with a reason."""
    body = body_of(request)
    only(body, "resolution", "note", "loser", "edits", "resolution_note")
    # What the older suite calls the reason.
    note = body.get("note", body.get("resolution_note", ""))
    given = {name: body[name] for name in ("loser", "edits") if name in body}
    if "edits" in given and not isinstance(given["edits"], dict):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, "edits", "edits is an object.", received=given["edits"])
    decision = Decision.of(body.get("resolution"), note, **given)
    return answer(resolve(request, repository(), conflict_id, decision).as_answer())


@endpoints.post("delete", "delete", "delete_memory", body=_BY_ID)
def delete(request: HttpRequest) -> HttpResponse:
    """Move a memory to the trash."""
    body = body_of(request)
    only(body, "memory_id", "note")
    memory_id, note = text_of(body, "memory_id"), text_of(body, "note", default="")
    with recorded(request, "delete", ids=[memory_id], note=note) as event:
        result = repository().delete(memory_id, event.author, note=note)
        event.complete(changed=1, operation_id=result.operation_id)
    return answer(result.as_answer())


@endpoints.post("update_entities", "update_entities", "change_memory", body=_ENTITIES)
def update_entities(request: HttpRequest) -> HttpResponse:
    """The entities of a memory. They follow from its text, so others than those are refused."""
    body = body_of(request)
    only(body, "memory_id", "entities")
    memory_id = text_of(body, "memory_id")
    memory = repository().get(memory_id).memory
    derived = list(entities(memory.form(())))
    if "entities" in body and body["entities"] != derived:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "entities",
            "Entities follow from the text of a memory. Change its facts instead.",
            received=body["entities"],
            expected=derived,
        )
    return answer({"memory_id": memory_id, "entities": derived})


def _declared(detail: MemoryDetail) -> list[Relation]:
    return [
        Relation(RelationType(edge.relation_type), "" if edge.label else edge.memory_id, edge.label)
        for edge in detail.edges_out
    ]


def _updated(request: HttpRequest, memory_id: str, payload: dict[str, Any]) -> HttpResponse:
    with recorded(request, "update", ids=[memory_id], parameters={"fields": sorted(payload)}) as event:
        result = repository().update(memory_id, payload, event.author, patch=True)
        written = bool(result.operation_id)
        event.complete(changed=int(written), unchanged=int(not written), operation_id=result.operation_id)
    return answer(result.as_answer())
