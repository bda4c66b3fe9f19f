"""A repository to search in, and short ways to fill and ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.settings import load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

Add = Callable[..., str]
Ask = Callable[..., dict[str, Any]]
AUTHOR = Author("agent", session_id="s", user_id="u", platform="cli")


@pytest.fixture
def repository(fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    yield MemoryRepository.open(load_settings(), fast_embedder)


@pytest.fixture
def add(repository: MemoryRepository) -> Add:
    """Stores one memory and gives its id: ``add("Domain:subject", "fact", …, tier=…)``."""

    def stored(name: str, *facts: str, **more: Any) -> str:
        domain, _, subject = name.partition(":")
        payload = {"domain": domain, "subject": subject, "facts": list(facts), "tier": 2, "category": "tech"}
        return repository.add(payload | more, AUTHOR).memory_id

    return stored


@pytest.fixture
def ask(repository: MemoryRepository) -> Ask:
    return lambda query, **more: search(
        repository, SearchRequest.from_arguments({"query": query} | more)
    ).as_answer()


def ids(answer: dict[str, Any]) -> list[str]:
    return [row["id"] for row in answer["results"]]


def ranked(answer: dict[str, Any]) -> list[str]:
    """The ids without those that are there for a declared relation."""
    return [row["id"] for row in answer["results"] if row["match_type"] != "declared_relation"]


def stored_ids(results: list[Any]) -> list[str]:
    """Ids of a bulk add, all of which must have succeeded."""
    for result in results:
        if isinstance(result, MemsuiteError):
            raise result
    return [result.memory_id for result in results]
