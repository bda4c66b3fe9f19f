"""What capture has done and what it could not do, counted beside the database for all processes."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from enum import StrEnum
from pathlib import Path

BUSY_SECONDS = 1.0


class Counted(StrEnum):
    """What is counted: turns, but for ``SECRETS``, which are single values."""

    FILED = "filed"
    MERGED = "merged"
    ECHOES = "echoes"
    SECRETS = "secrets"
    DROPPED = "dropped"
    TORN = "torn"
    UNFILEABLE = "unfileable"


class Counts:
    """Counts of one database. Thread safe; a hook counts in memory, ``write`` puts it on the disk."""

    def __init__(self, database: Path) -> None:
        self._path = database / ".memsuite" / "capture.db"
        self._lock = threading.Lock()
        self._new: Counter[Counted] = Counter()

    def add(self, what: Counted, number: int = 1) -> None:
        with self._lock:
            self._new[what] += number

    def write(self) -> None:
        """Best effort: what cannot be written is kept for the next time."""
        with self._lock:
            new, self._new = self._new, Counter()
        rows = [(str(name), number) for name, number in new.items() if number]
        if not rows or not self._path.parent.is_dir():
            return
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection, connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, number INTEGER NOT NULL)"
                )
                connection.executemany(
                    "INSERT INTO counts VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET number = number + excluded.number",
                    rows,
                )
        except (sqlite3.Error, OSError):
            with self._lock:
                self._new += new

    def read(self) -> Mapping[Counted, int]:
        """All counts, those not written yet included."""
        found = Counter(_stored(self._path))
        with self._lock:
            found += self._new
        return {what: found.get(what, 0) for what in Counted}


def _stored(path: Path) -> dict[Counted, int]:
    if not path.is_file():
        return {}
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            rows = connection.execute("SELECT name, number FROM counts").fetchall()
    except (sqlite3.Error, OSError):
        return {}
    known = set(Counted)
    return {Counted(name): int(number) for name, number in rows if name in known}
