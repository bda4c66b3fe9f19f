"""The usage side store: how often a memory was recalled and confirmed. It ranks nothing, and
losing it loses nothing else, so no fault in it ever reaches a reader or a writer."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memories.repository.recalls import Recalls, RecallsCache

if TYPE_CHECKING:
    from memories.repository.records import StoredMemory

BUSY_MILLISECONDS = 200
"""How long a count waits for another process: counting must not be felt by who is asking."""

FRESHNESS_A_DAY = 0.985
CONFIRMATION_DOUBT = 0.8
"""Each confirmation takes away a fifth of what doubt is left."""
PROTECTED_QUALITY = 0.5
"""Tier 1 is never shown below this."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
    memory_id TEXT NOT NULL,
    day TEXT NOT NULL,
    recalls INTEGER NOT NULL DEFAULT 0,
    confirmations INTEGER NOT NULL DEFAULT 0,
    last_recalled_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (memory_id, day)
) WITHOUT ROWID
"""

_COUNT = """
INSERT INTO usage (memory_id, day, recalls, confirmations, last_recalled_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (memory_id, day) DO UPDATE SET
    recalls = recalls + excluded.recalls,
    confirmations = confirmations + excluded.confirmations,
    last_recalled_at = max(last_recalled_at, excluded.last_recalled_at)
"""


@dataclass(frozen=True, slots=True)
class Signals:
    """The read-time signals of 02-storage. ``freshness``, ``quality`` and ``trust`` lie in 0..1."""

    persisted_quality: float
    quality: float
    freshness: float
    protected: bool
    trust: float
    access_count: int
    accessed_at: datetime | None

    def as_answer(self) -> dict[str, Any]:
        return {
            "quality": self.quality,
            "persisted_quality": self.persisted_quality,
            "freshness": self.freshness,
            "protected": self.protected,
            "trust": self.trust,
            "access_count": self.access_count,
            "accessed_at": self.accessed_at.isoformat(timespec="seconds") if self.accessed_at else None,
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """What the side store knows of one memory."""

    recalls: int = 0
    confirmations: int = 0
    last_recalled_at: datetime | None = None

    def signals(self, memory: StoredMemory, at: datetime | None = None) -> Signals:
        """The signals of a memory at a moment (now, by default)."""
        moment = at or datetime.now(UTC)
        since = self.last_recalled_at or memory.created_at
        days = max((moment - since).total_seconds(), 0.0) / 86_400
        protected = memory.tier == 1
        trust = 1.0 if memory.approved_by else 0.5 + 0.5 * (1 - CONFIRMATION_DOUBT**self.confirmations)
        return Signals(
            persisted_quality=memory.quality,
            quality=max(PROTECTED_QUALITY, memory.quality) if protected else memory.quality,
            freshness=round(FRESHNESS_A_DAY**days, 4),
            protected=protected,
            trust=round(trust, 4),
            access_count=self.recalls,
            accessed_at=self.last_recalled_at,
        )


class UsageStore:
    """``usage.db``: SQLite beside the tables, in WAL. Thread safe; never raises."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._recalls = RecallsCache(path)

    def record_recall(self, ids: Collection[str]) -> None:
        """An explicit recall by the agent returned these memories."""
        moment = datetime.now(UTC)
        stamp = moment.isoformat(timespec="seconds")
        self._count([(name, _day(moment), 1, 0, stamp) for name in dict.fromkeys(ids)])

    def record_confirmation(self, memory_id: str) -> None:
        """The agent stated again what is stored."""
        self._count([(memory_id, _day(datetime.now(UTC)), 0, 1, "")])

    def of(self, ids: Collection[str]) -> dict[str, Usage]:
        """Usage by id; memories never recalled nor confirmed are left out."""
        found: dict[str, Usage] = {}
        if not self._path.is_file():
            return found
        try:
            with self._connected() as connection:
                for batch in _batches(list(ids)):
                    found.update(_read(connection, batch))
        except (sqlite3.Error, OSError):
            return {}
        return found

    def fault(self) -> str:
        """What is wrong with the file, as SQLite says it; "" when it is whole or not there."""
        if not self._path.exists():
            return ""
        # Reading in WAL mode makes files beside it, unless it is said that nobody else is there.
        quiet = not self._path.with_name(f"{self._path.name}-wal").exists()
        address = f"{self._path.resolve().as_uri()}?{'immutable=1' if quiet else 'mode=ro'}"
        try:
            with closing(sqlite3.connect(address, uri=True)) as connection:
                (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except (sqlite3.Error, OSError) as error:
            return str(error)
        return "" if said == "ok" else str(said)

    def recalls(self) -> Recalls:
        """The recalls of all memories as they stand."""
        return self._recalls.now()

    def _count(self, rows: Sequence[tuple[str, str, int, int, str]]) -> None:
        if not rows or not self._path.parent.is_dir():
            return
        try:
            with self._lock, self._connected() as connection, connection:
                connection.executemany(_COUNT, rows)
        except (sqlite3.Error, OSError):
            return

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        exists = self._path.is_file()
        with closing(sqlite3.connect(self._path, timeout=BUSY_MILLISECONDS / 1000)) as connection:
            if not exists:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(SCHEMA)
            # A count lost with the power is no loss; a flush for each recall would be.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection


def _read(connection: sqlite3.Connection, ids: Sequence[str]) -> Iterator[tuple[str, Usage]]:
    marks = ", ".join("?" * len(ids))
    query = (
        "SELECT memory_id, sum(recalls), sum(confirmations), max(last_recalled_at) FROM usage "
        f"WHERE memory_id IN ({marks}) GROUP BY memory_id"
    )
    for name, recalls, confirmations, last in connection.execute(query, ids):
        yield name, Usage(recalls, confirmations, datetime.fromisoformat(last) if last else None)


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
