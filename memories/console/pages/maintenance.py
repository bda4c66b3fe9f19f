"""Maintenance: health, what compaction would do, backups, and the work that keeps the store well."""

from __future__ import annotations

import shutil
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from memories.console import jobs, upkeep_jobs
from memories.console.access import accepts, may, recently_authenticated
from memories.console.job_models import UNFINISHED, Job
from memories.console.navigation import Page, Section, page_url, register
from memories.console.parts import Empty
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.sizes import size
from memories.contract import ErrorCode, MemsuiteError
from memories.repository.health import DatabaseHealth, examine
from memories.repository.upkeep.planning import Action, Mode, Plan, TablePlan

RECENT_JOBS = 6

register(Page(Section.RUN, 20, "Maintenance", "console:maintenance", "tune", key="w"))

_WORDS = {
    Action.COMPACT: "compact {fragments:,} fragments",
    Action.INDEX_TEXT: "bring the text index up to date",
    Action.INDEX_VECTORS: "build the vector index",
    Action.PRUNE: "clean {expired:,} versions",
}


@accepts("GET")
@may("view_memory")
def maintenance(request: HttpRequest) -> HttpResponse:
    """The page. What cannot be read is said in its place, and the rest is shown."""
    settings = repository().settings
    health = examine(settings.db_path, settings.backups_dir)
    there = health.head is not None and not health.problem
    upkeep = repository().maintenance()
    journal = upkeep.journal()
    context: dict[str, Any] = {
        "title": "Maintenance",
        "purpose": "How the store is, what upkeep would do, and the backups.",
        "health": health,
        "facts": _facts(health),
        "tables": _tables(health, upkeep.plan()) if there else [],
        "plan_needed": there and upkeep.plan().needed,
        "backups": [{"backup": backup, "size": size(backup.size)} for backup in upkeep.backups.list()],
        "last": journal.last,
        "alarm": journal.alarm,
        "failures": journal.failures,
        "running": Job.objects.filter(kind__in=upkeep_jobs.KINDS, state__in=UNFINISHED).first(),
        "recent": Job.objects.order_by("-queued_at", "-key")[:RECENT_JOBS],
        "mismatch": _mismatch(),
        "empty": Empty("tune", "No database yet", "It is made with the first memory."),
    }
    return render_page(request, "console/maintenance/maintenance.html", context)


@accepts("POST")
@may("view_memory")
@may("maintenance.compact")
def start_upkeep(request: HttpRequest) -> HttpResponse:
    """Start compaction, a backup or re-embedding as a job: ``what`` says which."""
    what = request.POST.get("what", "")
    labels = {
        upkeep_jobs.COMPACT: "Compact the store",
        upkeep_jobs.BACKUP: "Back the store up",
        upkeep_jobs.REEMBED: "Embed all memories anew",
    }
    if what not in labels:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "what", "There is no such work.", received=what, expected=[*labels]
        )
    total = repository().count() if what == upkeep_jobs.REEMBED else upkeep_jobs.STEPS
    return _started(request, jobs.Order(what, labels[what], max(1, total), page_url("maintenance")))


@accepts("GET", "POST")
@may("view_memory")
@may("maintenance.compact")
@recently_authenticated
def reclaim(request: HttpRequest) -> HttpResponse:
    """Ask, then free everything that no version needs: no earlier state can be read afterwards."""
    if request.method == "POST":
        order = jobs.Order(upkeep_jobs.RECLAIM, "Reclaim space", upkeep_jobs.STEPS, page_url("maintenance"))
        return _started(request, order)
    plan = repository().maintenance().plan(Mode.RECLAIM)
    context = {
        "title": "Reclaim space",
        "lead": "Every earlier version of the files goes. Memories, their history and the trash stay. "
        "Nobody may read while it runs; the agent waits.",
        "figures": _figures(plan),
        "confirm": "Reclaim",
        "action": page_url("reclaim"),
    }
    return render_page(request, "console/maintenance/ask.html", context)


