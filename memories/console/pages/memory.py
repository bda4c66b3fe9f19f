"""One memory: read, edit with a live preview, its history, its edges, what is like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import path, reverse

from memories.console.access import accepts, allows, may, page_of
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
from memories.console.memory_form import Draft, posted_draft, stored_draft
from memories.console.memory_history import who
from memories.console.memory_view import MOST_REVISIONS, MemoryView, memory_view
from memories.console.navigation import page_url
from memories.console.pages.add import add_page
from memories.console.parts import Action, Notice
from memories.console.preview import Preview, preview_of_add, preview_of_update
from memories.console.relation_targets import is_stored
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.version_choice import adopted, rebased, version_choice
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import BulkChange, StoredMemory
from memories.repository.results import MemoryDetail
from memories.repository.revisions import Revision

PAGE, FORM = "console/memory/memory.html", "console/memory/_form.html"
PREVIEW = "console/memory/_preview.html"
CHOICE, TRASHED = "console/memory/choice.html", "console/memory/trashed.html"


@accepts("GET", "POST")
@may("view_memory")
@may("change_memory", on="POST")
def memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """The page. A button of the form (``edit``) changes what is typed, anything else saves it."""
    if request.method == "POST":
        return _posted(request, memory_id, posted_draft(request.POST), request.POST.get("edit", ""))
    try:
        view = memory_view(repository(), memory_id)
    except MemsuiteError as error:
        return _absent(request, memory_id, error)
    draft = stored_draft(view.detail)
    return _memory_page(request, view, draft, preview_of_update(repository(), draft, view.detail))


@accepts("POST")
@may("view_memory")
@may("change_memory")
def memory_preview(request: HttpRequest, memory_id: str) -> HttpResponse:
    """The preview of what is typed, and what is wrong with it. Writes nothing."""
    detail, draft = repository().get(memory_id), posted_draft(request.POST)
    preview = preview_of_update(repository(), draft, detail)
    form = FormView(draft, preview, notices=_changed_meanwhile(detail, draft))
    return render_page(request, PREVIEW, {"form": form, "memory": detail.memory, "live": True})


@accepts("POST")
@may("view_memory")
@may("change_memory")
def memory_restore(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Bring an earlier revision back as the newest one, or the memory back from the trash."""
    revision = _revision(request.POST.get("revision", ""))
    with recorded(request, "restore", ids=[memory_id], parameters={"revision": revision}) as event:
        result = repository().restore(memory_id, event.author, revision=revision)
        event.complete(changed=1, operation_id=result.operation_id)
    name = _name(repository().get(memory_id).memory)
    what = f"revision {revision} of {name}" if revision is not None else f"{name} from the trash"
    toast(request, f"Restored {what}", undo=result.operation_id)
    return redirect("console:memory", memory_id)


