"""A repository to analyse, filled with vectors that the test gives or with the static model's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from memories.repository import Author, MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

AUTHOR = Author("agent", session_id="s")

Add = Callable[..., str]


@pytest.fixture
def repository(fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    yield MemoryRepository.open(load_settings(), fast_embedder)


@pytest.fixture
def add(repository: MemoryRepository) -> Add:
    """Stores one memory and gives its id: ``add("Domain:subject", "fact", …, tier=…)``."""

    def stored(name: str, *facts: str, **more: Any) -> str:
        return repository.add(form(name, *facts, **more), AUTHOR).memory_id

    return stored


def form(name: str, *facts: str, **more: Any) -> dict[str, Any]:
    domain, _, subject = name.partition(":")
    return {
        "domain": domain, "subject": subject, "facts": list(facts), "tier": 2, "category": "tech",
    } | more  # fmt: skip
