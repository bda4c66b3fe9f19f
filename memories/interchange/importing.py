"""Bringing a source into a database: read, gathered step by step, written as one operation."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from memories.contract import CONTRACT_VERSION
from memories.interchange.gathering import Gathering
from memories.interchange.items import Item
from memories.interchange.readers import reader_of
from memories.interchange.readers.base import Reader
from memories.interchange.sources import signature
from memories.interchange.systems import System
from memories.repository import Author, MemoryRepository, schema
from memories.repository.import_plan import ImportPlan
from memories.repository.import_ready import ImportOrigin
from memories.repository.import_stage import ImportStage
from memories.repository.importing import ImportResult

ITEMS_AT_ONCE = 512
"""Items of one step: what a kill can cost is at most their embedding."""

MISFITS_REPORTED = 1_000
"""Rows that are set aside and named in the report; the review page has all of them."""

RENAMED_REPORTED = 1_000

Progress = Callable[[str, int, int], None]
"""Told what is going on, and how many of how many items are done."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do. ``read`` and ``added`` count by kind and by table, ``quarantined``
    by reason; ``already`` were imported before, ``duplicates`` say word for word what a stored memory
    says, ``renamed`` leads from taken ids to the ones given instead."""

    system: System
    source: str
    dry_run: bool
    operation_id: str
    whole: bool
    read: Mapping[str, int]
    added: Mapping[str, int]
    already: int
    duplicates: int
    renamed: Mapping[str, str]
    quarantined: Mapping[str, int]
    misfits: Sequence[Mapping[str, Any]]
    notes: Mapping[str, int]
    vectors: Mapping[str, int]
    resumed_from: int
    seconds: float
    ids: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Where each memory of the source is now, by its id there."""

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "dry_run" if self.dry_run else "imported" if self.operation_id else "nothing_to_add",
            "contract_version": CONTRACT_VERSION,
            "system": str(self.system),
            "source": self.source,
            "operation_id": self.operation_id,
            "whole": self.whole,
            "read": dict(self.read),
            "added": dict(self.added),
            "already": self.already,
            "duplicates": self.duplicates,
            "renamed": dict(islice(self.renamed.items(), RENAMED_REPORTED)),
            "quarantined": dict(self.quarantined),
            "misfits": [dict(misfit) for misfit in self.misfits],
            "notes": dict(self.notes),
            "vectors": dict(self.vectors),
            "resumed_from": self.resumed_from,
            "seconds": round(self.seconds, 1),
        }


def import_from(
    repository: MemoryRepository,
    path: Path,
    system: System,
    *,
    actor: str = "",
    user_id: str = "",
    operation_id: str = "",
    label: str = "",
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> ImportReport:
    """Import everything a source holds, as one operation that can be undone. A dry run writes nothing.
    ``label`` is what a person knows the source as, where that is not its path.

    Killed and run again it goes on where it stopped. Raises what makes the whole source unusable, and
    ``embedding_model_mismatch``, ``embedding_failed``, ``store_busy``, ``disk_full`` with what was
    gathered so far kept.
    """
    started = time.monotonic()
    repository.require_identity()
    embedder = repository.embedder
    reader = reader_of(system, path, None if dry_run else embedder)
    gathering = Gathering(
        system,
        None if dry_run else embedder,
        user_id=user_id,
        allowed_secrets=repository.settings.allowed_secret_patterns,
        known=repository.imports.stored,
    )
    author = Author(
        actor or f"import:{system}", user_id=user_id, source=f"import:{system}", operation_id=operation_id
    )
    with _stage(repository, path, system, user_id, dry_run) as stage:
        resumed_from = stage.taken
        _gather(reader, gathering, stage, progress)
        misfits = [_reported(row) for row in islice(stage.rows(schema.QUARANTINE), MISFITS_REPORTED)]
        counts = stage.counts
        # With a row set aside the rest would refer to what is not there.
        whole = reader.whole and not _under(counts, "quarantined ")
        if dry_run:
            plan = repository.imports.plan(stage, whole=whole)
            result = ImportResult("", plan, _would_add(stage, plan))
        else:
            origin = ImportOrigin(str(system), label or str(path), whole, reader.generation)
            result = repository.imports.commit(
                stage, author, origin, progress=lambda done, total: progress("Writing", done, total)
            )
    name = label or str(path)
    return _report(system, name, dry_run, result, counts, misfits, resumed_from, time.monotonic() - started)


@contextmanager
def _stage(
    repository: MemoryRepository, path: Path, system: System, user_id: str, dry_run: bool
) -> Iterator[ImportStage]:
    identity = str(repository.embedder.identity)
    parts = (str(system), signature(path), identity, user_id, str(CONTRACT_VERSION))
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    if not dry_run:
        yield repository.imports.stage(key)
        return
    with tempfile.TemporaryDirectory(prefix="memsuite-dry-run-") as folder:
        yield repository.imports.stage(key, Path(folder))


def _gather(reader: Reader, gathering: Gathering, stage: ImportStage, progress: Progress) -> None:
    """Stage what is not staged yet. The items of earlier steps are read again, since a source has no
    place to jump to, but neither checked nor embedded."""
    items = reader.items()
    total = reader.total
    done = stage.taken
    skipped = sum(1 for _ in islice(items, done))
    assert skipped == done
    while batch := _batch(items):
        step = gathering.step(batch)
        done += len(batch)
        stage.add(step.tables, taken=done, counts=step.counts)
        progress("Reading", done, max(total, done))


def _batch(items: Iterator[Item]) -> list[Item]:
    return list(islice(items, ITEMS_AT_ONCE))


def _would_add(stage: ImportStage, plan: ImportPlan) -> dict[str, int]:
    tables = {name: stage.count(name) for name in (schema.TURNS, schema.LESSONS, schema.QUARANTINE)}
    return {name: count for name, count in ({schema.MEMORIES: len(plan.new)} | tables).items() if count}


def _reported(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = json.loads(row["raw"]) if row["raw"] else {}
    return {
        "place": kept.get("place", ""),
        "kind": kept.get("kind", ""),
        "id": kept.get("id", ""),
        "reason": row["reason"],
        "field": kept.get("field", ""),
        "message": row["message"],
    }


def _report(
    system: System,
    name: str,
    dry_run: bool,
    result: ImportResult,
    counts: Counter[str],
    misfits: Sequence[Mapping[str, Any]],
    resumed_from: int,
    seconds: float,
) -> ImportReport:
    quarantined = _under(counts, "quarantined ")
    if result.dangling:
        quarantined["invalid_relation_target"] = quarantined.get("invalid_relation_target", 0) + len(
            result.dangling
        )
    return ImportReport(
        system=system,
        source=name,
        dry_run=dry_run,
        operation_id=result.operation_id,
        whole=result.plan.whole,
        read=_under(counts, "read "),
        added=dict(result.written),
        already=result.plan.counts.get("already", 0),
        duplicates=result.plan.counts.get("duplicates", 0) + result.plan.counts.get("repeated", 0),
        renamed=result.plan.renamed,
        quarantined=quarantined,
        misfits=misfits,
        notes=_under(counts, "note "),
        vectors=_under(counts, "vectors "),
        resumed_from=resumed_from,
        seconds=seconds,
        ids=result.plan.ids,
    )


def _under(counts: Counter[str], heading: str) -> dict[str, int]:
    return {name.removeprefix(heading): count for name, count in counts.items() if name.startswith(heading)}
