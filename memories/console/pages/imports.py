"""Bringing a file in: sent, looked through, and imported when somebody has seen what that would do."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from memories.console import import_jobs, jobs, uploads
from memories.console.access import accepts, may
from memories.console.errors import Problem, problem_of
from memories.console.job_models import Job, State
from memories.console.navigation import Page, Section, page_url, register
from memories.console.rendering import render_page
from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.systems import AUTO, System

register(Page(Section.MANAGE, 40, "Import", "console:imports", "arrow", "maintenance.restore"))

RECENT = 20

SYSTEMS = {
    AUTO: "Look what it is",
    System.MEMSUITE: "An export of this suite",
    System.SUITE: "The older suite's directory, as a zip file",
    System.SUITE_JSON: "The older suite's JSON export",
    System.MEMPALACE: "A MemPalace directory, as a zip file",
    System.NEXUS: "A Nexus directory, as a zip file",
    System.MNEMOSYNE: "Mnemosyne's mnemosyne.db",
    System.HERMES_BUILTIN: "MEMORY.md or USER.md",
    System.JSONL: "JSON lines",
}


@accepts("GET", "POST")
@may("maintenance.restore")
def imports(request: HttpRequest) -> HttpResponse:
    """The form, and the imports of the last while."""
    if request.method != "POST":
        return _form(request)
    sent, system = request.FILES.get("file"), request.POST.get("system", AUTO)
    try:
        if sent is None or isinstance(sent, list):
            raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "file", "Choose a file.")
        if system not in SYSTEMS:
            raise MemsuiteError(ErrorCode.INVALID_PARAMETER, "system", "Choose what the file is.")
        upload = uploads.keep(sent)
    except MemsuiteError as error:
        return _form(request, problem=problem_of(error), system=system, status=422)
    given = {"upload": upload.key, "name": upload.name, "system": system}
    job = jobs.enqueue(_person(request), _order(import_jobs.CHECK, f"Look through {upload.name}", given))
    _lead_back(job)
    return redirect("console:job", job.pk)


@accepts("GET", "POST")
@may("maintenance.restore")
def import_report(request: HttpRequest, job_key: str) -> HttpResponse:
    """What an import would do or did; a POST does it."""
    job = _job(job_key)
    if request.method == "POST":
        return _import(request, job)
    if job.is_unfinished:
        return redirect("console:job", job.pk)
    context = {
        "title": "Import",
        "job": job,
        "report": job.result.get("report"),
        "is_check": job.kind == import_jobs.CHECK and job.state == State.DONE,
        "done": job.kind == import_jobs.IMPORT and job.state == State.DONE,
        "review_url": page_url("review"),
    }
    return render_page(request, "console/imports/report.html", context)


def _import(request: HttpRequest, checked: Job) -> HttpResponse:
    if checked.kind != import_jobs.CHECK or checked.state != State.DONE:
        raise MemsuiteError(
            ErrorCode.CONFIRMATION_REQUIRED, "job", "Only what has been looked through can be imported."
        )
    uploads.path_of(str(checked.parameters["upload"]))
    given = dict(checked.parameters) | {"note": request.POST.get("note", "").strip()[:500]}
    label = f"Import {checked.parameters['name']}"
    job = jobs.enqueue(_person(request), _order(import_jobs.IMPORT, label, given))
    _lead_back(job)
    return redirect("console:job", job.pk)


def _order(kind: str, label: str, given: dict[str, Any]) -> jobs.Order:
    return jobs.Order(kind, label, 1, reverse("console:imports"), given)


def _lead_back(job: Job) -> None:
    """From the job's own page to its report."""
    Job.objects.filter(pk=job.pk).update(back=reverse("console:import_report", args=[job.pk]))


def _form(
    request: HttpRequest, *, problem: Problem | None = None, system: str = AUTO, status: int = 200
) -> HttpResponse:
    recent = Job.objects.filter(kind__in=import_jobs.KINDS).order_by("-queued_at", "-key")[:RECENT]
    context = {
        "title": "Import",
        "purpose": "Bring in what another store holds. First it is only looked through.",
        "systems": SYSTEMS.items(),
        "system": system,
        "problem": problem,
        "recent": recent,
        "largest": uploads.UPLOAD_MAX // 2**20,
    }
    return render_page(request, "console/imports/form.html", context, status=status)


def _job(key: str) -> Job:
    found = Job.objects.filter(pk=key, kind__in=import_jobs.KINDS).first()
    if found is None:
        raise Http404
    return found


def _person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


urlpatterns = [
    path("imports/", imports, name="imports"),
    path("imports/<str:job_key>/", import_report, name="import_report"),
]
