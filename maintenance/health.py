"""Health: what is there, how large, how well indexed, and, when asked, whether every row is what was
written. Read only.

No Django, so that the console and the plugin's command line can ask as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.embedding import Embedder
from memories.repository.files import DatabaseFiles
from memories.repository.health import DatabaseHealth, engine_versions, examine
from memories.repository.integrity import Integrity, Progress, verify
from memories.repository.upkeep.journal import Journal, journal_path, read_journal
from memories.settings import Settings

# What is embedded to see whether the model answers, and how fast.
_PROBE = "does the model answer"


@dataclass(frozen=True, slots=True)
class EmbedderHealth:
    """`latency_ms` is one query with the model already loaded; None where it does not answer."""

    identity: str
    reachable: bool
    latency_ms: float | None
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "reachable": self.reachable,
            "latency_ms": self.latency_ms,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class HealthReport:
    """`integrity` is None unless every row was read."""

    database: DatabaseHealth
    embedder: EmbedderHealth
    integrity: Integrity | None
    fsync: bool
    maintenance: Journal = field(default_factory=Journal)

    @property
    def sound(self) -> bool:
        """Whether what is stored is whole; a model that does not answer damages nothing."""
        return self.database.sound and (self.integrity is None or self.integrity.sound)

    def as_answer(self) -> dict[str, Any]:
        database = self.database
        head = database.head
        return {
            "success": self.sound,
            "contract_version": CONTRACT_VERSION,
            "database": {
                "path": str(database.path),
                "exists": database.exists,
                "problem": database.problem,
                "generation": head.generation if head else None,
                "lineage": head.lineage if head else "",
                "schema": head.schema if head else None,
                "embedding": head.embedding if head else "",
                "fsync": self.fsync,
                "write_lock": "held" if database.lock_held else "free",
                "spool_files": database.spool_files,
                "quarantine_rows": database.quarantine_rows,
                "usage_fault": database.usage_fault,
            },
            "tables": {table.name: table.as_dict() for table in database.tables},
            "text_index": database.text_index.as_dict(),
            "vector_index": database.vector_index.as_dict(),
            "storage": database.storage.as_dict(),
            "damage": [found.as_dict() for found in database.damage],
            "embedder": self.embedder.as_dict(),
            "maintenance": {
                "last": dict(self.maintenance.last) or None,
                "failures": self.maintenance.failures,
                "alarm": self.maintenance.alarm,
            },
            "engines": engine_versions(),
            "integrity": self.integrity.as_dict() if self.integrity is not None else None,
        }


def examine_health(settings: Settings, embedder: Embedder, *, deep: Progress | None = None) -> HealthReport:
    """Look at everything; read every row as well where `deep` is given, which is told how far it is."""
    database = examine(settings.db_path, settings.backups_dir)
    integrity = verify(settings.db_path, deep) if deep is not None and database.head is not None else None
    journal = read_journal(journal_path(DatabaseFiles(settings.db_path)))
    return HealthReport(database, _embedder(embedder), integrity, settings.fsync, journal)


def require_database(report: HealthReport) -> None:
    """Raises `store_unavailable` where there is nothing to be healthy: most likely a mistyped path."""
    if not report.database.exists:
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "db_path",
            f"There is no database at {report.database.path}. Check the path, or store a first memory with "
            "add_memory.",
            received=str(report.database.path),
        )


def _embedder(embedder: Embedder) -> EmbedderHealth:
    identity = ""
    try:
        identity = str(embedder.identity)
        embedder.warm_up()
        started = time.perf_counter()
        embedder.embed_query(_PROBE)
    except MemsuiteError as error:
        return EmbedderHealth(identity, False, None, error.message)
    return EmbedderHealth(identity, True, round((time.perf_counter() - started) * 1000, 2))
