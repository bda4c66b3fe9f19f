"""Jobs as the web sees them: queued, started in a process of their own, watched, cancelled, and marked
where their process is gone. What a job does is ``memories.console.job_work``."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import close_old_connections, connection, transaction
from django.utils import timezone

from memories.console.audit_evidence import is_written
from memories.console.audit_process import is_running
from memories.console.audit_reconcile import reconcile
from memories.console.job_models import AT_WORK, Job, State
from memories.console.repository_access import author, repository
from memories.contract import MemsuiteError
from memories.repository.ids import new_id
from memories.settings import Settings

AT_ONCE = 2
"""Jobs at work at the same time; others wait. Each loads the engine and writes under one lock."""

SILENT = timedelta(seconds=60)
"""A job without a sign of life for so long counts as gone, wherever its process may be."""

KEPT_FINISHED = 200
"""Finished jobs kept to look back at; the audit history keeps what they did for ever."""


@dataclass(frozen=True, slots=True)
class Order:
    """A job to queue. ``total`` counts what it works on, ``back`` is the page it was asked for on."""

    kind: str
    label: str
    total: int
    back: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def enqueue(owner: User, order: Order) -> Job:
    """Queue a job and start what may start."""
    job = Job.objects.create(
        kind=order.kind,
        label=order.label,
        owner=owner,
        actor=author(owner).actor,
        back=order.back,
        parameters=dict(order.parameters),
        operation_id=new_id(),
        total=order.total,
        queued_at=timezone.now(),
    )
    _forget_oldest()
    start_waiting()
    return job


def start_waiting() -> None:
    """Mark jobs whose process is gone, then start waiting ones while fewer than ``AT_ONCE`` are at work.

    To be called when the server starts too: jobs that waited when it stopped go on.
    """
    sweep()
    while (key := claim()) is not None:
        _start(key)


def claim() -> str | None:
    """Take the job that has waited longest, if another may work now; one taker gets it."""
    with transaction.atomic():
        if Job.objects.filter(state__in=AT_WORK).count() >= AT_ONCE:
            return None
        first = Job.objects.filter(state=State.QUEUED).order_by("queued_at", "key").first()
        if first is None:
            return None
        Job.objects.filter(pk=first.pk).update(state=State.STARTING, heartbeat_at=timezone.now())
        return first.pk


def cancel(job: Job) -> bool:
    """Ask for a job to stop; False where it is too late. Nothing of a cancelled job is stored."""
    now = timezone.now()
    mine = Job.objects.filter(pk=job.pk)
    if mine.filter(state=State.QUEUED).update(state=State.CANCELLED, finished_at=now):
        return True
    return bool(mine.filter(state__in=(State.STARTING, State.RUNNING)).update(cancel_wanted=True))


def sweep() -> None:
    """Mark the jobs whose process ended without saying how."""
    for job in Job.objects.filter(state__in=AT_WORK):
        if is_gone(job):
            _mark_interrupted(job)


def is_gone(job: Job) -> bool:
    """Whether nobody works on an unfinished job any more."""
    if job.process and not is_running(job.process):
        return True
    return job.heartbeat_at is not None and timezone.now() - job.heartbeat_at > SILENT


def _mark_interrupted(job: Job) -> None:
    marked = Job.objects.filter(pk=job.pk, state__in=AT_WORK, process=job.process).update(
        state=State.INTERRUPTED, finished_at=timezone.now(), stored=is_written(job.operation_id)
    )
    if not marked:
        return
    try:
        reconcile(repository())
    except MemsuiteError:
        return  # the store cannot be read now; the next start settles the history


def _start(key: str) -> None:
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "django", "run_job", key],
            env=_environment(repository().settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        Job.objects.filter(pk=key, state=State.STARTING).update(
            state=State.FAILED, finished_at=timezone.now(), error_message=f"No process: {error.strerror}"
        )
        return
    threading.Thread(target=_watch, args=(process, key), name=f"job-{key}", daemon=True).start()


def _environment(settings: Settings) -> dict[str, str]:
    """The same home and database for the child, and the checkout where nothing is installed."""
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "")
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "memsuite_site.settings",
        "HERMES_HOME": str(settings.hermes_home),
        "MEMSUITE_DB_PATH": str(settings.db_path),
        "PYTHONPATH": os.pathsep.join(filter(None, [root, known])),
    }


def _watch(process: subprocess.Popen[bytes], key: str) -> None:
    """Wait for the child, mark its job if it could not, and start the next."""
    process.wait()
    close_old_connections()
    try:
        left = Job.objects.filter(pk=key, state__in=AT_WORK).first()
        if left is not None and (not left.process or not is_running(left.process)):
            _mark_interrupted(left)
        start_waiting()
    finally:
        connection.close()


def _forget_oldest() -> None:
    finished = Job.objects.exclude(state__in=(State.QUEUED, *AT_WORK)).order_by("-queued_at", "-key")
    old = list(finished.values_list("pk", flat=True)[KEPT_FINISHED:])
    Job.objects.filter(pk__in=old).delete()
