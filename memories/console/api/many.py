"""What the API changes many of at once: one operation, one undo. Ids, at most a thousand, or a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict

from memories.console import undoing
from memories.console.api.answers import answer
from memories.console.api.bodies import TEXT, TEXTS, body_of, described, only, text_of, texts_of
from memories.console.api.site import Endpoints
from memories.console.audit import recorded
from memories.console.filtering import holding
from memories.console.filters import MemoryFilter
from memories.console.heavy import heavy_work
from memories.console.repository_access import repository
from memories.console.selection import MOST_CHOSEN
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Action, BulkChange

endpoints = Endpoints("many")

_IDS = {"type": "array", "items": TEXT, "maxItems": MOST_CHOSEN}
_WHICH: dict[str, Any] = {"memory_ids": _IDS, "filter": TEXT, "note": TEXT}
"""``filter`` is the query of the Memories page, such as ``category=tech&tag=api``."""


@endpoints.post("memories/bulk-delete", "bulk_delete", "delete_memory", body=described(_WHICH))
def bulk_delete(request: HttpRequest) -> HttpResponse:
    """Move many memories to the trash."""
    body = body_of(request)
    only(body, *_WHICH)
    return _applied(request, BulkChange.of(Action.TRASH), _chosen(body), body)


@endpoints.post(
    "memories/bulk-tag",
    "bulk_tag",
    "change_memory",
    body=described(_WHICH | {"tags": TEXTS, "remove": {"type": "boolean"}}, "tags"),
)
def bulk_tag(request: HttpRequest) -> HttpResponse:
    """Add tags to many memories, or with ``remove`` take them away."""
    body = body_of(request)
    only(body, *_WHICH, "tags", "remove")
    tags = list(texts_of(body, "tags", most=MOST_CHOSEN))
    removes = body.get("remove", False)
    if not isinstance(removes, bool):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, "remove", "remove is true or false.", received=removes)
    change = BulkChange.of(Action.REMOVE_TAGS if removes else Action.ADD_TAGS, tags)
    return _applied(request, change, _chosen(body), body)


@endpoints.post(
    "memories/bulk-type", "bulk_type", "change_memory", body=described(_WHICH | {"type": TEXT}, "type")
)
def bulk_type(request: HttpRequest) -> HttpResponse:
    """Give many memories one type."""
    body = body_of(request)
    only(body, *_WHICH, "type")
    return _applied(request, BulkChange.of(Action.SET_TYPE, text_of(body, "type")), _chosen(body), body)


@endpoints.post(
    "tags/rename",
    "rename_tag",
    "merge_tags",
    body=described({"old_name": TEXT, "new_name": TEXT}, "old_name", "new_name"),
)
def rename_tag(request: HttpRequest) -> HttpResponse:
    """Rename a tag on every memory that carries it."""
    body = body_of(request)
    only(body, "old_name", "new_name")
    return _merged(request, [text_of(body, "old_name")], text_of(body, "new_name"))


@endpoints.post(
    "tags/merge",
    "merge_tags",
    "merge_tags",
    body=described({"sources": TEXTS, "target": TEXT}, "sources", "target"),
)
def merge_tags(request: HttpRequest) -> HttpResponse:
    """Make several tags one."""
    body = body_of(request)
    only(body, "sources", "target")
    return _merged(request, list(texts_of(body, "sources", most=MOST_CHOSEN)), text_of(body, "target"))


@endpoints.post("tags/delete", "delete_tag", "merge_tags", body=described({"tag": TEXT}, "tag"))
def delete_tag(request: HttpRequest) -> HttpResponse:
    """Take a tag off every memory that carries it."""
    body = body_of(request)
    only(body, "tag")
    tag = text_of(body, "tag")
    return _applied(request, BulkChange.of(Action.REMOVE_TAGS, [tag]), _holding([tag]), body)


@endpoints.post("operations/{operation_id}/undo", "undo", "change_memory", body=described({}))
def undo(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Take an operation back where nothing has changed since; what has is named."""
    only(body_of(request))
    touched = undoing.touched_by(repository(), operation_id)
    with heavy_work(), recorded(request, "undo", ids=touched, undoes=operation_id) as event:
        result = repository().undo(operation_id, event.author)
        event.complete(
            changed=len(result.undone), refused=len(result.skipped), operation_id=result.operation_id
        )
    return answer(result.as_answer())


def _merged(request: HttpRequest, tags: list[str], target: str) -> HttpResponse:
    change = BulkChange.of(Action.MERGE_TAGS, tags, target=target)
    return _applied(request, change, _holding(change.tags), {})


def _applied(
    request: HttpRequest, change: BulkChange, ids: list[str], body: Mapping[str, Any]
) -> HttpResponse:
    note = text_of(body, "note", default="")
    values = {"tags": list(change.tags), "target": change.target, "type": change.type}
    given = {name: value for name, value in values.items() if value}
    with heavy_work(), recorded(request, str(change.action), ids=ids, parameters=given, note=note) as event:
        result = repository().apply(change, ids, event.author, note=note)
        event.complete(
            changed=len(result.changed),
            unchanged=len(result.unchanged),
            refused=len(result.refused),
            operation_id=result.operation_id,
        )
    return answer(result.as_answer())


def _chosen(body: Mapping[str, Any]) -> list[str]:
    """The memories of a call: by id, or all that a filter lets through."""
    if ("memory_ids" in body) == ("filter" in body):
        raise MemsuiteError(
            ErrorCode.REQUIRED_FIELD,
            "memory_ids",
            "Say which memories: memory_ids or filter, one of the two.",
            expected=["memory_ids", "filter"],
        )
    if "memory_ids" in body:
        return list(texts_of(body, "memory_ids", most=MOST_CHOSEN))
    return MemoryFilter.of(QueryDict(text_of(body, "filter", most=2000)).dict()).ids(repository())


def _holding(tags: list[str] | tuple[str, ...]) -> list[str]:
    table = repository().catalogue().table
    found: list[str] = table.filter(holding(table, "tags", tags))["id"].to_pylist()
    return found
