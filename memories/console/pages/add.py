"""Adding a memory by hand: the contract as a form, what it would meet shown before it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from memories.console.access import accepts, may
from memories.console.audit import recorded
from memories.console.errors import problem_of
from memories.console.form_edits import edited
from memories.console.form_problems import (
    failure_notices,
    first_problem,
    refused,
    retrying,
    with_unfinished,
)
from memories.console.form_view import FormView, form_view
from memories.console.memory_form import BLANK, Draft, posted_draft
from memories.console.parts import Notice
from memories.console.preview import Preview, preview_of_add
from memories.console.relation_targets import is_stored
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.contract import MemsuiteError
from memories.repository import AddResult
from memories.repository.preflight import AddStatus

PAGE, FORM, PREVIEW = "console/add/add.html", "console/memory/_form.html", "console/memory/_preview.html"


@accepts("GET", "POST")
@may("view_memory")
@may("add_memory")
def add(request: HttpRequest) -> HttpResponse:
    """The form. A button of the form (``edit``) changes what is typed, anything else saves it."""
    if request.method != "POST":
        return add_page(request, BLANK, preview_of_add(repository(), BLANK, blank_is_fine=True))
    draft, command = posted_draft(request.POST), request.POST.get("edit", "")
    if not command:
        return _save(request, draft)
    change = edited(draft, command, is_stored=lambda name: is_stored(repository(), name))
    preview = preview_of_add(repository(), change.draft, blank_is_fine=command != "check")
    return add_page(request, change.draft, preview, focus=change.focus)


@accepts("POST")
@may("view_memory")
@may("add_memory")
def add_preview(request: HttpRequest) -> HttpResponse:
    """The preview of what is typed, and what is wrong with it. Writes nothing."""
    draft = posted_draft(request.POST)
    preview = preview_of_add(repository(), draft, blank_is_fine=True)
    return render_page(request, PREVIEW, {"form": FormView(draft, preview, is_new=True), "live": True})


def add_page(
    request: HttpRequest,
    draft: Draft,
    preview: Preview,
    *,
    notices: Sequence[Notice] = (),
    focus: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page with a draft in its form."""
    form = replace(_form(draft, preview, notices), focus=focus, has_unsaved=not draft.is_blank)
    context = {"title": "Add a memory", "form": form}
    return render_page(request, PAGE, context, fragment=FORM, status=status)


def _save(request: HttpRequest, draft: Draft) -> HttpResponse:
    preview = with_unfinished(preview_of_add(repository(), draft), draft)
    if preview.problems:
        return add_page(request, draft, preview, status=422, focus=first_problem(preview))
    try:
        result = _added(request, draft)
    except MemsuiteError as error:
        problem = problem_of(error)
        seen = refused(preview_of_add(repository(), draft), error, draft)
        notices = failure_notices(error, problem, seen)
        page = add_page(request, draft, seen, notices=notices, status=problem.status)
        return retrying(page, problem)
    if result.status is AddStatus.UPDATE_SUGGESTED:
        return add_page(request, draft, preview_of_add(repository(), draft), status=409)
    name = f"{draft.value('domain')}:{draft.value('subject')}"
    if result.status is AddStatus.IDEMPOTENT:
        toast(request, f"{name} is stored already in these words, counted as confirmed")
    else:
        toast(request, f"Added {name}", undo=result.operation_id)
    return redirect("console:memory", result.memory_id)


def _added(request: HttpRequest, draft: Draft) -> AddResult:
    payload = draft.as_add()
    with recorded(request, "add", parameters={"given": sorted(payload)}) as event:
        result = repository().add(payload, event.author)
        event.complete(
            changed=int(result.status.writes),
            unchanged=int(not result.status.writes),
            operation_id=result.operation_id,
        )
    return result


def _form(draft: Draft, preview: Preview, notices: Sequence[Notice] = ()) -> FormView:
    return form_view(
        repository(),
        draft,
        preview,
        action=reverse("console:add"),
        preview_url=reverse("console:add_preview"),
        notices=notices,
    )


urlpatterns = [
    path("memories/add/", add, name="add"),
    path("memories/add/preview/", add_preview, name="add_preview"),
]
