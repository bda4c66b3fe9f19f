"""Updates: what is kept, what is refused, and what the history says of them."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.preflight import AddStatus
from tests.repository.conftest import PayloadMaker


def test_an_update_replaces_the_form_and_keeps_what_is_left_out(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    target = repository.add(payload("Proxy"), agent).memory_id
    stored = repository.add(
        payload("Gateway", "port=7777", tags=["net"], quality=0.9)
        | {"relations": [{"type": "uses", "target_id": target}]},
        agent,
    )
    result = repository.update(stored.memory_id, payload("Gateway", "port=7778"), agent)
    assert result.status is AddStatus.UPDATED
    assert result.updated_fields == ("facts",)
    assert result.replaced_content == "Orchard:Gateway port=7777. [Tier=2]"
    detail = repository.get(stored.memory_id)
    assert detail.memory.content == "Orchard:Gateway port=7778. [Tier=2]"
    assert detail.memory.quality == 0.9
    assert "net" in detail.memory.tags
    assert [edge.memory_id for edge in detail.edges_out] == [target]
    assert [(revision.revision, revision.operation) for revision in detail.revisions] == [(1, "update")]


def test_an_identical_update_writes_nothing(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    generation = repository.snapshot().generation
    result = repository.update(stored.memory_id, payload(), agent)
    assert result.status is AddStatus.IDEMPOTENT
    assert repository.snapshot().generation == generation


def test_a_stale_base_revision_is_refused_with_both_numbers(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "port=1"), agent)
    repository.update(stored.memory_id, payload("Gateway", "port=2"), agent)
    with pytest.raises(MemsuiteError) as refused:
        repository.update(stored.memory_id, payload("Gateway", "port=3", base_revision=1), agent)
    assert refused.value.code is ErrorCode.VERSION_CONFLICT
    assert (refused.value.received, refused.value.expected) == (1, 2)


def test_an_update_may_not_become_the_copy_of_another_memory(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    first = repository.add(payload("Gateway", "port=1"), agent)
    second = repository.add(payload("Queue", "port=1"), agent)
    with pytest.raises(MemsuiteError) as refused:
        repository.update(second.memory_id, payload("Gateway", "port=1"), agent)
    assert refused.value.code is ErrorCode.DUPLICATE_MEMORY
    assert refused.value.received == first.memory_id


def test_an_unknown_memory_is_not_found(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    with pytest.raises(MemsuiteError) as refused:
        repository.update("nobody", payload(), agent)
    assert refused.value.code is ErrorCode.MEMORY_NOT_FOUND


def test_a_new_tag_needs_no_embedding(
    repository: MemoryRepository, person: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = repository.add(payload(), person)

    def refuse(*_: object) -> None:
        raise AssertionError("embedded")

    monkeypatch.setattr(repository.embedder, "embed_documents", refuse)
    repository.update(stored.memory_id, {"tags": ["Net work"]}, person, patch=True)
    assert repository.get(stored.memory_id).memory.tags == ("Net work",)


def test_automatic_tags_follow_the_facts_and_given_ones_stay(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "It stores sessions in Redis", tags=["net"]), agent)
    assert {"net", "redis"} <= {tag.lower() for tag in repository.get(stored.memory_id).memory.tags}
    repository.update(stored.memory_id, payload("Gateway", "It stores sessions in PostgreSQL"), agent)
    tags = {tag.lower() for tag in repository.get(stored.memory_id).memory.tags}
    assert {"net", "postgresql"} <= tags
    assert "redis" not in tags


def test_tags_a_person_set_are_left_alone(
    repository: MemoryRepository, agent: Author, person: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "It stores sessions in Redis"), agent)
    repository.update(stored.memory_id, {"tags": ["chosen"]}, person, patch=True)
    repository.update(stored.memory_id, payload("Gateway", "It stores sessions in PostgreSQL"), agent)
    assert repository.get(stored.memory_id).memory.tags == ("chosen",)
