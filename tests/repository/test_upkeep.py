"""Maintenance: only where needed, with a backup first, and without a change to what is stored."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, backup_check, schema
from memories.repository.backup import Backups
from memories.repository.contents import contents_of
from memories.repository.files import DatabaseFiles
from memories.repository.health import bytes_below
from memories.repository.integrity import verify
from memories.repository.manifest import versions_made
from memories.repository.tables import Optimized, Tables
from memories.repository.upkeep import Action, Maintenance, Mode, Status
from memories.repository.upkeep.planning import keep_from
from memories.repository.upkeep.policy import Policy
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.repository.damage import data_files, flip

MARGIN = 0.3

EAGER = {"retention_seconds": 0, "cleanup_interval_seconds": 0, "compact_cooldown_seconds": 0}


@pytest.fixture(autouse=True)
def checked_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backups are checked by the same code without a process of its own, which takes two seconds; with
    one in ``test_backup``."""
    monkeypatch.setattr("memories.repository.backup.check", backup_check.look)


@pytest.fixture
def eager(settings: Settings) -> Settings:
    """Settings by which nothing old is kept, and nothing waits."""
    return replace(settings, **EAGER)


@pytest.fixture
def used(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Ids of memories whose database has some history."""
    for module in ("planning", "work"):
        monkeypatch.setattr(f"memories.repository.upkeep.{module}.MARGIN", timedelta(seconds=MARGIN))
    payloads = [payload(f"Subject_{number}", f"n={number}") for number in range(20)]
    results = repository.add_many(payloads, agent)
    ids = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    for number in range(12):
        repository.update(ids[number % 5], {"quality": 0.5 + number / 100}, agent, patch=True)
    # What stays must be younger by the margin than what goes.
    for quality in (0.8, 0.9):
        time.sleep(MARGIN)
        repository.update(ids[0], {"quality": quality}, agent, patch=True)
    return ids


def _kept(repository: MemoryRepository, name: str = schema.MEMORIES) -> set[int]:
    return set(versions_made(repository.path / f"{name}.lance"))


def _sound(repository: MemoryRepository) -> bool:
    return verify(repository.path, lambda done, total: None).sound


def test_a_fresh_store_needs_nothing_and_gets_no_backup_and_no_state(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, settings: Settings
) -> None:
    repository.add(payload(), agent)
    head = (repository.path / "HEAD").read_text()
    result = Maintenance(settings).run()
    assert (result.status, result.as_answer()["tables"]) == (Status.NOT_NEEDED, {})
    assert not settings.backups_dir.exists()
    assert not (repository.path / ".memsuite" / "maintenance.json").exists()
    assert (repository.path / "HEAD").read_text() == head


def test_a_mistyped_path_is_no_database(settings: Settings) -> None:
    with pytest.raises(MemsuiteError) as refused:
        Maintenance(settings).run()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert not settings.db_path.exists()


def test_history_is_removed_and_every_row_stays(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    before, size = contents_of(repository.snapshot()), bytes_below(repository.path)
    generation = repository.snapshot().generation

    result = Maintenance(eager).run()

    assert (result.status, result.success) == (Status.MAINTAINED, True)
    assert result.tables[schema.MEMORIES].versions_removed >= 10
    # The journal is written when everything has been counted.
    journal = (repository.path / ".memsuite" / "maintenance.json").stat().st_size
    assert result.database_delta_bytes == bytes_below(repository.path) - journal - size < 0
    assert result.footprint_delta_bytes > result.database_delta_bytes
    assert contents_of(repository.snapshot()) == before
    assert repository.snapshot().generation == generation
    assert repository.snapshot().lexical("subject_7", limit=3)[0][0] == used[7]
    assert _sound(repository)


def test_the_versions_of_head_and_of_the_head_before_stay(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    before = _kept(repository)
    assert Maintenance(eager).run().error is None
    head = repository.snapshot().head
    for name, version in head.tables.items():
        assert {version, head.previous[name]} <= _kept(repository, name)
    assert len(_kept(repository)) <= 5 < len(before)


def test_a_second_run_finds_nothing_until_something_changes(
    repository: MemoryRepository, used: list[str], agent: Author, eager: Settings
) -> None:
    maintenance = Maintenance(eager)
    assert [maintenance.run().status for _ in range(2)] == [Status.MAINTAINED, Status.NOT_NEEDED]
    time.sleep(MARGIN)
    for quality in (0.2, 0.3, 0.4):
        repository.update(used[1], {"quality": quality}, agent, patch=True)
        time.sleep(MARGIN)
    assert maintenance.run().status is Status.MAINTAINED


def test_the_default_policy_leaves_what_is_not_a_day_old(
    repository: MemoryRepository, used: list[str], settings: Settings
) -> None:
    kept = _kept(repository)
    assert Maintenance(settings).run().status is Status.NOT_NEEDED
    assert _kept(repository) == kept


def test_the_answer_keeps_the_shape_of_the_journal(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    maintenance = Maintenance(eager)
    answer = maintenance.run().as_answer()
    last = maintenance.journal().last
    assert {name: last[name] for name in answer} == answer
    assert maintenance.journal().of(schema.MEMORIES).cleaned_at is not None


def test_tables_are_cleaned_once_in_an_interval(
    repository: MemoryRepository, used: list[str], agent: Author, eager: Settings
) -> None:
    patient = Maintenance(replace(eager, cleanup_interval_seconds=3600))
    assert patient.run().status is Status.MAINTAINED
    for number in range(4):
        repository.update(used[0], {"quality": number / 10}, agent, patch=True)
    assert patient.plan().needed is False
    assert Maintenance(eager).plan().needed is True


def test_a_table_in_many_pieces_is_compacted_but_never_twice(
    repository: MemoryRepository, used: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.repository.upkeep.planning.MOST_FRAGMENTS", 1)
    maintenance = Maintenance(replace(settings, compact_cooldown_seconds=0))
    plan = maintenance.plan()
    assert Action.COMPACT in plan.tables[schema.MEMORIES].actions
    result = maintenance.run()
    assert result.tables[schema.MEMORIES].fragments_added == 1
    monkeypatch.setattr("memories.repository.upkeep.planning.MOST_FRAGMENTS", 0)
    assert Action.COMPACT not in maintenance.plan().tables[schema.MEMORIES].actions


def test_reclaim_leaves_one_version(
    repository: MemoryRepository, used: list[str], settings: Settings
) -> None:
    before = contents_of(repository.snapshot())
    orphan = repository.path / "memories.lance" / "data" / "left-by-a-dead-writer.lance"
    shutil.copyfile(next(orphan.parent.glob("*.lance")), orphan)
    result = Maintenance(settings).run(Mode.RECLAIM)
    assert result.status is Status.MAINTAINED
    assert {len(_kept(repository, name)) for name in schema.TABLES} == {1}
    assert not orphan.exists()
    assert contents_of(repository.snapshot()) == before
    assert _sound(repository)


def test_reclaim_waits_for_readers_and_gives_up(
    repository: MemoryRepository, used: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.repository.upkeep.maintenance.LOCK_WAIT", 0.2)
    kept = _kept(repository)
    result = repository.read(lambda snapshot: Maintenance(settings).run(Mode.RECLAIM))
    assert (result.status, result.failed_step) == (Status.FAILED, "lock")
    assert result.error is not None
    assert result.error.code is ErrorCode.STORE_BUSY
    assert _kept(repository) == kept


def test_only_one_run_at_a_time(repository: MemoryRepository, used: list[str], eager: Settings) -> None:
    maintenance = Maintenance(eager)
    with maintenance.alone(), pytest.raises(MemsuiteError) as refused:
        Maintenance(eager).run()
    assert refused.value.code is ErrorCode.STORE_BUSY


def test_a_damaged_index_is_made_anew_and_stops_nothing(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    for file in (repository.path / "memories.lance" / "_indices").rglob("*"):
        if file.is_file():
            file.write_bytes(b"")
    result = Maintenance(eager).run()
    assert result.status is Status.MAINTAINED
    assert result.tables[schema.MEMORIES].versions_removed >= 10
    assert repository.snapshot().lexical("subject_7", limit=3)[0][0] == used[7]


def test_an_index_the_engine_trips_over_is_made_anew_and_pruning_goes_on(
    repository: MemoryRepository, used: list[str], eager: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimize, tripped = Tables.optimize, []

    def trips_once(tables: Tables, name: str, **more: Any) -> Optimized:
        if name == schema.MEMORIES and not tripped:
            tripped.append(name)
            raise MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "db_path", "max offset exceeds length")
        return optimize(tables, name, **more)

    monkeypatch.setattr(Tables, "optimize", trips_once)
    work = Maintenance(eager).run().tables[schema.MEMORIES]
    assert (work.index_rebuilt, work.versions_removed >= 10) == (True, True)
    assert repository.snapshot().lexical("subject_7", limit=3)[0][0] == used[7]


# -- what goes wrong ----------------------------------------------------------------------


def test_a_backup_directory_that_cannot_be_written_stops_the_run(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    eager.backups_dir.parent.mkdir(parents=True)
    eager.backups_dir.write_text("in the way")
    kept = _kept(repository)
    result = Maintenance(eager).run()
    assert (result.status, result.failed_step, result.backup_created) == (Status.FAILED, "space", "")
    assert _kept(repository) == kept


def test_too_little_room_stops_the_run_before_it_begins(
    repository: MemoryRepository, used: list[str], eager: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.repository.backup.SCRATCH", 2**60)
    result = Maintenance(eager).run()
    assert (result.failed_step, result.success) == ("space", False)
    assert result.error is not None
    assert result.error.code is ErrorCode.DISK_FULL


def test_flipped_bytes_in_the_live_table_are_found_by_the_backup(
    repository: MemoryRepository, used: list[str], eager: Settings
) -> None:
    file = max(data_files(repository.path), key=lambda path: path.stat().st_size)
    size = file.stat().st_size
    flip(file, size // 4, size // 2)
    kept = _kept(repository)
    result = Maintenance(eager).run()
    assert (result.status, result.failed_step) == (Status.FAILED, "backup")
    assert _kept(repository) == kept
    assert Backups(DatabaseFiles(eager.db_path), eager.backups_dir).list() == []


def test_two_failures_in_a_row_raise_an_alarm_and_a_success_ends_it(
    repository: MemoryRepository, used: list[str], eager: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintenance = Maintenance(eager)
    with monkeypatch.context() as broken:
        broken.setattr("memories.repository.backup.SCRATCH", 2**60)
        assert [maintenance.run().alarm for _ in range(2)] == [False, True]
        assert maintenance.journal().alarm
    assert maintenance.run().alarm is False
    assert not maintenance.journal().alarm


def test_a_failed_verification_changes_nothing_that_counts(
    repository: MemoryRepository, used: list[str], eager: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "db_path", "not the same")

    head = (repository.path / "HEAD").read_text()
    monkeypatch.setattr("memories.repository.upkeep.maintenance.verify_contents", refuse)
    result = Maintenance(eager).run()
    assert result.failed_step == "verify"
    assert result.backup_created
    assert (repository.path / "HEAD").read_text() == head
    assert _sound(repository)


# -- which versions are old ---------------------------------------------------------------

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _made(*hours_ago: float) -> dict[int, datetime]:
    return {number: NOW - timedelta(hours=age) for number, age in enumerate(hours_ago, start=1)}


@pytest.mark.parametrize(
    ("made", "spared", "oldest"),
    [
        (_made(100, 90, 30, 1), {4}, 3),
        (_made(100, 90, 30), {3}, 3),
        (_made(100, 90, 30, 29), {4, 2}, 2),
        (_made(100, 0.5), {2}, 1),
        (_made(100), {1}, 1),
    ],
    ids=[
        "current an hour ago",
        "long quiet",
        "named by HEAD before",
        "made long ago, current just now",
        "one",
    ],
)
def test_time_counts_from_when_a_version_was_superseded(
    made: dict[int, datetime], spared: set[int], oldest: int
) -> None:
    assert keep_from(made, spared, timedelta(hours=24), NOW) == oldest


@pytest.mark.parametrize(
    ("history", "live", "pressed"),
    [
        (200 * 2**20, 10 * 2**20, True),
        (60 * 2**20, 2**20, False),
        (200 * 2**20, 100 * 2**20, False),
    ],
)
def test_much_history_shortens_the_time(history: int, live: int, pressed: bool) -> None:
    policy = Policy().pressed(history, live)
    assert (policy.retention == timedelta(minutes=10)) is pressed


Reopened = Callable[[], MemoryRepository]


def test_a_vector_index_is_made_where_the_vectors_no_longer_fit_into_memory(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    eager: Settings,
    reopened: Reopened,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repository.add_many([payload(f"Subject_{number}", f"n={number}") for number in range(300)], agent)
    for module in ("snapshot", "upkeep.planning"):
        monkeypatch.setattr(f"memories.repository.{module}.EXACT_BYTES", 1000)
    result = Maintenance(eager).run()
    assert Action.INDEX_VECTORS in result.tables[schema.MEMORIES].actions
    other = reopened()
    assert other.snapshot().index_rows(schema.MEMORIES, schema.VECTOR_INDEX) == (300, 0)
    vector = other.embedder.embed_query("Orchard Subject 7: n=7")
    assert len(other.snapshot().nearest(vector, limit=5)) == 5
