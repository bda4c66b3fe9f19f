"""The vectors and the catalogue in memory are brought up to date by what changed, and by that alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import numpy as np
import pytest

from memories.repository import Author, BulkChange, MemoryRepository, Snapshot
from memories.repository.vectors import VectorCache
from tests.repository.conftest import PayloadMaker


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    return [repository.add(payload(f"Subject_{number}"), agent).memory_id for number in range(12)]


def _same_as_reading_anew(repository: MemoryRepository) -> None:
    snapshot = repository.snapshot()
    fresh = snapshot.read_vectors()
    cached = snapshot.vectors_of(fresh.ids)
    assert list(cached.ids) == list(fresh.ids)
    assert np.array_equal(cached.matrix, fresh.matrix)
    query = fresh.matrix[0]
    expected = sorted(zip(fresh.ids, fresh.matrix @ query, strict=True), key=lambda pair: -pair[1])
    nearest = snapshot.nearest(query, limit=100)
    assert {name for name, _ in nearest} == set(fresh.ids)
    assert [round(score, 5) for _, score in nearest] == [round(float(score), 5) for _, score in expected]
    assert set(repository.catalogue().table["id"].to_pylist()) == set(fresh.ids)


def test_they_follow_every_kind_of_change(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, ids: list[str]
) -> None:
    _same_as_reading_anew(repository)
    for change in (
        lambda: repository.add(payload("New"), agent),
        lambda: repository.update(ids[3], {"facts": ["other words"]}, agent, patch=True),
        lambda: repository.delete(ids[0], agent),
        lambda: repository.restore(ids[0], agent),
        lambda: repository.apply(BulkChange.of("add_tags", ["x"]), ids, agent),
        lambda: repository.apply(BulkChange.of("trash"), ids[:9], agent),
    ):
        change()
        _same_as_reading_anew(repository)


def test_only_what_changed_is_read(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    ids: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repository.snapshot().nearest(np.zeros(256, dtype=np.float32), limit=1)
    new = repository.add(payload("New"), agent).memory_id
    asked: list[object] = []
    original = Snapshot.read_vectors

    def watched(self: Snapshot, wanted: object = None) -> object:
        asked.append(wanted)
        return original(self, wanted)  # type: ignore[arg-type]

    monkeypatch.setattr(Snapshot, "read_vectors", watched)
    repository.snapshot().nearest(np.zeros(256, dtype=np.float32), limit=1)
    assert asked == [(new,)]


def test_what_was_given_away_never_changes(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, ids: list[str]
) -> None:
    cache = VectorCache()
    older = cache.at(repository.snapshot())
    before = older.matrix.copy()
    for number in range(20):
        repository.add(payload(f"More_{number}"), agent)
        cache.at(repository.snapshot())
    assert np.array_equal(older.matrix, before)
    assert set(older.position) == set(ids)


def test_another_history_at_the_same_generation_is_read_anew(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    reopened: Callable[[], MemoryRepository],
) -> None:
    repository.add(payload("One"), agent)
    _same_as_reading_anew(repository)
    shutil.rmtree(repository.path)
    reopened().add(payload("Two"), agent)
    assert repository.snapshot().generation == 1
    assert [memory.subject for memory in repository.list_memories().rows] == ["Two"]
