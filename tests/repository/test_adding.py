"""What becomes of an add, by the table "Results of an add" of the contract."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.preflight import AddStatus
from tests.repository.conftest import PayloadMaker


def test_a_new_subject_is_created(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> None:
    result = repository.add(payload("Gateway", "port=7777"), agent)
    assert result.status is AddStatus.CREATED
    memory = repository.get(result.memory_id).memory
    assert memory.content == "Orchard:Gateway port=7777. [Tier=2]"
    assert memory.facts == ("port=7777",)
    assert (memory.revision, memory.session_id, memory.user_id) == (1, "session-1", "user-1")


def test_the_exact_repeat_is_idempotent_and_confirms(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    first = repository.add(payload(), agent)
    again = repository.add(payload(), agent)
    assert again.status is AddStatus.IDEMPOTENT
    assert again.memory_id == first.memory_id
    assert repository.count() == 1
    assert repository.usage.of([first.memory_id])[first.memory_id].confirmations == 1


def test_a_repeat_embeds_nothing_and_writes_nothing(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.add(payload(), agent)
    generation = repository.snapshot().generation

    def refuse(*_: object) -> None:
        raise AssertionError("embedded")

    monkeypatch.setattr(repository.embedder, "embed_documents", refuse)
    repository.add(payload(), agent)
    assert repository.snapshot().generation == generation


@pytest.mark.parametrize("mode", ["create", "upsert_subject"])
def test_a_differing_claim_is_refused_in_either_mode(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, mode: str
) -> None:
    stored = repository.add(payload("Gateway", "port=7777"), agent)
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Gateway", "port=8888", write_mode=mode), agent)
    assert refused.value.code is ErrorCode.CONFLICTING_CLAIMS
    assert refused.value.received == [
        {"memory_id": stored.memory_id, "claim_key": "port", "existing": "7777", "received": "8888"}
    ]
    assert repository.count() == 1


def test_create_on_a_known_subject_suggests_the_best_match(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "port=7777"), agent)
    result = repository.add(payload("Gateway", "port=7777", "owner=ada"), agent)
    assert result.status is AddStatus.UPDATE_SUGGESTED
    answer = result.as_answer()
    assert answer["success"] is False
    assert answer["memory_id"] == stored.memory_id
    assert answer["candidates"] == [stored.memory_id]
    assert answer["existing_content"] == "Orchard:Gateway port=7777. [Tier=2]"
    assert repository.count() == 1


def test_upsert_updates_the_one_memory_of_a_subject(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload("Gateway", "port=7777", tags=["net"]), agent)
    result = repository.add(payload("Gateway", "port=7777", "owner=ada", write_mode="upsert_subject"), agent)
    assert result.status is AddStatus.UPDATED
    assert result.memory_id == stored.memory_id
    assert result.replaced_content == "Orchard:Gateway port=7777. [Tier=2]"
    memory = repository.get(stored.memory_id).memory
    assert memory.facts == ("port=7777", "owner=ada")
    assert "net" in memory.tags
    assert memory.revision == 2


def test_upsert_on_several_memories_is_ambiguous(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    ids = [repository.add(payload("Gateway", "port=7777"), agent).memory_id]
    other = repository.add(payload("Elsewhere", "owner=ada"), agent).memory_id
    repository.update(other, {"subject": "Gateway"}, agent, patch=True)
    ids.append(other)
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Gateway", "zone=north", write_mode="upsert_subject"), agent)
    assert refused.value.code is ErrorCode.AMBIGUOUS_SUBJECT
    assert refused.value.received == ids


def test_a_batch_is_one_commit_and_its_items_see_each_other(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("First"), agent)
    generation = repository.snapshot().generation
    results = repository.add_many(
        [
            payload("Gateway", "port=7777"),
            payload("Gateway", "port=7777"),
            payload("Gateway", "port=9999"),
            {"domain": "Orchard"},
            payload("Queue"),
        ],
        agent,
    )
    codes = [
        str(result.code) if isinstance(result, MemsuiteError) else str(result.status) for result in results
    ]
    assert codes == ["created", "idempotent", "conflicting_claims", "required_field", "created"]
    assert repository.snapshot().generation == generation + 1
    assert repository.count() == 3


def test_an_upsert_in_a_batch_updates_what_the_batch_has_just_made(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    first, second = repository.add_many(
        [
            payload("Gateway", "port=7777", relations=[{"type": "uses", "target": "Proxy"}]),
            payload("Gateway", "port=7777", "owner=ada", write_mode="upsert_subject"),
        ],
        agent,
    )
    assert not isinstance(first, MemsuiteError) and not isinstance(second, MemsuiteError)
    assert (first.status, second.status) == (AddStatus.CREATED, AddStatus.UPDATED)
    detail = repository.get(second.memory_id)
    assert detail.memory.facts == ("port=7777", "owner=ada")
    assert [edge.label for edge in detail.edges_out] == ["Proxy"]
    assert repository.count() == 1


def test_a_secret_is_refused_and_nothing_is_stored(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    token = "ghp_" + "x7Qk2mVb9TzR4nLw8YcJ5hGd3FsP6aKe0uDi"
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Gateway", f"the token is {token}"), agent)
    assert refused.value.code is ErrorCode.SECRET_DETECTED
    assert token not in str(refused.value.as_answer())
    assert repository.count() == 0


def test_a_failing_embedder_stores_nothing(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "The model does not answer.")

    monkeypatch.setattr(repository.embedder, "embed_documents", fail)
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload(), agent)
    assert refused.value.retryable
    assert repository.count() == 0
    assert not repository.path.exists()


def test_reading_an_absent_database_creates_nothing(repository: MemoryRepository) -> None:
    assert repository.count() == 0
    assert repository.list_memories().total == 0
    assert repository.conflicts() == []
    assert repository.graph_summary().memories == 0
    assert repository.trash() == (0, [])
    assert not repository.path.exists()
