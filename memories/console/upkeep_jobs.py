"""Upkeep as jobs: compaction, reclaim, backups, restoring one, re-embedding. Each in the audit history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memories.console.audit import Event, recorded_as
from memories.console.job_models import Job
from memories.console.job_work import Ended, Watch, Work
from memories.console.sizes import size
from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.restoring import BackupRestorer
from memories.repository.upkeep.planning import Mode
from memories.repository.upkeep.results import MaintenanceResult, Status

COMPACT, RECLAIM, BACKUP, RESTORE, REEMBED = "compact", "reclaim", "backup", "restore_backup", "reembed"

STEPS = 8
"""As many as a run tells of at most, so that its progress can be drawn; which ones depends on the plan."""


def compact_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    return _maintained(job, store, watch, Mode.ROUTINE)


def reclaim_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    return _maintained(job, store, watch, Mode.RECLAIM)


def backup_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    def made(event: Event) -> str:
        backup = store.maintenance().back_up()
        event.complete(changed=1, operation_id="")
        return f"Made and verified {backup.name}, {backup.memories:,} memories"

    return _recorded(job, {}, made)


def restore_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    """Put a backup in the place of the database; what it replaces is kept beside the backups."""
    name = str(job.parameters["backup"])

    def restored(event: Event) -> str:
        told = _steps(watch)
        result = BackupRestorer(store.settings).restore(name, told)
        event.complete(changed=1, operation_id="")
        kept = f". What was there is kept as {result.aside.name}" if result.aside else ""
        return f"Restored {name}, {result.backup.memories:,} memories{kept}"

    return _recorded(job, {"backup": name}, restored)


def reembed_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    def done(event: Event) -> str:
        result = store.reembedding().run(event.author, watch.progress)
        event.complete(changed=result.memories, operation_id=result.operation_id)
        return (
            f"Embedded {result.memories:,} memories anew" if result.operation_id else "Nothing to embed anew"
        )

    return _recorded(job, {}, done)


KINDS: dict[str, Work] = {
    COMPACT: compact_job,
    RECLAIM: reclaim_job,
    BACKUP: backup_job,
    RESTORE: restore_job,
    REEMBED: reembed_job,
}


def _maintained(job: Job, store: MemoryRepository, watch: Watch, mode: Mode) -> Ended:
    def run(event: Event) -> str:
        result = store.maintenance().run(mode, _steps(watch))
        event.complete(changed=int(result.status is Status.MAINTAINED), operation_id="")
        if result.error is not None:
            says = f"{result.error.message} It stopped at the step {result.failed_step}."
            raise MemsuiteError(result.error.code, result.error.field, says)
        return _told(result)

    return _recorded(job, {"mode": str(mode)}, run)


def _recorded(job: Job, parameters: dict[str, Any], work: Callable[[Event], str]) -> Ended:
    author = Author(actor=job.actor, source="console", operation_id=job.operation_id)
    with recorded_as(author, job.kind, parameters=parameters, user_id=str(job.owner_id or "")) as event:
        says = work(event)
    # Nothing of it is undone by the operation: a restore is taken back by another.
    return Ended(False, {"changed": 0, "unchanged": 0, "refused": {}, "says": says})


def _steps(watch: Watch) -> Callable[[str], None]:
    done = 0

    def told(step: str) -> None:
        nonlocal done
        watch.progress(min(done, STEPS - 1), STEPS)
        done += 1

    return told


def _told(result: MaintenanceResult) -> str:
    if result.status is Status.NOT_NEEDED:
        return "Nothing to do"
    change = result.database_delta_bytes
    freed = f"{size(-change)} freed" if change <= 0 else f"{size(change)} more"
    return f"Maintained {len(result.tables):,} tables, {freed}, backup {result.backup_created}"
