"""The timeline: days with their counts, the way to a day's memories, and the chart over them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from console.pages_read import Page
from console.samples import AUTHOR, payload

from memories.console.day_counts import Days
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def made(repository: MemoryRepository, *days: int) -> list[str]:
    """One memory for each, so many days before the tenth of March."""
    return [
        repository.add(
            payload(f"Subject_{at}", facts=[f"Fact {at}"]), AUTHOR, at=NOON - timedelta(days=ago, minutes=at)
        ).memory_id
        for at, ago in enumerate(days)
    ]


def days(*moments: datetime) -> Days:
    names = [f"m{at}" for at in range(len(moments))]
    created = pa.chunked_array([pa.array(moments, pa.timestamp("us", tz="UTC"))])
    return Days(
        pa.table({"id": names, "created_at": created, "domain": ["Havlys"] * len(names), "subject": names})
    )


def test_each_day_has_its_count_and_the_newest_subjects(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    made(repository, 0, 0, 0, 0, 2)
    page = Page(client_as("viewer").get("/timeline/"))

    assert "2 days on which memories were made" in page.text
    assert "Tue 10 Mar 2026 4 Havlys:Subject_0, Havlys:Subject_1, Havlys:Subject_2 and 1 more" in page.text
    assert "Sun 8 Mar 2026 1 Havlys:Subject_4" in page.text


def test_a_day_opens_its_memories(repository: MemoryRepository, client_as: ClientAs) -> None:
    made(repository, 0, 0, 1)
    viewer = client_as("viewer")
    page = Page(viewer.get("/timeline/"))

    day = next(link for link in page.links if "created_from=2026-03-10" in link)
    assert "2 of 3 match" in Page(viewer.get(day)).text


def test_the_days_are_paged(repository: MemoryRepository, client_as: ClientAs) -> None:
    made(repository, *range(25))
    page = Page(client_as("viewer").get("/timeline/", {"size": "20", "offset": "20"}))

    assert "21 to 25 of 25" in page.text
    assert "Tue 10 Mar 2026" not in page.text
    assert "Wed 18 Feb 2026" in page.text


def test_an_empty_database_has_no_days(client_as: ClientAs, repository: MemoryRepository) -> None:
    assert "No memories yet" in Page(client_as("viewer").get("/timeline/")).text


def test_the_chart_has_the_days_without_memories_too() -> None:
    timeline = days(NOON, NOON - timedelta(days=3), NOON - timedelta(days=3))
    unit, points = timeline.points(timeline.page(0, 50))

    assert unit == "day"
    assert [(point.label, point.value) for point in points] == [
        ("7 Mar", 2),
        ("8 Mar", 0),
        ("9 Mar", 0),
        ("10 Mar", 1),
    ]


@pytest.mark.parametrize(("span", "unit", "count"), [(61, "day", 62), (62, "week", 10), (500, "month", 18)])
def test_a_longer_span_is_charted_in_larger_units(span: int, unit: str, count: int) -> None:
    timeline = days(NOON, NOON - timedelta(days=span))
    charted, points = timeline.points(timeline.page(0, 50))

    assert (charted, len(points)) == (unit, count)
    assert sum(point.value for point in points) == 2
