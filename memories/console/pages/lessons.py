"""Lessons: rules drawn from corrections, each with who said it and where, waiting for a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from memories.console import lesson_desk
from memories.console.access import accepts, may
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
from memories.console.memory_form import Draft, posted_draft
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Action, Empty, Notice, Pager
from memories.console.preview import Preview, Verdict, preview_of_add
from memories.console.relation_targets import is_stored
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.contract import MemsuiteError
from memories.contract.limits import QUALITY_DEFAULT
from memories.repository import MemoryRepository
from memories.repository.lessons import Lesson, LessonStatus
from memories.repository.preflight import AddStatus

NOTE_MAX = 1_000
OTHERS_OFFERED = 20
LIST, PAGE = "console/lessons/list.html", "console/lessons/lesson.html"
FORM, PREVIEW = "console/memory/_form.html", "console/memory/_preview.html"


def waiting_count(store: MemoryRepository) -> int:
    return store.lessons.counts()[LessonStatus.WAITING]


register(
    Page(Section.DECIDE, 30, "Lessons", "console:lessons", "lesson", key="e", count=waiting_count, due=True)
)


@accepts("GET")
@may("view_memory")
def lessons(request: HttpRequest) -> HttpResponse:
    """The lessons of one state, in the order in which they are gone through."""
    state = _state(request.GET.get("state", ""))
    counts = repository().lessons.counts()
    found = _in_order(state)
    offset, size = window(request.GET, len(found))
    context = {
        "title": "Lessons",
        "wide": True,
        "tabs": [_tab(status, counts[status], state) for status in LessonStatus],
        "rows": [
            {"lesson": lesson, "url": page_url("lesson", lesson.id)}
            for lesson in found[offset : offset + size]
        ],
        "pager": Pager.of(request, len(found), offset, size),
        "empty": _empty(state),
    }
    return render_page(request, LIST, context)


@accepts("GET", "POST")
@may("view_memory")
@may("approve_lesson", on="POST")
def lesson(request: HttpRequest, lesson_id: str) -> HttpResponse:
    """One lesson with its evidence, and the memory it would become. A button of the form (``edit``)
    changes what is typed, anything else approves it."""
    found = repository().lessons.get(lesson_id)
    if request.method != "POST":
        draft = proposed_draft(found)
        return _shown(request, found, draft, preview_of_add(repository(), draft))
    draft, command = posted_draft(request.POST), request.POST.get("edit", "")
    if not command:
        return _approve(request, found, draft)
    change = edited(draft, command, is_stored=lambda name: is_stored(repository(), name))
    preview = preview_of_add(repository(), change.draft)
    return _shown(request, found, change.draft, preview, focus=change.focus)


@accepts("POST")
@may("view_memory")
@may("approve_lesson")
def lesson_preview(request: HttpRequest, lesson_id: str) -> HttpResponse:
    """The preview of what is typed. Writes nothing."""
    repository().lessons.get(lesson_id)
    draft = posted_draft(request.POST)
    preview = preview_of_add(repository(), draft, blank_is_fine=True)
    return render_page(request, PREVIEW, {"form": FormView(draft, preview, is_new=True), "live": True})


@accepts("POST")
@may("view_memory")
@may("approve_lesson")
def lesson_decide(request: HttpRequest, lesson_id: str) -> HttpResponse:
    """Reject, merge into another one, or take a decision back."""
    store = repository()
    found, decision = store.lessons.get(lesson_id), request.POST.get("decision", "")
    following = _next_waiting(found)
    match decision:
        case "merge":
            lesson_desk.merge(request, store, found, request.POST.get("into", ""))
            toast(request, "Merged, with its evidence")
        case "reopen":
            lesson_desk.reopen(request, store, found)
            toast(request, "The lesson is waiting again")
            following = found.id
        case _:
            note = " ".join(request.POST.get("note", "").split())[:NOTE_MAX]
            lesson_desk.reject(request, store, found, note)
            toast(request, "Rejected. It does not come back while nothing new is said")
    return HttpResponseRedirect(page_url("lesson", following) if following else page_url("lessons"))


def proposed_draft(found: Lesson) -> Draft:
    """The form as the lesson proposes it."""
    proposed = found.proposed
    return Draft(
        domain=str(proposed["domain"]),
        subject=str(proposed["subject"]),
        facts=tuple(proposed["facts"]),
        tier=str(proposed["tier"]),
        category=str(proposed["category"]),
        quality=f"{QUALITY_DEFAULT:g}",
        tags=tuple(proposed.get("tags", ())),
    )


def _approve(request: HttpRequest, found: Lesson, draft: Draft) -> HttpResponse:
    preview = with_unfinished(preview_of_add(repository(), draft), draft)
    if preview.problems:
        return _shown(request, found, draft, preview, status=422, focus=first_problem(preview))
    into, payload, following = request.POST.get("into", ""), draft.as_add(), _next_waiting(found)
    try:
        if into:
            done = lesson_desk.approve_into(request, repository(), found, payload, into)
        else:
            done = lesson_desk.approve(request, repository(), found, payload)
    except MemsuiteError as error:
        problem = problem_of(error)
        seen = refused(preview_of_add(repository(), draft), error, draft)
        notices = failure_notices(error, problem, seen)
        return retrying(_shown(request, found, draft, seen, notices=notices, status=problem.status), problem)
    if done.status is AddStatus.UPDATE_SUGGESTED:
        return _shown(request, found, draft, preview_of_add(repository(), draft), status=409)
    toast(request, f"Approved {draft.value('domain')}:{draft.value('subject')}", undo=done.operation_id)
    return HttpResponseRedirect(page_url("lesson", following) if following else page_url("lessons"))


def _shown(
    request: HttpRequest,
    found: Lesson,
    draft: Draft,
    preview: Preview,
    *,
    notices: Sequence[Notice] = (),
    focus: str = "",
    status: int = 200,
) -> HttpResponse:
    address = reverse("console:lesson", args=[found.id])
    form = form_view(
        repository(),
        draft,
        preview,
        action=address,
        preview_url=reverse("console:lesson_preview", args=[found.id]),
        notices=(*notices, *_offers(preview)),
        focus=focus,
    )
    context = {
        "title": "Lesson",
        "lesson": found,
        "evidence": _evidence(found),
        "form": form,
        "save_label": "Approve",
        "others": _others(found),
        "memory_url": page_url("memory", found.memory_id) if found.memory_id else "",
        "merged_url": page_url("lesson", found.merged_into) if found.merged_into else "",
    }
    return render_page(request, PAGE, context, fragment=FORM, status=status)


def _offers(preview: Preview) -> tuple[Notice, ...]:
    """Where the subject is stored already, the facts may go to that memory instead."""
    if preview.verdict is not Verdict.SAME_SUBJECT:
        return ()
    actions = tuple(
        Action(f"Add the facts to {memory.domain}:{memory.subject}", name="into", value=memory.id)
        for memory in preview.met
    )
    return (
        Notice("This subject is stored already", "Approve with a narrower subject, or:", actions=actions),
    )


def _others(found: Lesson) -> list[Lesson]:
    """Lessons that this one could be merged into: of the same person, the newest first."""
    waiting = repository().lessons.list(
        status=LessonStatus.WAITING, user_id=found.user_id, limit=OTHERS_OFFERED + 1
    )
    return [other for other in waiting.rows if other.id != found.id][:OTHERS_OFFERED]


def _next_waiting(found: Lesson) -> str:
    """The waiting lesson after this one, or the one before it; "" where there is no other."""
    ids = [one.id for one in _in_order(LessonStatus.WAITING)]
    if found.id not in ids or len(ids) == 1:
        return ""
    at = ids.index(found.id)
    return ids[at + 1] if at + 1 < len(ids) else ids[at - 1]


def _in_order(state: LessonStatus) -> list[Lesson]:
    """What waits, the most often said first; what is decided, the latest decision first."""
    found = [lesson for lesson in repository().lessons.all() if lesson.status is state]
    if state is LessonStatus.WAITING:
        return sorted(found, key=lambda lesson: -lesson.count)
    return sorted(found, key=lambda lesson: lesson.decided_at or lesson.updated_at, reverse=True)


def _evidence(found: Lesson) -> list[dict[str, Any]]:
    """Each piece with its time, None where that is not known."""
    return [{"piece": piece, "at": _moment(piece.at)} for piece in found.evidence]


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _state(name: str) -> LessonStatus:
    return LessonStatus(name) if name in list(LessonStatus) else LessonStatus.WAITING


def _tab(status: LessonStatus, count: int, current: LessonStatus) -> dict[str, Any]:
    return {
        "title": str(status).capitalize(),
        "url": page_url("lessons", state=str(status)),
        "count": count,
        "current": status is current,
    }


def _empty(state: LessonStatus) -> Empty:
    title, text = _NOTHING[state]
    return Empty("lesson", title, text)


_NOTHING = {
    LessonStatus.WAITING: (
        "No lessons are waiting",
        "A correction in a captured conversation proposes one; so does manage.py consolidate.",
    ),
    LessonStatus.APPROVED: ("Nothing approved yet", "What was approved is listed here with its memory."),
    LessonStatus.REJECTED: ("Nothing rejected", "What was rejected stays here, and can be taken up again."),
    LessonStatus.MERGED: ("Nothing merged", "Lessons that went into another one are listed here."),
}

urlpatterns = [
    path("lessons/", lessons, name="lessons"),
    path("lessons/<str:lesson_id>/", lesson, name="lesson"),
    path("lessons/<str:lesson_id>/preview/", lesson_preview, name="lesson_preview"),
    path("lessons/<str:lesson_id>/decide/", lesson_decide, name="lesson_decide"),
]
