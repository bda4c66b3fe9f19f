"""What maintenance remembers of itself: when it last did what, and how often it has failed since."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memories.repository.files import DatabaseFiles

ALARM_AFTER = 2
"""Failures in a row from which the dashboard raises an alarm."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The last actions on one table; None where there was none. ``compacted_version`` is the one that
    compaction left: it is never compacted a second time."""

    cleaned_at: datetime | None = None
    compacted_at: datetime | None = None
    compacted_version: int = 0


@dataclass(frozen=True, slots=True)
class Journal:
    """``last`` is the answer of the last run that did something or failed, with its moment as ``at``."""

    tables: Mapping[str, TableRecord] = field(default_factory=dict)
    failures: int = 0
    last: Mapping[str, Any] = field(default_factory=dict)

    @property
    def alarm(self) -> bool:
        return self.failures >= ALARM_AFTER

    def of(self, name: str) -> TableRecord:
        return self.tables.get(name, TableRecord())

    def with_run(
        self, tables: Mapping[str, TableRecord], answer: Mapping[str, Any], at: datetime, *, failed: bool
    ) -> Journal:
        return replace(
            self,
            tables={**self.tables, **tables},
            failures=self.failures + 1 if failed else 0,
            last={"at": at.isoformat(timespec="seconds"), **answer},
        )


def journal_path(files: DatabaseFiles) -> Path:
    return files.side / "maintenance.json"


def read_journal(path: Path) -> Journal:
    """The journal at ``path``; an empty one where there is none, or none that can be read: what is
    lost then is only how long to wait before the next action."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        tables = {str(name): _record(found) for name, found in raw["tables"].items()}
        return Journal(tables, int(raw["failures"]), dict(raw["last"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Journal()


def write_journal(path: Path, journal: Journal) -> None:
    """Raises ``OSError``."""
    content = {
        "tables": {name: _plain(record) for name, record in journal.tables.items()},
        "failures": journal.failures,
        "last": dict(journal.last),
    }
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    temporary.replace(path)


def _record(found: Mapping[str, Any]) -> TableRecord:
    return TableRecord(
        _moment(found["cleaned_at"]), _moment(found["compacted_at"]), int(found["compacted_version"])
    )


def _plain(record: TableRecord) -> dict[str, Any]:
    return {
        "cleaned_at": record.cleaned_at.isoformat() if record.cleaned_at else None,
        "compacted_at": record.compacted_at.isoformat() if record.compacted_at else None,
        "compacted_version": record.compacted_version,
    }


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
