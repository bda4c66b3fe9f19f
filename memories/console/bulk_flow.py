"""A confirmed change of many, or its undo: at once while it is small, as a job above that. Both recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict
from django.utils.http import urlencode

from memories.console import bulk_actions, jobs, undoing
from memories.console.audit import recorded, recorded_as
from memories.console.bulk_actions import Asked
from memories.console.job_models import Job
from memories.console.job_work import Ended, Stopped, Watch
from memories.console.repository_access import repository
from memories.console.selection import changed_since_shown, drift_of, give_back, keep_for_job, take
from memories.console.selection_models import Selection
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, BulkChange, BulkResult, MemoryRepository, UndoResult

AT_ONCE = 200
"""Memories changed within one request; more are a job."""

BULK, UNDO = "bulk", "undo"
CANCELLED = "cancelled"
"""How the history names a job that was stopped before its commit."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done at once: the sentence for the person, and the operation to undo."""

    says: str
    operation_id: str
    nothing: bool = False


def apply(request: HttpRequest, owner: User, selection: Selection, asked: Asked, note: str) -> Applied | Job:
    """Make a confirmed change of a selection that has just been recounted.

    Raises ``selection_changed`` where it has been confirmed already, and what the change may raise; then
    it can be confirmed again.
    """
    change = asked.change()
    take(selection)
    try:
        if selection.count > AT_ONCE:
            label = bulk_actions.title(change, selection.count)
            given = {"asked": urlencode(asked.pairs()), "selection": selection.pk, "note": note}
            keep_for_job(selection)
            return jobs.enqueue(owner, jobs.Order(BULK, label, selection.count, selection.back, given))
        return _apply_now(request, selection.memory_ids, change, asked, note)
    except BaseException:
        give_back(selection)
        raise


def _apply_now(
    request: HttpRequest, ids: Sequence[str], change: BulkChange, asked: Asked, note: str
) -> Applied:
    with recorded(request, asked.action, ids=ids, parameters=_values(asked), note=note) as event:
        result = repository().apply(change, ids, event.author, note=note)
        event.complete(
            changed=len(result.changed),
            unchanged=len(result.unchanged),
            refused=len(result.refused),
            operation_id=result.operation_id,
        )
    return Applied(_told(change, result), result.operation_id, nothing=not result.changed)


def undo(request: HttpRequest, owner: User, operation_id: str, back: str) -> Applied | Job:
    """Take an operation back where nothing has changed since; what has is named."""
    touched = undoing.touched_by(repository(), operation_id)
    if len(touched) > AT_ONCE:
        label = f"Undo for {bulk_actions.memories(len(touched))}"
        return jobs.enqueue(owner, jobs.Order(UNDO, label, len(touched), back, {"undoes": operation_id}))
    with recorded(request, UNDO, ids=touched, undoes=operation_id) as event:
        result = repository().undo(operation_id, event.author)
        event.complete(
            changed=len(result.undone), refused=len(result.skipped), operation_id=result.operation_id
        )
    return Applied(undoing.told(repository(), result), result.operation_id, nothing=not result.undone)


# --- as jobs -------------------------------------------------------------------------


def bulk_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    """The change of a selection, recounted once more: the job may have waited."""
    asked = Asked.of(QueryDict(job.parameters["asked"]))
    change, note = asked.change(), str(job.parameters["note"])
    selection = _selection_of(job)
    if drift := drift_of(store, selection):
        raise changed_since_shown(drift)
    ids = selection.memory_ids
    result = BulkResult("", (), (), {})
    stopped = False
    with recorded_as(
        _author(job), asked.action, ids=ids, parameters=_values(asked), note=note, user_id=_owner(job)
    ) as event:
        try:
            result = store.apply(change, ids, event.author, note=note, progress=watch.progress)
        except Stopped:
            stopped = True
        event.complete(
            changed=len(result.changed),
            unchanged=len(result.unchanged),
            refused=len(result.refused),
            code=CANCELLED if stopped else "",
            operation_id=result.operation_id,
        )
    if stopped:
        raise Stopped
    return Ended(bool(result.operation_id), _kept(result))


def undo_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    operation_id = str(job.parameters["undoes"])
    watch.committing(0)
    touched = undoing.touched_by(store, operation_id)
    with recorded_as(_author(job), UNDO, ids=touched, undoes=operation_id, user_id=_owner(job)) as event:
        result = store.undo(operation_id, event.author)
        event.complete(
            changed=len(result.undone), refused=len(result.skipped), operation_id=result.operation_id
        )
    return Ended(bool(result.operation_id), _kept_of_undo(store, result))


KINDS = {BULK: bulk_job, UNDO: undo_job}
"""What ``run_job`` can do, by the kind of the job."""


def _selection_of(job: Job) -> Selection:
    found = Selection.objects.filter(pk=job.parameters["selection"]).first()
    if found is None:
        raise MemsuiteError(
            ErrorCode.SELECTION_CHANGED, "selection", "The selection is too old. Select again."
        )
    return found


def _author(job: Job) -> Author:
    return Author(actor=job.actor, source="console", operation_id=job.operation_id)


def _owner(job: Job) -> str:
    return str(job.owner_id or "")


def _values(asked: Asked) -> dict[str, object]:
    """The parameters as the history keeps them."""
    given = {"value": asked.value, "tags": list(asked.tags), "target": asked.target}
    return {name: value for name, value in given.items() if value}


def _kept(result: BulkResult) -> dict[str, Any]:
    return {
        "changed": len(result.changed),
        "unchanged": len(result.unchanged),
        "refused": {name: [error.code.value, error.message] for name, error in result.refused.items()},
    }


def _kept_of_undo(store: MemoryRepository, result: UndoResult) -> dict[str, Any]:
    changed = [ErrorCode.VERSION_CONFLICT.value, "It has changed since."]
    return {
        "changed": len(result.undone),
        "unchanged": 0,
        "refused": dict.fromkeys(result.skipped, changed),
        "says": undoing.told(store, result),
    }


def _told(change: BulkChange, result: BulkResult) -> str:
    parts = [bulk_actions.told(change, len(result.changed))] if result.changed else ["Nothing changed"]
    if result.unchanged:
        parts.append(
            f"{len(result.unchanged):,} {'was' if len(result.unchanged) == 1 else 'were'} so already"
        )
    if result.refused:
        parts.append(f"{len(result.refused):,} left alone")
    return ", ".join(parts)
