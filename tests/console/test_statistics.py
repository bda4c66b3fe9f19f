"""Counts over all memories."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from console.samples import AUTHOR, payload

from memories.console.statistics import Counts, counts, open_conflicts, storage
from memories.repository import MemoryRepository

TODAY = date(2026, 3, 12)
"""A Thursday."""


def store(repository: MemoryRepository, subject: str, day: date, **changes: object) -> str:
    moment = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    made = payload(subject, facts=[f"{subject} says something"], **changes)
    return repository.add(made, AUTHOR, at=moment).memory_id


def counted(repository: MemoryRepository) -> Counts:
    return counts(repository.catalogue(), repository.usage.recalls(), TODAY)


def test_an_empty_database_counts_nothing(repository: MemoryRepository) -> None:
    found = counted(repository)

    assert (found.total, found.recent, found.never_recalled, found.low_quality) == (0, 0, 0, 0)
    assert found.last_change is None
    assert [week.total for week in found.weeks] == [0] * 12


def test_weeks_add_up_from_monday_to_monday(repository: MemoryRepository) -> None:
    for number, day in enumerate(
        [date(2025, 1, 1), date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 8), date(2026, 3, 9)]
    ):
        store(repository, f"Buoy_{number}", day)
    weeks = counted(repository).weeks

    assert [(week.monday, week.added, week.total) for week in weeks[-3:]] == [
        (date(2026, 2, 23), 1, 2),
        (date(2026, 3, 2), 2, 4),
        (date(2026, 3, 9), 1, 5),
    ]
    assert weeks[0].total == 1


def test_a_memory_dated_after_today_counts_as_of_this_week(repository: MemoryRepository) -> None:
    store(repository, "Ahead", TODAY + timedelta(days=20))

    assert counted(repository).weeks[-1].total == 1


def test_recent_are_seven_days_with_today(repository: MemoryRepository) -> None:
    store(repository, "Inside", date(2026, 3, 6))
    store(repository, "Outside", date(2026, 3, 5))

    assert counted(repository).recent == 1


def test_every_category_and_tier_is_counted_those_without_any_too(repository: MemoryRepository) -> None:
    store(repository, "Tide", TODAY, category="fact", tier=3)
    found = counted(repository)

    assert next(iter(found.categories)) == "fact"
    assert len(found.categories) == 10
    assert found.tiers == {1: 0, 2: 0, 3: 1}


def test_recalls_of_memories_in_the_trash_count_nothing(repository: MemoryRepository) -> None:
    gone, kept = store(repository, "Gone", TODAY), store(repository, "Kept", TODAY)
    repository.usage.record_recall([gone, kept])
    repository.delete(gone, AUTHOR)
    found = counted(repository)

    assert (found.recalled_today, found.never_recalled) == (1, 0)


def test_a_pair_in_conflict_is_one_row_and_two_memories(repository: MemoryRepository) -> None:
    assert repository.read(open_conflicts).rows == 0
    repository.add(payload("Gate", facts=["port=8080"]), AUTHOR)
    other = repository.add(payload("Gate_north", facts=["port=9090"]), AUTHOR).memory_id
    repository.update(other, {"subject": "Gate"}, AUTHOR, patch=True)
    found = repository.read(open_conflicts)

    assert (found.rows, found.memories) == (1, 2)
    assert found.oldest is not None


def test_storage_is_the_bytes_of_all_files(tmp_path: Path) -> None:
    database, backups = tmp_path / "db", tmp_path / "backups"
    for name, size in (("db/a", 10), ("db/deep/b", 20), ("backups/one/c", 5), ("backups/two/d", 6)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    found = storage(database, backups)

    assert (found.database, found.backups, found.backup_count) == (30, 11, 2)
    assert storage(tmp_path / "none", tmp_path / "none").database == 0
