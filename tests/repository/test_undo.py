"""Undo: an operation taken back where nothing has changed since."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker


def test_undoing_an_add_moves_it_to_the_trash_and_undoing_that_brings_it_back(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    added = repository.add(payload(), agent)
    undone = repository.undo(added.operation_id, agent)
    assert undone.undone == (added.memory_id,)
    assert repository.count() == 0
    again = repository.undo(undone.operation_id, agent)
    assert again.undone == (added.memory_id,)
    assert repository.get(added.memory_id).memory.content == added.canonical_content


def test_undoing_an_update_restores_facts_edges_and_ledger(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    proxy = repository.add(payload("Proxy"), agent).memory_id
    one = repository.add(
        payload("Gateway", "port=7777") | {"relations": [{"type": "uses", "target_id": proxy}]}, agent
    ).memory_id
    two = repository.add(payload("Other", "port=7777"), agent).memory_id
    moved = repository.update(two, payload("Gateway", "port=8888", relations=[]), agent)
    assert [conflict.claim_key for conflict in moved.conflicts] == ["port"]
    updated = repository.update(one, payload("Gateway", "port=8888", "moved", relations=[]), agent)
    assert repository.conflicts(status="open") == []

    result = repository.undo(updated.operation_id, agent)

    assert result.undone == (one,)
    detail = repository.get(one)
    assert detail.memory.facts == ("port=7777",)
    assert [edge.memory_id for edge in detail.edges_out] == [proxy]
    assert [conflict.status for conflict in detail.conflicts] == ["open"]


def test_undoing_a_delete_brings_the_memory_back(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    deleted = repository.delete(stored.memory_id, agent)
    assert repository.undo(deleted.operation_id, agent).undone == (stored.memory_id,)
    assert repository.get(stored.memory_id).memory.content == stored.canonical_content


def test_what_has_changed_since_is_left_alone_and_named(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    results = repository.add_many([payload(name) for name in ("One", "Two", "Three")], agent)
    ids = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    operation = repository.get(ids[0]).memory.operation_id
    repository.update(ids[1], payload("Two", "changed meanwhile"), agent)
    repository.delete(ids[2], agent)
    result = repository.undo(operation, agent)
    assert result.undone == (ids[0],)
    assert set(result.skipped) == {ids[1], ids[2]}
    assert repository.get(ids[1]).memory.facts == ("changed meanwhile",)


def test_undoing_twice_changes_nothing_more(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "port=1"), agent)
    updated = repository.update(stored.memory_id, payload("Gateway", "port=2"), agent)
    repository.undo(updated.operation_id, agent)
    generation = repository.snapshot().generation
    again = repository.undo(updated.operation_id, agent)
    assert (again.undone, again.skipped) == ((), (stored.memory_id,))
    assert repository.snapshot().generation == generation


def test_an_unknown_operation_is_not_found(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload(), agent)
    with pytest.raises(MemsuiteError) as refused:
        repository.undo("nothing", agent)
    assert refused.value.code is ErrorCode.NOT_FOUND
