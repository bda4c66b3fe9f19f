"""What the preview says is what the change does."""

from __future__ import annotations

import pytest
from console.samples import AUTHOR, payload

from memories.console.forecast import forecast
from memories.repository import BulkChange, MemoryRepository

MANY = [f"t{number}" for number in range(20)]


@pytest.fixture
def ids(repository: MemoryRepository) -> list[str]:
    """Memories that differ in what changes look at, one that is not stored, one in the trash."""
    given = [
        payload("A", facts=["One"], tags=["api"], tier=1, quality=0.9),
        payload("B", facts=["Two"], tags=["API", "tide"], category="decision"),
        payload("C", facts=["Three"], tags=MANY, type="note"),
        payload("D", facts=["Four"], tags=[]),
        payload("E", facts=["Five"], tags=[*MANY[:19], "Straße"]),
        payload("F", facts=["Six"], tags=["backup", "Tide"]),
    ]
    stored = [repository.add(one, AUTHOR).memory_id for one in given]
    gone = repository.add(payload("G", facts=["Seven"]), AUTHOR).memory_id
    repository.delete(gone, AUTHOR)
    return [*stored, "not-stored", gone]


@pytest.mark.parametrize(
    "change",
    [
        BulkChange.of("add_tags", ["api"]),
        BulkChange.of("add_tags", ["Api", "new"]),
        BulkChange.of("add_tags", ["STRASSE", "t1"]),
        BulkChange.of("remove_tags", ["API", "t3"]),
        BulkChange.of("remove_tags", ["nowhere"]),
        BulkChange.of("merge_tags", ["api", "tide"], target="tide"),
        BulkChange.of("merge_tags", ["tide"], target="Tide"),
        BulkChange.of("merge_tags", ["backup"], target="backup"),
        BulkChange.of("set_category", "decision"),
        BulkChange.of("set_type", "note"),
        BulkChange.of("set_tier", 1),
        BulkChange.of("set_quality", 0.9),
        BulkChange.of("mark_reviewed"),
        BulkChange.of("trash"),
        BulkChange.of("restore"),
    ],
    ids=lambda change: f"{change.action} {change.tags} {change.target}",
)
def test_the_forecast_is_what_comes(repository: MemoryRepository, ids: list[str], change: BulkChange) -> None:
    expected = forecast(repository, change, ids)

    result = repository.apply(change, ids, AUTHOR)

    assert expected.changed == result.changed
    assert expected.unchanged == result.unchanged
    assert expected.refused == {name: error.code for name, error in result.refused.items()}


def test_a_forecast_over_an_empty_database_refuses_all(repository: MemoryRepository) -> None:
    expected = forecast(repository, BulkChange.of("add_tags", ["api"]), ["one", "two"])

    assert (expected.changed, expected.unchanged, list(expected.refused)) == ((), (), ["one", "two"])


def test_the_forecast_of_superseding_is_what_comes(repository: MemoryRepository, ids: list[str]) -> None:
    first, second, third = ids[:3]
    newest = repository.add(
        payload("H", facts=["Eight"], relations=[{"type": "supersedes", "target_id": second}]), AUTHOR
    ).memory_id
    over = payload("I", facts=["Nine"], relations=[{"type": "supersedes", "target_id": newest}])
    above = repository.add(over, AUTHOR).memory_id
    selected, change = [*ids, newest, above], BulkChange.of("supersede", newest)
    expected = forecast(repository, change, selected)

    result = repository.apply(change, selected, AUTHOR)

    assert {first, third} <= set(expected.changed)
    assert (expected.changed, expected.unchanged) == (result.changed, result.unchanged)
    assert expected.refused == {name: error.code for name, error in result.refused.items()}


def test_a_memory_supersedes_no_more_than_it_may_have_relations(repository: MemoryRepository) -> None:
    many = [repository.add(payload(f"Old_{at}", facts=[f"{at}"]), AUTHOR).memory_id for at in range(22)]
    by = repository.add(payload("New", facts=["New"]), AUTHOR).memory_id
    change = BulkChange.of("supersede", by)
    expected = forecast(repository, change, many)

    result = repository.apply(change, many, AUTHOR)

    assert (len(expected.changed), len(expected.refused)) == (20, 2)
    assert expected.refused == {name: error.code for name, error in result.refused.items()}