@accepts("GET", "POST")
@may("view_memory")
@may("maintenance.restore")
@recently_authenticated
def restore_backup(request: HttpRequest, backup: str) -> HttpResponse:
    """Ask, then put a backup in the place of the store; what it replaces is kept aside."""
    found = repository().maintenance().backups.get(backup)
    if request.method == "POST":
        order = jobs.Order(
            upkeep_jobs.RESTORE,
            f"Restore {found.name}",
            upkeep_jobs.STEPS,
            page_url("maintenance"),
            {"backup": found.name},
        )
        return _started(request, order)
    context = {
        "title": "Restore a backup",
        "lead": "The store becomes what it was then. What is there now is kept beside the backups, "
        "and can be restored the same way.",
        "figures": [
            ("Backup", found.name),
            ("Memories in it", f"{found.memories:,}"),
            ("Memories now", f"{repository().count():,}"),
            ("Size", size(found.size)),
        ],
        "confirm": "Restore",
        "action": page_url("restore_backup", found.name),
    }
    return render_page(request, "console/maintenance/ask.html", context)


def _started(request: HttpRequest, order: jobs.Order) -> HttpResponse:
    if not isinstance(request.user, User):
        raise PermissionDenied
    running = Job.objects.filter(kind__in=upkeep_jobs.KINDS, state__in=UNFINISHED).first()
    if running is not None:
        toast(request, f"{running.label} is under way; one at a time", bad=True)
        return redirect("console:job", running.pk)
    return redirect("console:job", jobs.enqueue(request.user, order).pk)


def _facts(health: DatabaseHealth) -> list[tuple[str, str]]:
    storage = health.storage
    return [
        ("Database", size(storage.database)),
        ("Live, about", size(storage.active)),
        ("Backups", size(storage.backups)),
        ("Free on disk", _free()),
        ("Text index", str(health.text_index.state)),
        ("Vector index", str(health.vector_index.state)),
        ("Waiting to be filed", f"{health.spool_files or 0:,}"),
        ("Set aside by imports", f"{health.quarantine_rows:,}"),
        ("Write lock", "held" if health.lock_held else "free"),
    ]


def _free() -> str:
    place = repository().settings.db_path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return size(shutil.disk_usage(place).free)
    except OSError:
        return "unknown"


def _tables(health: DatabaseHealth, plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "name": table.name,
            "rows": table.rows,
            "versions": table.versions_kept,
            "fragments": table.fragments,
            "size": size(table.size),
            "plan": _says(plan.tables[table.name]) if table.name in plan.tables else "",
            "reasons": "; ".join(plan.tables[table.name].reasons) if table.name in plan.tables else "",
        }
        for table in health.tables
    ]


def _says(plan: TablePlan) -> str:
    parts = [_WORDS[action].format(fragments=plan.fragments, expired=plan.expired) for action in plan.actions]
    return ", ".join(parts).capitalize()


def _figures(plan: Plan) -> list[tuple[str, str]]:
    held = sum(table.size for table in plan.tables.values())
    return [
        ("Size of the tables", size(held)),
        ("Of which live, about", size(plan.live_bytes)),
        ("Earlier versions", f"{sum(table.expired for table in plan.tables.values()):,}"),
    ]


def _mismatch() -> str:
    """Why the stored vectors cannot be searched with the configured model, "" where they can."""
    try:
        repository().require_identity()
    except MemsuiteError as error:
        return error.message if error.code is ErrorCode.EMBEDDING_MODEL_MISMATCH else ""
    return ""


urlpatterns = [
    path("maintenance/", maintenance, name="maintenance"),
    path("maintenance/start/", start_upkeep, name="start_upkeep"),
    path("maintenance/reclaim/", reclaim, name="reclaim"),
    path("maintenance/restore/<str:backup>/", restore_backup, name="restore_backup"),
]
