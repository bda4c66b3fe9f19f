"""What is kept in memory is brought up to date by what changed, and by that alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import numpy as np
import pytest

from memories.repository import Author, BulkChange, Edge, MemoryRepository, Snapshot
from memories.repository.tables import MOST_FRAGMENTS
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


def _edges_anew(repository: MemoryRepository, ids: list[str]) -> list[Edge]:
    """The edges as somebody reads them who keeps nothing yet."""
    shown = repository.snapshot()
    return Snapshot(shown._connection, shown._files, shown.head).edges_of(ids)


def test_edges_follow_every_kind_of_change(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    reopened: Callable[[], MemoryRepository],
) -> None:
    def uses(label: str) -> dict[str, object]:
        return {"relations": [{"type": "uses", "target": label}]}

    one = repository.add(payload("Gateway"), agent).memory_id
    two = repository.add(payload("Gateway") | {"domain": "Harbour"}, agent).memory_id
    client = repository.add(payload("Client") | uses("Gateway"), agent).memory_id
    ids, other = [one, two, client], reopened()
    by_id = {"relations": [{"type": "depends", "target_id": client}]}
    for change in (
        lambda: repository.delete(two, agent),
        lambda: repository.update(one, by_id, agent, patch=True),
        lambda: other.update(client, uses("Nothing known"), agent, patch=True),
        lambda: repository.restore(two, agent),
        lambda: other.delete(client, agent),
        lambda: repository.restore(client, agent),
        lambda: other.apply(BulkChange.of("trash"), ids, agent),
    ):
        change()
        assert repository.snapshot().edges_of(ids) == _edges_anew(repository, ids)


def test_edges_survive_the_merging_of_small_parts(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    ids = [repository.add(payload("Subject_0"), agent).memory_id]
    for number in range(1, MOST_FRAGMENTS + 6):
        declared = {"relations": [{"type": "uses", "target_id": ids[-1]}]}
        ids.append(repository.add(payload(f"Subject_{number}") | declared, agent).memory_id)
        assert len(repository.snapshot().edges_of(ids[-1:])) == 1
    assert repository.snapshot().edges_of(ids) == _edges_anew(repository, ids)


def test_an_older_state_shows_its_own_edges(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one = repository.add(payload("One"), agent).memory_id
    two = repository.add(payload("Two"), agent).memory_id
    older = repository.snapshot()
    declared = {"relations": [{"type": "uses", "target_id": one}]}
    repository.update(two, declared, agent, patch=True)
    assert len(repository.snapshot().edges_of([two])) == 1
    assert older.edges_of([two]) == []


def test_what_this_process_changed_is_known_without_asking(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    ids: list[str],
    reopened: Callable[[], MemoryRepository],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    original = Snapshot._read_changes

    def watched(self: Snapshot, generation: int) -> object:
        asked.append(generation)
        return original(self, generation)

    monkeypatch.setattr(Snapshot, "_read_changes", watched)
    start = repository.snapshot().generation
    new = repository.add(payload("New"), agent).memory_id
    repository.delete(ids[0], agent)
    repository.delete(new, agent)
    changes = repository.snapshot().changes_since(start)
    assert (set(changes.written), set(changes.removed), asked) == (set(), {ids[0], new}, [])
    reopened().delete(ids[1], agent)
    changes = repository.snapshot().changes_since(start)
    assert set(changes.removed) == {ids[0], ids[1], new}
    assert asked == [start]
