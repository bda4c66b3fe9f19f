"""What a run of maintenance answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memories.contract import CONTRACT_VERSION, MemsuiteError


class Status(StrEnum):
    NOT_NEEDED = "not_needed"
    MAINTAINED = "maintained"
    FAILED = "failed"


class Step(StrEnum):
    """The steps of a run, in their order; ``failed_step`` names one of them."""

    PLAN = "plan"
    SPACE = "space"
    BACKUP = "backup"
    LOCK = "lock"
    COMPACT = "compact"
    INDEX = "index"
    VERIFY = "verify"
    PRUNE = "prune"
    VERIFY_PRUNED = "verify_pruned"
    RECORD = "record"


@dataclass
class TableWork:
    """What was done to one table, and what the engine says of it. ``index_rebuilt`` where an index
    stood in the way and was made anew."""

    actions: list[str] = field(default_factory=list)
    fragments_removed: int = 0
    fragments_added: int = 0
    versions_removed: int = 0
    bytes_removed: int = 0
    index_rebuilt: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "actions": list(self.actions),
            "fragments_removed": self.fragments_removed,
            "fragments_added": self.fragments_added,
            "versions_removed": self.versions_removed,
            "bytes_removed": self.bytes_removed,
            "index_rebuilt": self.index_rebuilt,
        }


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """Byte differences are signed: positive is growth. ``footprint_delta_bytes`` counts the managed
    backups in. ``backup_created`` is the name of the backup made before, "" where none was."""

    status: Status
    mode: str
    tables: Mapping[str, TableWork] = field(default_factory=dict)
    database_delta_bytes: int = 0
    footprint_delta_bytes: int = 0
    backup_created: str = ""
    failed_step: str = ""
    error: MemsuiteError | None = None
    alarm: bool = False

    @property
    def success(self) -> bool:
        return self.status is not Status.FAILED

    def as_answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "success": self.success,
            "status": str(self.status),
            "mode": self.mode,
            "tables": {name: work.as_dict() for name, work in self.tables.items() if work.actions},
            "database_delta_bytes": self.database_delta_bytes,
            "footprint_delta_bytes": self.footprint_delta_bytes,
            "backup_created": self.backup_created,
            "alarm": self.alarm,
            "contract_version": CONTRACT_VERSION,
        }
        if self.error is not None:
            answer |= {"failed_step": self.failed_step, **self.error.as_answer()}
        return answer
