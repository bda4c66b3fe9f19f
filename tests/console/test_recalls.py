"""The recalls of all memories at once."""

from __future__ import annotations

import pytest
from console.samples import AUTHOR, payload

from memories.repository import MemoryRepository


@pytest.fixture
def ids(repository: MemoryRepository) -> list[str]:
    """Four memories, of which the second was recalled twice and the third once, last."""
    made = [
        repository.add(payload(name, facts=[f"{name} says something"]), AUTHOR).memory_id
        for name in ("Tide", "Pump", "Tax", "Mast")
    ]
    for name in (made[1], made[1], made[2]):
        repository.usage.record_recall([name])
    return made


def test_the_most_recalled_first_then_the_others_as_they_came(
    repository: MemoryRepository, ids: list[str]
) -> None:
    assert repository.usage.recalls().most_first(ids) == [ids[1], ids[2], ids[0], ids[3]]
    assert repository.usage.recalls().most_first(ids[::-1]) == [ids[1], ids[2], ids[3], ids[0]]


def test_only_what_is_asked_for_is_ordered(repository: MemoryRepository, ids: list[str]) -> None:
    assert repository.usage.recalls().most_first([ids[0], ids[2]]) == [ids[2], ids[0]]
    assert repository.usage.recalls().last_first([]) == []


def test_leaders_are_those_recalled_alone(repository: MemoryRepository, ids: list[str]) -> None:
    column = repository.catalogue().table["id"]

    assert repository.usage.recalls().leaders(column, 6) == [ids[1], ids[2]]
    assert repository.usage.recalls().leaders(column, 1) == [ids[1]]


def test_a_recall_counts_at_once(repository: MemoryRepository, ids: list[str]) -> None:
    before = repository.usage.recalls()
    assert repository.usage.recalls() is before
    repository.usage.record_recall([ids[3]])

    assert ids[3] in repository.usage.recalls().ids.to_pylist()


def test_a_confirmation_is_no_recall(repository: MemoryRepository, ids: list[str]) -> None:
    repository.usage.record_confirmation(ids[0])

    assert ids[0] not in repository.usage.recalls().ids.to_pylist()


def test_a_store_that_cannot_be_read_counts_nothing(repository: MemoryRepository, ids: list[str]) -> None:
    path = repository.path / ".memsuite" / "usage.db"
    for file in path.parent.glob("usage.db*"):
        file.unlink()
    path.write_bytes(b"this is no database at all, whatever its name says" * 40)

    assert len(repository.usage.recalls().ids) == 0


def test_a_store_that_was_never_made_counts_nothing(repository: MemoryRepository) -> None:
    assert len(repository.usage.recalls().ids) == 0


def test_leaders_are_found_behind_many_in_the_trash(repository: MemoryRepository, ids: list[str]) -> None:
    for _ in range(3):
        repository.usage.record_recall([f"gone-{number}" for number in range(40)])

    assert repository.usage.recalls().leaders(repository.catalogue().table["id"], 2) == [ids[1], ids[2]]
