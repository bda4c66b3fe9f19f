"""Whose vectors these are: the identity is stored with the first memory and enforced ever after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding import EmbeddingIdentity
from memories.repository import Author, MemoryRepository
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder


@pytest.fixture
def other(repository: MemoryRepository, real_embedder: Embedder) -> Iterator[MemoryRepository]:
    """The same directory, opened with another model configured."""
    yield MemoryRepository(repository.settings, real_embedder)


def test_the_identity_is_stored_in_head_and_in_each_row(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, fast_embedder: Embedder
) -> None:
    stored = repository.add(payload(), agent)
    identity = str(fast_embedder.identity)
    assert repository.snapshot().embedding_id == identity
    assert repository.get(stored.memory_id).memory.embedding_id == identity


def test_another_model_is_refused_and_both_are_named(
    repository: MemoryRepository, other: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("One"), agent)
    for work in (lambda: other.add(payload("Two"), agent), other.require_identity):
        with pytest.raises(MemsuiteError) as refused:
            work()
        assert refused.value.code is ErrorCode.EMBEDDING_MODEL_MISMATCH
        assert refused.value.received == str(other.embedder.identity)
        assert refused.value.expected == str(repository.embedder.identity)
    assert repository.count() == 1


def test_with_another_model_one_can_still_read_tag_delete_and_restore(
    repository: MemoryRepository, other: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent).memory_id
    assert other.get(stored).memory.subject == "Gateway"
    other.update(stored, {"tags": ["kept"]}, agent, patch=True)
    other.delete(stored, agent)
    other.restore(stored, agent)
    assert other.get(stored).memory.embedding_id == str(repository.embedder.identity)


def test_the_dimension_is_the_models(
    settings: Settings, fast_embedder: Embedder, agent: Author, payload: PayloadMaker
) -> None:
    repository = MemoryRepository.open(settings, fast_embedder)
    stored = repository.add(payload(), agent).memory_id
    identity = EmbeddingIdentity.parse(repository.snapshot().embedding_id)
    assert repository.snapshot().vectors_of([stored]).matrix.shape == (1, identity.dimension)
