"""Times of repeated work, and what is said about them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` (0 to 1) of the values do not exceed; 0 of none."""
    if not values:
        return 0.0
    ranked = sorted(values)
    place = -(-len(ranked) * share // 1) - 1
    return ranked[max(0, int(place))]


@dataclass
class Timings:
    """Durations in milliseconds of one kind of work."""

    values: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.values.append((time.perf_counter() - started) * 1000)

    @property
    def p50(self) -> float:
        return percentile(self.values, 0.5)

    @property
    def p95(self) -> float:
        return percentile(self.values, 0.95)

    def as_row(self) -> dict[str, float | int]:
        return {"times": len(self.values), "p50_ms": round(self.p50, 2), "p95_ms": round(self.p95, 2)}


def timed(work: Callable[[T], object], over: Iterable[T]) -> Timings:
    """How long ``work`` takes on each of ``over``."""
    found = Timings()
    for each in over:
        with found.one():
            work(each)
    return found
