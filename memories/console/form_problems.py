"""What a person is told when a form was not saved. Whatever they typed stands in it again."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse

from memories.console.errors import Problem
from memories.console.form_checks import place_of
from memories.console.form_view import PLACES
from memories.console.memory_form import Draft
from memories.console.parts import Notice
from memories.console.preview import Preview
from memories.contract import ErrorCode, MemsuiteError

UNFINISHED = "Choose “Add relation” to keep this, or clear the field."

_NOT_STORED = "Nothing was stored. Everything you typed is still here."
_TITLES = {
    ErrorCode.EMBEDDING_FAILED: "The embedder does not answer, so this cannot be saved now",
    ErrorCode.EMBEDDING_MODEL_MISMATCH: "The database was embedded with another model",
    ErrorCode.STORE_BUSY: "Another change is being written",
    ErrorCode.STORE_READ_ONLY: "The database is read-only",
    ErrorCode.DISK_FULL: "The disk is full",
    ErrorCode.SECRET_DETECTED: "This holds what looks like a secret",
}


def with_unfinished(preview: Preview, draft: Draft) -> Preview:
    """A relation that is typed but not added is neither stored nor dropped without a word."""
    if not draft.new_relation.strip():
        return preview
    return replace(preview, problems=preview.problems | {"relations": UNFINISHED})


def refused(preview: Preview, error: MemsuiteError, draft: Draft) -> Preview:
    """The preview with what the store refused said at its field."""
    place = place_of(error, draft)
    if place.name == "form" or preview.problems or preview.disagreements:
        return preview
    return replace(preview, problems={place.name: place.says})


def failure_notices(error: MemsuiteError, problem: Problem, preview: Preview) -> tuple[Notice, ...]:
    """What is said above the form. What stands at a field or in the preview is not said twice."""
    if preview.problems or (problem.status == 409 and preview.met):
        return ()
    title = _TITLES.get(error.code, problem.title)
    again = " Save again in a moment." if problem.retry_after else ""
    return (Notice(title, f"{error.message} {_NOT_STORED}{again}", kind="bad", code=problem.code),)


def first_problem(preview: Preview) -> str:
    """The id of the element to go to: the first field of the form that something is wrong with."""
    rows = sorted((name for name in preview.problems if name.startswith("fact-")), key=_row)
    order = (*PLACES[:3], *rows, *PLACES[3:])
    first = next((name for name in order if name in preview.problems), "")
    return _ELEMENTS.get(first, f"f-{first}") if first else ""


def retrying(response: HttpResponse, problem: Problem) -> HttpResponse:
    """The answer with what a client may wait before it tries again."""
    if problem.retry_after:
        response["Retry-After"] = str(problem.retry_after)
    return response


_ELEMENTS = {
    "form": "form-notices",
    "facts": "f-fact-0",
    "tags": "f-tag",
    "relations": "f-relation",
    "tier": "f-tier-2",
}


def _row(place: str) -> int:
    return int(place.removeprefix("fact-"))
