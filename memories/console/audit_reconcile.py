"""Settles what a crash left open: operations with an intent and no completion."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError

from memories.console.audit import Outcome, append_completion
from memories.console.audit_evidence import written_of
from memories.console.audit_models import AuditEvent, Result
from memories.console.audit_process import is_running
from memories.console.repository_access import repository
from memories.repository import MemoryRepository


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Operation ids: found in the store, found nowhere, and those whose process is still at work."""

    done: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    running: tuple[str, ...] = ()


def open_events() -> list[AuditEvent]:
    """Intents without a completion, oldest first."""
    return list(AuditEvent.objects.filter(completion=None).order_by("position"))


def reconcile(store: MemoryRepository | None = None) -> Reconciled:
    """Complete what no process will complete any more, by what the store knows of it.

    To be called when the server starts. Raises what reading the store raises, and then settles nothing.
    """
    events = open_events()
    running = [event for event in events if is_running(event.process)]
    left = [event for event in events if event not in running]
    written = written_of(store or repository(), [event.operation_id for event in left])
    for event in left:
        _complete(event, stored=event.operation_id in written)
    return Reconciled(
        done=tuple(event.operation_id for event in left if event.operation_id in written),
        not_done=tuple(event.operation_id for event in left if event.operation_id not in written),
        running=tuple(event.operation_id for event in running),
    )


def _complete(event: AuditEvent, *, stored: bool) -> None:
    result = Result.DONE if stored else Result.NOT_DONE
    try:
        append_completion(event.position, Outcome(result, stored=stored, recovered=True))
    except IntegrityError:
        return  # another process that started at the same moment was quicker
