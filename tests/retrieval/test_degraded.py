"""What still works when the embedding model does not."""

from __future__ import annotations

from typing import Any

import pytest

from memories.contract import MemsuiteError
from memories.embedding import create_embedder
from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.settings import load_settings
from tests.retrieval.conftest import Add, ids


@pytest.fixture
def stored(add: Add) -> str:
    return add("Orchard:vexel", "The vexel pump runs at dawn")


@pytest.fixture
def broken(repository: MemoryRepository) -> MemoryRepository:
    """The same database with a model that cannot be had."""
    return MemoryRepository.open(
        repository.settings, create_embedder(load_settings(embed_model="builtin:none"))
    )


def _ask(repository: MemoryRepository, query: str, mode: str) -> dict[str, Any]:
    return search(repository, SearchRequest.from_arguments({"query": query, "mode": mode})).as_answer()


@pytest.mark.parametrize("mode", ["auto", "hybrid", "graph"])
def test_what_needs_the_model_abstains_and_says_why(stored: str, broken: MemoryRepository, mode: str) -> None:
    answer = _ask(broken, "vexel pump", mode)
    assert answer["success"] is True
    assert (answer["degraded"], answer["degraded_reason"]) == (True, "embedding_unavailable")
    assert (answer["abstained"], answer["abstention_reason"]) == (True, "embedding_unavailable")
    assert "lexical" in answer["message"]


def test_words_and_ids_need_no_model(stored: str, broken: MemoryRepository) -> None:
    for query, mode in (("vexel pump", "lexical"), (stored, "auto")):
        answer = _ask(broken, query, mode)
        assert (ids(answer), answer["degraded"]) == ([stored], False)


def test_another_models_vectors_are_not_compared(stored: str, repository: MemoryRepository) -> None:
    other = MemoryRepository.open(repository.settings, create_embedder(load_settings()))
    with pytest.raises(MemsuiteError) as caught:
        _ask(other, "vexel pump", "auto")
    assert caught.value.code == "embedding_model_mismatch"
    assert ids(_ask(other, "vexel pump", "lexical")) == [stored]
