"""Imports as jobs: first what would be done, then, when a person has seen that, the doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memories.console import uploads
from memories.console.audit import recorded_as
from memories.console.job_models import Job
from memories.console.job_work import Ended, Stopped, Watch
from memories.interchange.archives import unpacked
from memories.interchange.importing import import_from
from memories.interchange.systems import system_named
from memories.repository import Author, MemoryRepository

CHECK, IMPORT = "import_check", "import"

MISFITS_SHOWN = 200


def check_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    """A dry run; its report is what the person decides by."""
    report = _import(job, store, watch, dry_run=True)
    added = sum(count for table, count in report["added"].items() if table != "quarantine")
    says = f"{added:,} rows would be added, {sum(report['quarantined'].values()):,} set aside"
    return Ended(False, _nothing(says, report))


def import_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    author = Author(actor=job.actor, source="console", operation_id=job.operation_id)
    note, given = str(job.parameters.get("note", "")), _named(job)
    with recorded_as(author, IMPORT, parameters=given, note=note, user_id=str(job.owner_id or "")) as event:
        try:
            report = _import(job, store, watch, dry_run=False, operation_id=event.operation_id)
        except Stopped:
            event.complete(code="cancelled", operation_id="")
            raise
        added = sum(count for table, count in report["added"].items() if table in _COUNTED)
        aside = sum(report["quarantined"].values())
        event.complete(
            changed=added, unchanged=report["already"], refused=aside, operation_id=report["operation_id"]
        )
    says = f"Imported {added:,} rows, {aside:,} set aside" if added or aside else "Nothing to add"
    return Ended(bool(report["operation_id"]), _nothing(says, report))


KINDS = {CHECK: check_job, IMPORT: import_job}

_COUNTED = frozenset({"memories", "turns", "lessons"})


def _import(
    job: Job, store: MemoryRepository, watch: Watch, *, dry_run: bool, operation_id: str = ""
) -> dict[str, Any]:
    with unpacked(uploads.path_of(str(job.parameters["upload"]))) as path:
        report = import_from(
            store,
            path,
            system_named(str(job.parameters["system"]), path),
            actor=job.actor,
            operation_id=operation_id,
            label=str(job.parameters["name"]),
            dry_run=dry_run,
            progress=_told(job, watch),
        ).as_answer()
    return report | {"misfits": report["misfits"][:MISFITS_SHOWN], "renamed": len(report["renamed"])}


def _told(job: Job, watch: Watch) -> Callable[[str, int, int], None]:
    """How far it is. What there is to do is known only when the source is open."""

    def told(what: str, done: int, total: int) -> None:
        if total != job.total:
            job.total = max(total, 1)
            Job.objects.filter(pk=job.pk).update(total=job.total)
        if what == "Writing" and done >= total:
            watch.committing(done)
        else:
            watch.progress(min(done, job.total - 1), job.total)

    return told


def _named(job: Job) -> Mapping[str, object]:
    return {"file": job.parameters["name"], "from": job.parameters["system"]}


def _nothing(says: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """A result in the shape every job has, with the report beside it."""
    return {"changed": 0, "unchanged": 0, "refused": {}, "says": says, "report": dict(report)}
