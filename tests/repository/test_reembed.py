"""Re-embedding: staged beside, resumed after a kill, switched in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository import reembed as module
from memories.repository.records import content_hash
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

AUTHOR = Author("command", source="command")


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    results = repository.add_many([payload(f"Subject_{number}") for number in range(10)], agent)
    return [result.memory_id for result in results if not isinstance(result, MemsuiteError)]


@pytest.fixture
def other(repository: MemoryRepository, ids: list[str], real_embedder: Embedder) -> MemoryRepository:
    """The same directory with another model, of another dimension."""
    return MemoryRepository(repository.settings, real_embedder)


def _silent(done: int, total: int) -> None:
    pass


def _run(repository: MemoryRepository) -> Any:
    return repository.reembedding().run(AUTHOR, _silent)


def test_every_memory_gets_a_vector_of_the_new_model(other: MemoryRepository, ids: list[str]) -> None:
    result = _run(other)
    assert (result.memories, result.to_identity) == (10, str(other.embedder.identity))
    snapshot = other.snapshot()
    assert snapshot.embedding_id == result.to_identity
    rows = snapshot.full_rows(ids)
    assert all(len(row["vector"]) == other.embedder.identity.dimension for row in rows.values())
    assert all(np.isclose(np.linalg.norm(row["vector"]), 1.0) for row in rows.values())
    assert all(row["content_hash"] == content_hash(row) for row in rows.values())
    assert len(snapshot.lexical("subject", limit=20)) == 10
    assert other.add(
        {"domain": "Orchard", "subject": "New", "facts": ["a"], "tier": 2, "category": "fact"}, AUTHOR
    )


def test_a_plan_writes_nothing(other: MemoryRepository) -> None:
    before = (other.path / "HEAD").read_text()
    assert other.reembedding().plan().as_answer()["memories"] == 10
    assert (other.path / "HEAD").read_text() == before
    assert not (other.path / ".memsuite" / "reembed").exists()


def test_the_old_vectors_answer_until_the_switch(
    repository: MemoryRepository, other: MemoryRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    original = other.embedder.embed_documents

    def embed(texts: Sequence[str], progress: object = None) -> object:
        seen.append(len(repository.snapshot().nearest(repository.embedder.embed_query("subject"), limit=20)))
        return original(texts)

    monkeypatch.setattr(other.embedder, "embed_documents", embed)
    _run(other)
    assert seen == [10]


def test_a_stopped_run_is_resumed_where_it_stopped(
    other: MemoryRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART_ROWS", 4)
    original, calls = other.embedder.embed_documents, [0]

    def fail_third(texts: Sequence[str], progress: object = None) -> object:
        calls[0] += 1
        if calls[0] == 3:
            raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "The model does not answer.")
        return original(texts)

    with monkeypatch.context() as broken:
        broken.setattr(other.embedder, "embed_documents", fail_third)
        with pytest.raises(MemsuiteError):
            _run(other)
    assert other.snapshot().embedding_id != str(other.embedder.identity)
    assert other.reembedding().plan().staged == 8
    assert _run(other).resumed == 8
    assert not any((other.path / ".memsuite" / "reembed").iterdir())


def test_what_is_written_while_it_runs_is_embedded_too(
    repository: MemoryRepository,
    other: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, added = other.embedder.embed_documents, [False]

    def embed(texts: Sequence[str], progress: object = None) -> object:
        if not added[0]:
            added[0] = True
            repository.add(payload("Meanwhile"), agent)
        return original(texts)

    monkeypatch.setattr(other.embedder, "embed_documents", embed)
    _run(other)
    identities = {memory.embedding_id for memory in other.list_memories(limit=50).rows}
    assert identities == {str(other.embedder.identity)}
    assert other.count() == 11


def test_revisions_operations_and_undo_survive_it(
    repository: MemoryRepository,
    other: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    ids: list[str],
) -> None:
    updated = repository.update(ids[0], payload("Subject_0", "changed"), agent)
    repository.delete(ids[1], agent)
    _run(other)
    assert other.get(ids[0]).memory.revision == 2
    assert other.undo(updated.operation_id, agent).undone == (ids[0],)
    other.restore(ids[1], agent)
    rows = other.snapshot().full_rows(ids[:2])
    assert {row["embedding_id"] for row in rows.values()} == {str(other.embedder.identity)}
    assert {len(row["vector"]) for row in rows.values()} == {other.embedder.identity.dimension}
    assert other.get(ids[0]).memory.facts == ("Subject_0 runs behind the blue proxy",)


def test_there_is_nothing_to_do_with_the_same_model(repository: MemoryRepository, ids: list[str]) -> None:
    before = (repository.path / "HEAD").read_text()
    assert _run(repository).as_answer()["status"] == "not_needed"
    assert (repository.path / "HEAD").read_text() == before
