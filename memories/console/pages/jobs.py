"""Jobs: what runs, how far it is, what it came to; cancel and undo."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from memories.console import jobs
from memories.console.access import accepts, may
from memories.console.audit_evidence import is_written
from memories.console.job_models import UNFINISHED, Job, State
from memories.console.navigation import Page, Section, register
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.contract import MemsuiteError

register(
    Page(
        Section.RUN,
        25,
        "Jobs",
        "console:jobs",
        "jobs",
        count=lambda _: Job.objects.filter(state__in=UNFINISHED).count(),
        light=True,
    )
)

SHOWN = 50
REFUSED_SHOWN = 100


@accepts("GET")
@may("view_memory")
def job_list(request: HttpRequest) -> HttpResponse:
    """The jobs of the last while, those at work first."""
    newest = Job.objects.order_by("-queued_at", "-key")
    at_work = list(newest.filter(state__in=UNFINISHED))
    finished = list(newest.exclude(state__in=UNFINISHED)[:SHOWN])
    context = {
        "title": "Jobs",
        "purpose": "Changes of many memories that run beside the pages.",
        "jobs": [_shown(one) for one in (*at_work, *finished)],
        "live": bool(at_work),
    }
    return render_page(request, "console/jobs/list.html", context, fragment="console/jobs/_list.html")


@accepts("GET")
@may("view_memory")
def job(request: HttpRequest, job_key: str) -> HttpResponse:
    """One job: its progress while it runs, then what became of each memory."""
    found = _job(job_key)
    context = {
        "title": "Job",
        "job": _shown(found),
        "refused": _refused(found),
        "may_cancel": _is_theirs(request, found),
    }
    return render_page(request, "console/jobs/job.html", context, fragment="console/jobs/_job.html")


@accepts("POST")
@may("view_memory")
@may("change_memory", on="POST")
def cancel_job(request: HttpRequest, job_key: str) -> HttpResponse:
    """Stop a job of one's own, as long as nothing is written."""
    found = _job(job_key)
    if not _is_theirs(request, found):
        raise PermissionDenied("another person's job")
    if not jobs.cancel(found):
        toast(request, "Too late to cancel: it is being written or has ended", bad=True)
    return redirect("console:job", found.pk)


def _job(key: str) -> Job:
    found = Job.objects.filter(pk=key).first()
    if found is None:
        raise Http404
    return found


def _is_theirs(request: HttpRequest, found: Job) -> bool:
    return bool(request.user.is_superuser or found.owner_id == request.user.pk)


def _shown(found: Job) -> dict[str, Any]:
    """A job as its templates read it. One whose process is gone shows so before anyone has marked it."""
    gone = found.state in UNFINISHED and found.state != State.QUEUED and jobs.is_gone(found)
    state = State.INTERRUPTED if gone else State(found.state)
    stored = is_written(found.operation_id) if gone else found.stored
    return {
        "row": found,
        "state": state,
        "live": state in UNFINISHED,
        "waits": state == State.QUEUED,
        "progress": found.progress(),
        "says": _says(found, state, stored),
        "kind": {State.DONE: "ok", State.FAILED: "bad", State.INTERRUPTED: "warn"}.get(state, ""),
        "undo": found.operation_id if stored else "",
    }


def _says(found: Job, state: State, stored: bool) -> str:
    """What a job came to, in a sentence."""
    if state == State.CANCELLED:
        return "Cancelled. Nothing was changed."
    if state in (State.FAILED, State.INTERRUPTED):
        why = found.error_message or "Its process ended before it could report."
        return f"{why} {'The change had been stored whole.' if stored else 'Nothing was stored.'}"
    if state != State.DONE:
        return ""
    if found.result.get("says"):
        return str(found.result["says"])
    changed, unchanged, refused = (found.result[name] for name in ("changed", "unchanged", "refused"))
    parts = [f"{changed:,} of {found.total:,} changed"]
    parts += [f"{unchanged:,} were so already"] if unchanged else []
    parts += [f"{len(refused):,} left alone"] if refused else []
    return ", ".join(parts)


def _refused(found: Job) -> dict[str, Any]:
    """The memories left alone, each with its subject and why."""
    refused: dict[str, list[str]] = found.result.get("refused", {})
    first = list(refused)[:REFUSED_SHOWN]
    try:
        subjects = repository().read(lambda snapshot: snapshot.memories(first))
    except MemsuiteError:
        subjects = {}
    rows = [
        {"id": name, "memory": subjects.get(name), "code": refused[name][0], "says": refused[name][1]}
        for name in first
    ]
    return {"rows": rows, "more": len(refused) - len(rows)}


urlpatterns = [
    path("jobs/", job_list, name="jobs"),
    path("jobs/<str:job_key>/", job, name="job"),
    path("jobs/<str:job_key>/cancel/", cancel_job, name="cancel_job"),
]
