"""Charts as numbers: lines stay within their frame, bars are measured by the longest."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from memories.console.charts import STEPS, LineChart, Point, bars

values = st.lists(st.integers(0, 10**9), max_size=60)


def chart(*numbers: int) -> LineChart:
    return LineChart(
        "Memories a week", "Week", "Memories", [Point(f"w{at}", n) for at, n in enumerate(numbers)]
    )


@pytest.mark.parametrize(
    ("numbers", "ticks"),
    [
        ((2710, 3418), (3600, 3400, 3200, 3000, 2800, 2600)),
        ((53, 73), (75, 70, 65, 60, 55, 50)),
        ((0, 0), (1, 0)),
        ((7,), (8, 7)),
        ((), (1, 0)),
    ],
)
def test_grid_lines_are_at_round_numbers(numbers: tuple[int, ...], ticks: tuple[int, ...]) -> None:
    assert chart(*numbers).ticks == ticks


@given(values)
def test_the_line_never_leaves_its_frame(numbers: list[int]) -> None:
    drawn = chart(*numbers)
    places = [float(number) for number in re.findall(r"[\d.]+", drawn.path)]

    assert len(places) == 2 * len(numbers)
    assert all(0 <= place <= 100 for place in places)
    assert 2 <= len(drawn.ticks) <= STEPS + 3


@given(values)
def test_the_last_point_has_its_label(numbers: list[int]) -> None:
    below = chart(*numbers).below

    assert len(below) == len(numbers)
    assert not numbers or below[-1] == f"w{len(numbers) - 1}"


def test_a_higher_value_lies_higher() -> None:
    low, high = re.findall(r" ([\d.]+)", chart(10, 20).path)

    assert float(high) < float(low)


def test_bars_are_shares_of_the_longest() -> None:
    drawn = bars([("tech", 40, "/a"), ("fact", 10, "/b"), ("project", 0, "/c")])

    assert [bar.share for bar in drawn] == ["100", "25", "0"]
    assert [bar.share for bar in bars([("none", 0, "/")])] == ["0"]


def test_the_table_tells_every_number_of_the_line() -> None:
    shown = render_to_string("console/charts/line.html", {"chart": chart(1200, 1300)})

    assert "<td>1,200</td>" in shown
    assert "<td>1,300</td>" in shown
    assert "style=" not in shown