@accepts("POST")
@may("view_memory")
@may("delete_memory")
def memory_trash(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Move the memory to the trash; Undo and the trash bring it back."""
    name = _name(repository().get(memory_id).memory)
    with recorded(request, "delete", ids=[memory_id]) as event:
        result = repository().delete(memory_id, event.author)
        event.complete(changed=1, operation_id=result.operation_id)
    toast(request, f"Moved {name} to the trash", undo=result.operation_id)
    return HttpResponseRedirect(page_url("memories") or page_url("home"))


@accepts("POST")
@may("view_memory")
@may("change_memory")
def memory_reviewed(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Say that a person has read the memory and stands by it."""
    name = _name(repository().get(memory_id).memory)
    with recorded(request, "mark_reviewed", ids=[memory_id]) as event:
        result = repository().apply(BulkChange.of("mark_reviewed"), [memory_id], event.author)
        event.complete(
            changed=len(result.changed),
            unchanged=len(result.unchanged),
            refused=len(result.refused),
            operation_id=result.operation_id,
        )
    for error in result.refused.values():
        raise error
    toast(request, f"Marked {name} as reviewed", undo=result.operation_id)
    return HttpResponseRedirect(page_of(request))


def _posted(request: HttpRequest, memory_id: str, draft: Draft, command: str) -> HttpResponse:
    try:
        view = memory_view(repository(), memory_id)
    except MemsuiteError as error:
        if error.code is not ErrorCode.MEMORY_NOT_FOUND:
            raise
        return _gone_meanwhile(request, draft)
    if not command:
        return _save(request, view, draft)
    if command in _TAKES:
        taken = _TAKES[command](draft, stored_draft(view.detail))
        return _memory_page(request, view, taken, preview_of_update(repository(), taken, view.detail))
    change = edited(draft, command, is_stored=lambda name: is_stored(repository(), name))
    preview = preview_of_update(repository(), change.draft, view.detail)
    return _memory_page(request, view, change.draft, preview, focus=change.focus)


_TAKES = {"rebase": rebased, "adopt": adopted}
"""Buttons of other forms that bring their draft here: of the two versions, and of a new memory."""


def _save(request: HttpRequest, view: MemoryView, draft: Draft) -> HttpResponse:
    detail, stored = view.detail, stored_draft(view.detail)
    if draft.base_revision != stored.base_revision:
        return _ask(request, detail, draft)
    if not draft.as_patch(stored) and not draft.new_relation.strip():
        toast(request, "Nothing was changed, so nothing was saved")
        return redirect("console:memory", view.memory.id)
    preview = with_unfinished(preview_of_update(repository(), draft, detail), draft)
    if preview.problems:
        return _memory_page(request, view, draft, preview, focus=first_problem(preview), status=422)
    try:
        operation_id = _updated(request, view.memory.id, draft, stored)
    except MemsuiteError as error:
        return _not_saved(request, view, draft, error)
    toast(request, f"Saved {draft.value('domain')}:{draft.value('subject')}", undo=operation_id)
    return redirect("console:memory", view.memory.id)


def _updated(request: HttpRequest, memory_id: str, draft: Draft, stored: Draft) -> str:
    patch = draft.as_patch(stored)
    parameters = {"fields": sorted(patch), "base_revision": int(stored.base_revision)}
    with recorded(request, "update", ids=[memory_id], parameters=parameters) as event:
        payload = patch | {"base_revision": int(stored.base_revision)}
        result = repository().update(memory_id, payload, event.author, patch=True)
        written = bool(result.operation_id)
        event.complete(changed=int(written), unchanged=int(not written), operation_id=result.operation_id)
    return result.operation_id


def _not_saved(request: HttpRequest, view: MemoryView, draft: Draft, error: MemsuiteError) -> HttpResponse:
    """The page as it was sent, with what stood in the way."""
    if error.code is ErrorCode.VERSION_CONFLICT:
        return _ask(request, repository().get(view.memory.id), draft)
    if error.code is ErrorCode.MEMORY_NOT_FOUND:
        return _gone_meanwhile(request, draft)
    problem = problem_of(error)
    preview = refused(preview_of_update(repository(), draft, view.detail), error, draft)
    notices = failure_notices(error, problem, preview)
    page = _memory_page(request, view, draft, preview, notices=notices, status=problem.status)
    return retrying(page, problem)


def _ask(request: HttpRequest, detail: MemoryDetail, draft: Draft) -> HttpResponse:
    """Both versions side by side, where the memory has a newer revision than the draft was made over."""
    choice = version_choice(draft, detail, _revisions(detail))
    if choice.agrees and not draft.new_relation.strip():
        toast(request, "Somebody has saved the same change already")
        return redirect("console:memory", detail.memory.id)
    context = {
        "title": "Two versions",
        "choice": choice,
        "memory": detail.memory,
        "action": reverse("console:memory", args=[detail.memory.id]),
    }
    return render_page(request, CHOICE, context, status=409)


def _gone_meanwhile(request: HttpRequest, draft: Draft) -> HttpResponse:
    """The memory went while somebody edited it: what they typed goes on as a new one."""
    kept = replace(draft, base_revision="")
    trash = page_url("trash")
    notice = Notice(
        "This memory was moved to the trash meanwhile",
        "What you typed is kept here and not saved. Save it as a new memory, or restore the old one.",
        kind="warn",
        code=ErrorCode.MEMORY_NOT_FOUND.value,
        actions=(Action("Open the trash", url=trash),) if trash else (),
    )
    preview = preview_of_add(repository(), kept)
    return add_page(request, kept, preview, notices=(notice,), status=404)


def _absent(request: HttpRequest, memory_id: str, error: MemsuiteError) -> HttpResponse:
    """A memory in the trash is shown as such; of any other id there is nothing to say."""
    if error.code is not ErrorCode.MEMORY_NOT_FOUND:
        raise error
    last = next(iter(repository().revisions(memory_id, limit=1)), None)
    row = last.memory() if last is not None and last.removed else None
    if last is None or row is None:
        raise error
    context = {"title": "Memory", "row": row, "last": last, "by": who(last.actor, last.session_id)}
    return render_page(request, TRASHED, context | {"memory_id": memory_id}, status=404)


def _memory_page(
    request: HttpRequest,
    view: MemoryView,
    draft: Draft,
    preview: Preview,
    *,
    notices: Sequence[Notice] = (),
    focus: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, object] = {"title": "Memory", "view": view, "memory": view.memory}
    if allows(request.user, "memories.change_memory"):
        said = (*notices, *_changed_meanwhile(view.detail, draft))
        form = _form(view, draft, preview, said)
        unsaved = bool(draft.as_patch(stored_draft(view.detail)) or draft.new_relation)
        context["form"] = replace(form, focus=focus, has_unsaved=unsaved)
    return render_page(request, PAGE, context, fragment=FORM, status=status)


def _form(view: MemoryView, draft: Draft, preview: Preview, notices: Sequence[Notice]) -> FormView:
    name, as_stored = view.memory.id, draft.relations == stored_draft(view.detail).relations
    return form_view(
        repository(),
        draft,
        preview,
        action=reverse("console:memory", args=[name]),
        preview_url=reverse("console:memory_preview", args=[name]),
        detail=view.detail,
        relations=view.edges_out if as_stored else None,
        notices=notices,
    )


def _changed_meanwhile(detail: MemoryDetail, draft: Draft) -> tuple[Notice, ...]:
    """Said while one still types, so that the question at saving comes as no surprise."""
    revision = str(detail.memory.revision)
    if draft.base_revision == revision or not draft.base_revision:
        return ()
    return (
        Notice(
            f"This memory was changed meanwhile, it is at revision {revision} now",
            "Nothing of yours is lost: saving shows both versions and asks.",
            kind="warn",
        ),
    )


def _revisions(detail: MemoryDetail) -> list[Revision]:
    return repository().revisions(detail.memory.id, limit=MOST_REVISIONS)


def _revision(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise MemsuiteError(ErrorCode.INVALID_PARAMETER, "revision", "A revision is a number.", received=text)
    return int(text)


def _name(memory: StoredMemory) -> str:
    return f"{memory.domain}:{memory.subject}"


urlpatterns = [
    path("memories/<str:memory_id>/", memory, name="memory"),
    path("memories/<str:memory_id>/preview/", memory_preview, name="memory_preview"),
    path("memories/<str:memory_id>/restore/", memory_restore, name="memory_restore"),
    path("memories/<str:memory_id>/trash/", memory_trash, name="memory_trash"),
    path("memories/<str:memory_id>/reviewed/", memory_reviewed, name="memory_reviewed"),
]
