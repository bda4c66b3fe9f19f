"""A repository on disk with real word vectors, and the forms its tests write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from memories.repository import Author, MemoryRepository
from memories.settings import Settings, load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

Payload = dict[str, Any]
PayloadMaker = Callable[..., Payload]


@pytest.fixture
def settings() -> Settings:
    return load_settings()


@pytest.fixture
def repository(settings: Settings, fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    yield MemoryRepository.open(settings, fast_embedder)


@pytest.fixture
def reopened(settings: Settings, fast_embedder: Embedder) -> Callable[[], MemoryRepository]:
    """Another handle on the same directory, as another process would have it."""
    return lambda: MemoryRepository.open(settings, fast_embedder)


@pytest.fixture
def agent() -> Author:
    return Author("agent", session_id="session-1", user_id="user-1", platform="cli")


@pytest.fixture
def person() -> Author:
    return Author("console:ada", source="console")


@pytest.fixture
def payload() -> PayloadMaker:
    def make(subject: str = "Gateway", *facts: str, **more: Any) -> Payload:
        return {
            "domain": "Orchard",
            "subject": subject,
            "facts": list(facts) or [f"{subject} runs behind the blue proxy"],
            "tier": 2,
            "category": "project",
        } | more

    return make
