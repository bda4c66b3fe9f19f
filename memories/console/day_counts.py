"""How many memories were made on which day (UTC), from the catalogue's columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memories.console.charts import Point

NAMED = 3
"""Subjects named beside a day; the day itself opens all of them."""

MOST_POINTS = 62
"""Points of the chart: beyond these days become weeks, and weeks months."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day on which memories were made: how many, and some of their subjects."""

    day: date
    count: int
    names: tuple[str, ...]

    @property
    def more(self) -> int:
        return self.count - len(self.names)


class Days:
    """The days of one catalogue that have memories, the newest first."""

    def __init__(self, catalogue: pa.Table) -> None:
        days = pc.floor_temporal(catalogue["created_at"], unit="day")
        self._catalogue = catalogue.append_column("day", days)
        counted = self._catalogue.group_by("day").aggregate([("day", "count")])
        self._rows = counted.sort_by([("day", "descending")])

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def page(self, offset: int, size: int) -> list[Day]:
        """The days from ``offset`` on, each with its newest subjects."""
        rows = self._rows.slice(offset, size).to_pylist()
        names = self._names([row["day"] for row in rows])
        return [Day(row["day"].date(), row["day_count"], names[row["day"]]) for row in rows]

    def points(self, days: list[Day]) -> tuple[str, list[Point]]:
        """What to chart of a page: the unit (day, week or month), and a point for each of them from the
        first of the days to the last, those without memories too."""
        if not days:
            return "day", []
        first, last = days[-1].day, days[0].day
        unit = _unit(first, last)
        made: dict[date, int] = {}
        for row in self._between(first, last):
            at = _floor(row["day"].date(), unit)
            made[at] = made.get(at, 0) + row["day_count"]
        return unit, [Point(_label(at, unit), made.get(at, 0)) for at in _steps(first, last, unit)]

    def _between(self, first: date, last: date) -> list[dict[str, Any]]:
        since, until = (pa.scalar(datetime.combine(day, time(), UTC), self._moment) for day in (first, last))
        within = pc.and_(pc.greater_equal(self._rows["day"], since), pc.less_equal(self._rows["day"], until))
        found: list[dict[str, Any]] = self._rows.filter(within).to_pylist()
        return found

    def _names(self, days: list[datetime]) -> dict[datetime, tuple[str, ...]]:
        wanted = pa.array(days, self._moment)
        rows = self._catalogue.filter(pc.is_in(self._catalogue["day"], value_set=wanted))
        order = [("day", "descending"), ("created_at", "descending"), ("id", "descending")]
        rows = rows.select(["id", "day", "created_at", "domain", "subject"]).sort_by(order)
        names: dict[datetime, list[str]] = {day: [] for day in days}
        # The rows of one day stand together: of each only the first few are looked at in Python.
        starts = rows.group_by("day", use_threads=False).aggregate([("day", "count")]).to_pylist()
        at = 0
        for start in starts:
            for row in rows.slice(at, min(NAMED, start["day_count"])).to_pylist():
                names[row["day"]].append(f"{row['domain']}:{row['subject']}")
            at += start["day_count"]
        return {day: tuple(found) for day, found in names.items()}

    @property
    def _moment(self) -> pa.DataType:
        return self._catalogue.schema.field("day").type


def _unit(first: date, last: date) -> str:
    span = (last - first).days + 1
    if span <= MOST_POINTS:
        return "day"
    return "week" if span <= 7 * MOST_POINTS else "month"


def _floor(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day


def _steps(first: date, last: date, unit: str) -> Iterator[date]:
    at, end = _floor(first, unit), _floor(last, unit)
    while at <= end:
        yield at
        at = _floor(at + timedelta(days={"day": 1, "week": 7, "month": 31}[unit]), unit)


def _label(day: date, unit: str) -> str:
    return f"{day:%b %Y}" if unit == "month" else f"{day.day} {day:%b}"
