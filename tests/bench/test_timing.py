from __future__ import annotations

import pytest

from maintenance.bench.timing import Timings, percentile, timed


@pytest.mark.parametrize(
    ("share", "expected"), [(0.01, 1), (0.5, 5), (0.51, 6), (0.9, 9), (0.95, 10), (1.0, 10)]
)
def test_a_percentile_is_a_value_that_occurred(share: float, expected: float) -> None:
    assert percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share) == expected


def test_of_one_value_every_percentile_is_that_one() -> None:
    assert (percentile([3.0], 0.5), percentile([3.0], 0.95)) == (3.0, 3.0)


def test_of_none_it_is_zero() -> None:
    assert percentile([], 0.5) == 0.0


def test_each_piece_of_work_is_done_and_timed_once() -> None:
    done: list[int] = []
    times = timed(done.append, range(5))
    assert done == list(range(5))
    assert len(times.values) == 5


def test_a_row_says_how_often_and_the_two_percentiles() -> None:
    assert Timings([1.0, 2.0, 40.0]).as_row() == {"times": 3, "p50_ms": 2.0, "p95_ms": 40.0}
