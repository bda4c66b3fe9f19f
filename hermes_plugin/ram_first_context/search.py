"""One read-only search of a Mnemosyne database: by its full text index, or by substring without one."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from .terms import Term, match_expression, substring_test

LOCK_WAIT = 1.0  # seconds for a writer that holds the whole file, as in DELETE mode
DEADLINE = 2.0  # seconds; the host sets none
STEPS_PER_LOOK_AT_THE_CLOCK = 1000

# Inside the index nothing can be interrupted, and its time grows with the tokens of the expression: on 10,000
# rows 500 characters of one frequent token took 44 ms, 4,000 took 390 ms, 100,000 did not end within minutes.
MAX_INDEX_TERMS = 64
MAX_INDEX_CHARS = 500

# Not the index's fault, and no better without it.
_HOPELESS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT)

COLUMNS = ("id", "content", "source", "importance", "timestamp", "memory_type", "metadata_json")
_COLUMN_LIST = ", ".join(f"w.{column}" for column in COLUMNS)

# On id, never on rowid: an updated memory gets a new row in the index.
_BY_INDEX = f"""
    SELECT {_COLUMN_LIST}, f.rank FROM fts_working AS f JOIN working_memory AS w ON w.id = f.id
    WHERE fts_working MATCH ? ORDER BY f.rank LIMIT ?
"""
_BY_SUBSTRING = f"""
    SELECT {_COLUMN_LIST}, 0 FROM working_memory AS w
    WHERE has_every_term(w.content) ORDER BY w.importance DESC, w.timestamp DESC, w.id LIMIT ?
"""

Row = dict[str, Any]


class SearchTooLong(Exception):
    """The deadline passed before there was an answer."""


def search(database: Path, terms: Sequence[Term], limit: int) -> list[Row]:
    """At most `limit` rows that have every term, best first; `rank` is bm25 (lower is better) or 0.

    `database` is absolute. Raises sqlite3.Error when the file cannot be read as a Mnemosyne database, and
    SearchTooLong after DEADLINE.
    """
    with closing(_connect(database)) as connection:
        try:
            if _too_much_for_the_index(terms):
                return _by_substring(connection, terms, limit)
            return _by_index(connection, terms, limit)
        except sqlite3.Error as problem:
            if _code(problem) == sqlite3.SQLITE_INTERRUPT:
                raise SearchTooLong(f"The search took more than {DEADLINE:g} s.") from problem
            raise


def _connect(database: Path) -> sqlite3.Connection:
    # as_uri, since a bare path with ? or # in it would open, and create, another file.
    uri = f"{database.as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=LOCK_WAIT, isolation_level=None)
    connection.text_factory = _text
    started = time.monotonic()
    connection.set_progress_handler(
        lambda: time.monotonic() - started > DEADLINE, STEPS_PER_LOOK_AT_THE_CLOCK
    )
    return connection


def _too_much_for_the_index(terms: Sequence[Term]) -> bool:
    return len(terms) > MAX_INDEX_TERMS or sum(len(term.text) for term in terms) > MAX_INDEX_CHARS


def _by_index(connection: sqlite3.Connection, terms: Sequence[Term], limit: int) -> list[Row]:
    """Also without a usable index, by substring then."""
    try:
        return _rows(connection.execute(_BY_INDEX, (match_expression(terms), limit)))
    except sqlite3.Error as problem:
        if _code(problem) in _HOPELESS:
            raise
        return _by_substring(connection, terms, limit)


def _by_substring(connection: sqlite3.Connection, terms: Sequence[Term], limit: int) -> list[Row]:
    connection.create_function("has_every_term", 1, substring_test(terms), deterministic=True)
    return _rows(connection.execute(_BY_SUBSTRING, (limit,)))


def _code(problem: sqlite3.Error) -> int | None:
    """SQLite's primary result code; None for an error of Python's own."""
    code = getattr(problem, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _rows(cursor: sqlite3.Cursor) -> list[Row]:
    return [dict(zip((*COLUMNS, "rank"), map(_json_value, row), strict=True)) for row in cursor]


def _json_value(value: Any) -> Any:
    """SQLite keeps any type in any column, and infinities; JSON knows neither bytes nor those."""
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")
