"""The trash: what a deletion takes along and what restoring brings back."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker


def test_a_deleted_memory_is_gone_and_in_the_trash(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    result = repository.delete(stored.memory_id, agent)
    assert result.as_answer()["restorable"] is True
    assert repository.count() == 0
    total, trash = repository.trash()
    assert (total, trash[0].memory_id, trash[0].actor) == (1, stored.memory_id, "agent")


def test_restoring_brings_back_the_memory_its_vector_and_its_edges_both_ways(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = repository.add(payload("Proxy"), agent).memory_id
    gateway = repository.add(
        payload("Gateway") | {"relations": [{"type": "uses", "target_id": proxy}]}, agent
    ).memory_id
    client = repository.add(
        payload("Client") | {"relations": [{"type": "depends", "target_id": gateway}]}, agent
    ).memory_id
    before = repository.snapshot().full_rows([gateway])[gateway]

    assert repository.delete(gateway, agent).edges_removed == 2
    assert repository.get(client).edges_out == ()

    def refuse(*_: object) -> None:
        raise AssertionError("embedded")

    monkeypatch.setattr(repository.embedder, "embed_documents", refuse)
    result = repository.restore(gateway, agent)
    after = repository.snapshot().full_rows([gateway])[gateway]
    assert result.revision == 2
    assert (after.pop("vector") == before.pop("vector")).all()
    assert {name for name in before if before[name] != after[name]} == {
        "content_hash",
        "generation",
        "operation_id",
        "revision",
        "updated_at",
    }
    detail = repository.get(gateway)
    assert [edge.memory_id for edge in detail.edges_out] == [proxy]
    assert [edge.memory_id for edge in detail.edges_in] == [client]
    assert repository.trash()[0] == 0


def test_an_edge_declared_by_label_waits_for_a_successor(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    client = repository.add(
        payload("Client") | {"relations": [{"type": "depends", "target": "Orchard:Gateway"}]}, agent
    ).memory_id
    first = repository.add(payload("Gateway"), agent).memory_id
    assert repository.get(client).edges_out[0].memory_id == first
    repository.delete(first, agent)
    assert repository.get(client).edges_out[0].memory_id == ""
    second = repository.add(payload("Gateway", "a new one"), agent).memory_id
    assert repository.get(client).edges_out[0].memory_id == second


def test_what_is_not_in_the_trash_cannot_be_restored(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    for name in (stored.memory_id, "nobody"):
        with pytest.raises(MemsuiteError) as refused:
            repository.restore(name, agent)
        assert refused.value.code is ErrorCode.MEMORY_NOT_FOUND


def test_an_earlier_revision_can_be_restored(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "port=1"), agent)
    repository.update(stored.memory_id, payload("Gateway", "port=2"), agent)
    repository.update(stored.memory_id, payload("Gateway", "port=3"), agent)
    result = repository.restore(stored.memory_id, agent, revision=1)
    assert result.canonical_content == "Orchard:Gateway port=1. [Tier=2]"
    assert result.revision == 4


def test_deleting_twice_says_not_found(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    repository.delete(stored.memory_id, agent)
    with pytest.raises(MemsuiteError) as refused:
        repository.delete(stored.memory_id, agent)
    assert refused.value.code is ErrorCode.MEMORY_NOT_FOUND


def test_deleting_needs_no_embedder(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = repository.add(payload(), agent)

    def fail(*_: object) -> None:
        raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "The model does not answer.")

    monkeypatch.setattr(type(repository.embedder), "identity", property(fail))
    repository.delete(stored.memory_id, agent)
    repository.restore(stored.memory_id, agent)
    assert repository.count() == 1
