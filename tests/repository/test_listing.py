"""Lists and counts from the catalogue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def filled(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> MemoryRepository:
    rows = [
        payload("One", tags=["net", "web"], quality=0.9),
        payload("Two", tags=["net"], tier=1),
        payload("Three", category="tech", quality=0.1),
        payload("Four"),
    ]
    repository.add_many(rows, agent, at=[MONDAY + timedelta(days=day) for day in range(4)])
    return repository


def _subjects(repository: MemoryRepository, **asked: object) -> list[str]:
    return [memory.subject for memory in repository.list_memories(**asked).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("order", "subjects"),
    [
        ("newest", ["Four", "Three", "Two", "One"]),
        ("oldest", ["One", "Two", "Three", "Four"]),
        ("quality", ["One", "Four", "Two", "Three"]),
    ],
)
def test_orders(filled: MemoryRepository, order: str, subjects: list[str]) -> None:
    assert _subjects(filled, order=order) == subjects


@pytest.mark.parametrize(
    ("asked", "subjects"),
    [
        ({"category": "tech"}, ["Three"]),
        ({"tier": 1}, ["Two"]),
        ({"tag": "net"}, ["Two", "One"]),
        ({"tag": "net", "tier": 2}, ["One"]),
        ({"quality_min": 0.5}, ["Four", "Two", "One"]),
        ({"tag": "nothing"}, []),
    ],
)
def test_filters_hold_together(
    filled: MemoryRepository, asked: dict[str, object], subjects: list[str]
) -> None:
    assert _subjects(filled, **asked) == subjects


def test_pages_say_the_exact_total(filled: MemoryRepository) -> None:
    page = filled.list_memories(limit=2, offset=3)
    assert (page.total, [memory.subject for memory in page.rows]) == (4, ["One"])


def test_counts_of_a_column_and_of_a_list_column(filled: MemoryRepository) -> None:
    catalogue = filled.catalogue()
    assert catalogue.counts("category") == {"project": 3, "tech": 1}
    assert catalogue.counts("tags")["net"] == 2


def test_the_catalogue_follows_changes(filled: MemoryRepository, agent: Author) -> None:
    assert len(filled.catalogue()) == 4
    filled.delete(filled.list_memories().rows[0].id, agent)
    assert len(filled.catalogue()) == 3


def test_what_came_last_is_newest_when_the_clock_stood_still(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    for name in ("One", "Two", "Three"):
        repository.add(payload(name), agent, at=MONDAY)
    assert _subjects(repository) == ["Three", "Two", "One"]


def test_long_contents_are_cut_in_a_list(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("Long", "x" * 900), agent)
    row = repository.list_memories().as_answer()["rows"][0]
    assert len(row["content"]) == 300
    assert row["content"].endswith("…")
