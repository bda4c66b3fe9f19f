"""Charts as values: where a line runs and how long a bar is, in numbers that an SVG's attributes take.

``console/charts/line.html`` and ``console/charts/bars.html`` draw them, the line with a table of the same
numbers for those who do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

STEPS = 5
"""Grid lines of a chart, at most; few enough to read, enough to tell a value between them."""
LABELS = 4
"""Labels under a line: more would touch each other on a narrow screen."""


@dataclass(frozen=True, slots=True)
class Point:
    label: str
    value: int


@dataclass(frozen=True)
class LineChart:
    """A line over evenly spaced points. ``caption``, ``across`` and ``up`` head the table."""

    caption: str
    across: str
    up: str
    points: Sequence[Point]

    @cached_property
    def ticks(self) -> tuple[int, ...]:
        """The values at the grid lines, the highest first."""
        values = [point.value for point in self.points] or [0]
        low, high = min(values), max(values)
        step = _round_step((high - low) / STEPS)
        first, last = math.floor(low / step) * step, math.ceil(high / step) * step
        return tuple(range(max(last, first + step), first - 1, -step))

    @cached_property
    def grid(self) -> tuple[str, ...]:
        """Heights of the grid lines, 0 at the top to 100."""
        return tuple(_number(100 * at / (len(self.ticks) - 1)) for at in range(len(self.ticks)))

    @cached_property
    def path(self) -> str:
        """The line as path data in a square of 100 by 100."""
        return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in self._places) if self.points else ""

    @property
    def end(self) -> str:
        """Where the line ends, as path data."""
        return "M{} {}h.01".format(*map(_number, self._places[-1])) if self.points else ""

    @property
    def below(self) -> tuple[str, ...]:
        """The text under each point, "" under most; the last always has one."""
        every = math.ceil(len(self.points) / LABELS)
        last = len(self.points) - 1
        return tuple("" if (last - at) % every else point.label for at, point in enumerate(self.points))

    @cached_property
    def _places(self) -> tuple[tuple[float, float], ...]:
        top, bottom = self.ticks[0], self.ticks[-1]
        width = 100 / max(len(self.points), 1)
        return tuple(
            ((at + 0.5) * width, 100 * (top - point.value) / (top - bottom))
            for at, point in enumerate(self.points)
        )


@dataclass(frozen=True, slots=True)
class Bar:
    """``url`` lists what is counted; ``share`` is the length in percent of the longest bar."""

    name: str
    value: int
    url: str
    share: str
    note: str = ""


def bars(counted: Sequence[tuple[str, int, str]], notes: Sequence[str] = ()) -> tuple[Bar, ...]:
    """Bars of (name, value, url), all measured by the longest."""
    longest = max((value for _, value, _ in counted), default=0) or 1
    said = [*notes, *[""] * (len(counted) - len(notes))]
    return tuple(
        Bar(name, value, url, _number(100 * value / longest), note)
        for (name, value, url), note in zip(counted, said, strict=True)
    )


def _round_step(least: float) -> int:
    """The next larger of 1, 2, 5, 10, 20, 50, …"""
    if least <= 1:
        return 1
    magnitude = int(10 ** math.floor(math.log10(least)))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= least)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
