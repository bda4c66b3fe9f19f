"""How often each memory was recalled, of all memories at once: what lists are ordered by and the
dashboard counts. It ranks nothing in a search."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("recalls", pa.int64()),
        ("today", pa.int64()),
        ("last", pa.string()),
    ]
)

_ALL = """
SELECT memory_id, sum(recalls), sum(CASE WHEN day = ? THEN recalls ELSE 0 END), max(last_recalled_at)
FROM usage GROUP BY memory_id HAVING sum(recalls) > 0
"""


@dataclass(frozen=True)
class Recalls:
    """``table`` has a row for each memory that was ever recalled, those in the trash included: its id,
    how often, how often on the present day (UTC), and when last, as ISO text."""

    table: pa.Table

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        return self.table["id"]

    def among(self, ids: pa.ChunkedArray) -> pa.ChunkedArray:
        """A mask of the ``ids`` that were ever recalled."""
        return pc.is_in(ids, value_set=self.ids)

    def today(self, ids: pa.ChunkedArray) -> int:
        """How many of ``ids`` were recalled on the present day."""
        recalled = self.table.filter(pc.greater(self.table["today"], 0))
        return int(pc.sum(pc.is_in(ids, value_set=recalled["id"])).as_py() or 0)

    def leaders(self, ids: pa.ChunkedArray, count: int) -> list[str]:
        """Up to ``count`` of ``ids``, the most recalled first; none that never was."""
        keys = [("recalls", "descending"), ("last", "descending"), ("id", "ascending")]
        # Few of the most recalled are in the trash: looking a few up among all is quicker than all among all.
        asked = count * 8
        while True:
            best = self.ids.take(pc.select_k_unstable(self.table, asked, sort_keys=keys)).to_pylist()
            stored = set(ids.filter(pc.is_in(ids, value_set=pa.array(best, pa.string()))).to_pylist())
            found = [name for name in best if name in stored]
            if len(found) >= count or asked >= len(self.ids):
                return found[:count]
            asked *= 8

    def last_first(self, ids: Sequence[str]) -> list[str]:
        """``ids`` in the order of their last recall; those never recalled after them, as they came."""
        return self._ordered(ids, ("last", "recalls"))

    def most_first(self, ids: Sequence[str]) -> list[str]:
        """``ids`` in the order of how often they were recalled; the others after them, as they came."""
        return self._ordered(ids, ("recalls", "last"))

    def _ordered(self, ids: Sequence[str], columns: tuple[str, str]) -> list[str]:
        given = pa.array(ids, pa.string())
        # Where each row's memory stands among the ids, null where it is not asked for.
        places = pc.index_in(self.ids, value_set=given)
        known = self.table.append_column("place", places).filter(pc.is_valid(places))
        keys = [*((column, "descending") for column in columns), ("place", "ascending")]
        first = known["id"].take(pc.sort_indices(known, sort_keys=keys))
        others = given.filter(pc.invert(pc.is_in(given, value_set=self.ids)))
        return [*first.to_pylist(), *others.to_pylist()]


_Signature = tuple[Path, date, tuple[tuple[int, int], ...]]


class RecallsCache:
    """The recalls last read, while the store's files are as they were then. Thread safe. The side
    store is no memory: one that cannot be read counts nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._latest: tuple[_Signature, Recalls] | None = None

    def now(self) -> Recalls:
        path, today = self._path, datetime.now(UTC).date()
        with self._lock:
            # Taken before the reading, so that what is counted meanwhile is read again the next time.
            signature = (path, today, _as_they_are(path))
            if self._latest is None or self._latest[0] != signature:
                self._latest = signature, Recalls(_read(path, today))
            return self._latest[1]


def _as_they_are(path: Path) -> tuple[tuple[int, int], ...]:
    """When the store and its log were last written, and their sizes: every count changes one of them."""
    found = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        # Whoever opens the store makes an empty log; that is no count.
        if status.st_size:
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)


def _read(path: Path, today: date) -> pa.Table:
    if not path.is_file():
        return _SCHEMA.empty_table()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute(_ALL, (today.isoformat(),)).fetchall()
    except sqlite3.Error:
        return _SCHEMA.empty_table()
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SCHEMA)
    return pa.table(
        [pa.array(list(column), field.type) for column, field in zip(columns, _SCHEMA, strict=True)],
        schema=_SCHEMA,
    )
