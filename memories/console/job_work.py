"""The child's side of a job: taken, worked at with a heartbeat, ended with its result."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone

from memories.console.audit_evidence import is_written
from memories.console.audit_process import this_process
from memories.console.job_models import AT_WORK, Job, State
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0


class Stopped(Exception):
    """The job was cancelled, or somebody took it for gone: nothing of it may be stored any more."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a job's work came to; ``result`` is kept on its row (see ``Job``)."""

    stored: bool
    result: Mapping[str, Any]


class Watch:
    """How a job's work tells how far it is, and learns that it should stop."""

    def __init__(self, job: Job) -> None:
        self._mine = Job.objects.filter(pk=job.pk, process=job.process, state__in=AT_WORK)

    def progress(self, done: int, total: int) -> None:
        """Tell how far it is. The last call, with everything done, announces the commit: from then on a
        job can no longer be cancelled. Raises Stopped."""
        if done >= total:
            self.committing(done)
        elif not self._mine.filter(cancel_wanted=False).update(done=done, heartbeat_at=timezone.now()):
            raise Stopped

    def committing(self, done: int) -> None:
        """What follows can only be done or not be done. Raises Stopped."""
        last = self._mine.filter(cancel_wanted=False)
        if not last.update(state=State.COMMITTING, done=done, heartbeat_at=timezone.now()):
            raise Stopped


Work = Callable[[Job, MemoryRepository, Watch], Ended]


def run(key: str, store: MemoryRepository, kinds: Mapping[str, Work]) -> Job | None:
    """Do a claimed job; None where somebody else has it, or it was cancelled meanwhile."""
    now, process = timezone.now(), this_process()
    taken = Job.objects.filter(pk=key, state=State.STARTING, process="").update(
        state=State.RUNNING, process=process, started_at=now, heartbeat_at=now
    )
    if not taken:
        return None
    job = Job.objects.get(pk=key)
    with _heartbeat(job):
        ending = _ending_of(job, store, kinds[job.kind])
    _end(job, **ending)
    return Job.objects.get(pk=key)


def _ending_of(job: Job, store: MemoryRepository, work: Work) -> dict[str, Any]:
    try:
        if job.cancel_wanted:
            raise Stopped
        ended = work(job, store, Watch(job))
    except Stopped:
        return {"state": State.CANCELLED}
    except MemsuiteError as error:
        return _failed(job, error.message, error.code.value)
    except Exception:
        logger.exception("job %s failed", job.pk)
        return _failed(job, "Something broke. The log of the server tells more.")
    return {"state": State.DONE, "stored": ended.stored, "result": dict(ended.result)}


def _failed(job: Job, message: str, code: str = "") -> dict[str, Any]:
    """What comes after a commit can fail too, so the store is asked what became of the change."""
    stored = is_written(job.operation_id)
    return {"state": State.FAILED, "stored": stored, "error_code": code, "error_message": message}


def _end(job: Job, **ending: Any) -> None:
    # The note lies in the audit history, where a purge can blank it; here it has served.
    parameters = {name: value for name, value in job.parameters.items() if name != "note"}
    Job.objects.filter(pk=job.pk, process=job.process, state__in=AT_WORK).update(
        finished_at=timezone.now(), parameters=parameters, **ending
    )


@contextmanager
def _heartbeat(job: Job) -> Iterator[None]:
    """Signs of life beside the work: a commit of many rows says nothing for seconds."""
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(job.pk, job.process, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _beat(key: str, process: str, over: threading.Event) -> None:
    try:
        while not over.wait(HEARTBEAT_SECONDS):
            try:
                mine = Job.objects.filter(pk=key, process=process, state__in=AT_WORK)
                mine.update(heartbeat_at=timezone.now())
            except DatabaseError:
                continue  # a busy moment of SQLite; the next beat comes
    finally:
        connection.close()
