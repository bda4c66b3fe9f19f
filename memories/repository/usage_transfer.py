"""Moving the usage side store in and out, day by day."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from memories.repository.records import Row
from memories.repository.usage import SCHEMA

COLUMNS = ("memory_id", "day", "recalls", "confirmations", "last_recalled_at")

_ALL = f"SELECT {', '.join(COLUMNS)} FROM usage ORDER BY memory_id, day"

# The larger of two counts of one day, not their sum: an import that is run again must change nothing.
_TAKE = """
INSERT INTO usage (memory_id, day, recalls, confirmations, last_recalled_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (memory_id, day) DO UPDATE SET
    recalls = max(recalls, excluded.recalls),
    confirmations = max(confirmations, excluded.confirmations),
    last_recalled_at = max(last_recalled_at, excluded.last_recalled_at)
"""

WAIT_SECONDS = 10.0


def usage_rows(path: Path) -> Iterator[Row]:
    """Every row in the order of its key; none where nothing was ever counted, or where the file is
    damaged, since it is no memory."""
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            for row in connection.execute(_ALL):
                yield dict(zip(COLUMNS, row, strict=True))
    except sqlite3.Error:
        return


def take_usage(path: Path, rows: Iterable[Row]) -> int:
    """Write what another store has counted; returns how many rows that were. A store that cannot be
    written counts nothing."""
    values = [tuple(row[name] for name in COLUMNS) for row in rows]
    if not values:
        return 0
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection, connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(SCHEMA)
            connection.executemany(_TAKE, values)
    except (sqlite3.Error, OSError):
        return 0
    return len(values)


def forget_usage(path: Path) -> None:
    """Remove every count, for a database that is empty again."""
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection, connection:
            connection.execute("DELETE FROM usage")
    except sqlite3.Error:
        return
