"""Counts over all memories, from the catalogue's columns with Arrow: no row is looked at in Python."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memories.contract import Category, Tier
from memories.repository import Catalogue, Recalls, Snapshot, schema

WEEKS = 12
RECENT_DAYS = 7
LOW_QUALITY = 0.3
"""Below the default of 0.5 by enough that somebody, or an import, meant it."""
OLD_DAYS = 30
"""Of an older memory that was never recalled one may ask whether it ever will be."""


@dataclass(frozen=True, slots=True)
class Week:
    """A week (UTC, from Monday) and how many of today's memories were there at its end."""

    monday: date
    added: int
    total: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What the dashboard says of all memories. Days are UTC; ``tags`` are those most used."""

    total: int
    recent: int
    recent_from: date
    categories: Mapping[str, int]
    tiers: Mapping[int, int]
    tags: tuple[tuple[str, int], ...]
    distinct_tags: int
    weeks: tuple[Week, ...]
    never_recalled: int
    never_recalled_old: int
    old_until: date
    recalled_today: int
    low_quality: int
    last_change: datetime | None


def counts(catalogue: Catalogue, recalls: Recalls, today: date, *, tags: int = 12) -> Counts:
    """The counts of one catalogue as of a day."""
    table = catalogue.table
    created = table["created_at"]
    recent_from = today - timedelta(days=RECENT_DAYS - 1)
    old_until = today - timedelta(days=OLD_DAYS + 1)
    never = pc.invert(recalls.among(table["id"]))
    old = pc.less(created, _midnight(old_until + timedelta(days=1)))
    used = catalogue.counts("tags")
    return Counts(
        total=len(catalogue),
        recent=_true(pc.greater_equal(created, _midnight(recent_from))),
        recent_from=recent_from,
        categories=_complete(catalogue.counts("category"), [str(name) for name in Category]),
        tiers=dict(sorted(_complete(_by_number(catalogue), [int(tier) for tier in Tier]).items())),
        tags=tuple(used.items())[:tags],
        distinct_tags=len(used),
        weeks=tuple(_weeks(created, today)),
        never_recalled=_true(never),
        never_recalled_old=_true(pc.and_(never, old)),
        old_until=old_until,
        recalled_today=recalls.today(table["id"]),
        low_quality=_true(pc.less_equal(table["quality"], LOW_QUALITY)),
        last_change=pc.max(table["updated_at"]).as_py(),
    )


@dataclass(frozen=True, slots=True)
class OpenConflicts:
    """Open rows of the ledger, the memories they are about, and since when the oldest is open."""

    rows: int
    memories: int
    oldest: datetime | None


def open_conflicts(snapshot: Snapshot) -> OpenConflicts:
    columns = ["memory_a_id", "memory_b_id", "created_at"]
    table = snapshot.arrow(schema.CONFLICTS, "status = 'open'", columns)
    if table is None or not table.num_rows:
        return OpenConflicts(0, 0, None)
    sides = pa.chunked_array([*table["memory_a_id"].chunks, *table["memory_b_id"].chunks])
    return OpenConflicts(
        table.num_rows, pc.count_distinct(sides).as_py(), pc.min(table["created_at"]).as_py()
    )


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes of files as they stand, of the database and of its backups, and how many of these there are."""

    database: int
    backups: int
    backup_count: int


def storage(database: Path, backups: Path) -> Storage:
    """Sizes by the files' own accounts; a file that goes meanwhile counts nothing."""
    kept = [entry for entry in backups.iterdir() if entry.is_dir()] if backups.is_dir() else []
    return Storage(_bytes(database), sum(_bytes(entry) for entry in kept), len(kept))


def _bytes(directory: str | Path) -> int:
    # Not by pathlib, which takes several times as long over the thousand files of a large database.
    try:
        with os.scandir(directory) as entries:
            return sum(_size(entry) for entry in entries)
    except OSError:
        return 0


def _size(entry: os.DirEntry[str]) -> int:
    try:
        if entry.is_dir(follow_symlinks=False):
            return _bytes(entry.path)
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _weeks(created: pa.ChunkedArray, today: date) -> Iterator[Week]:
    """The last ``WEEKS`` weeks up to that of ``today``, oldest first."""
    this_monday = today - timedelta(days=today.weekday())
    first = this_monday - timedelta(weeks=WEEKS - 1)
    mondays = pc.floor_temporal(created, unit="week", week_starts_monday=True)
    added = {entry["values"].date(): entry["counts"] for entry in pc.value_counts(mondays).to_pylist()}
    total = sum(count for monday, count in added.items() if monday < first)
    for number in range(WEEKS):
        monday = first + timedelta(weeks=number)
        # A clock that was ahead may have dated memories after today: they are there, so they count.
        new = sum(count for day, count in added.items() if _falls(day, monday, this_monday))
        total += new
        yield Week(monday, new, total)


def _falls(day: date, monday: date, last: date) -> bool:
    return day == monday or (monday == last and day > last)


def _by_number(catalogue: Catalogue) -> dict[int, int]:
    return {int(tier): count for tier, count in catalogue.counts("tier").items()}


def _complete(found: Mapping[Any, int], values: list[Any]) -> dict[Any, int]:
    """Counts of all ``values``, those with none too, largest first."""
    every = {value: found.get(value, 0) for value in values} | dict(found)
    return dict(sorted(every.items(), key=lambda pair: -pair[1]))


def _true(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)


def _midnight(day: date) -> pa.Scalar:
    return pa.scalar(datetime.combine(day, time(), UTC), pa.timestamp("us", tz="UTC"))
