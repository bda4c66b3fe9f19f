"""A re-embedding in a process of its own, for tests that kill it.

``python -m tests.support.reembed_process MODEL``: ``real`` is the product's default model; ``slow`` has
vectors of the static one under another name, and takes its time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.static import static_embedder
from memories.repository import Author, MemoryRepository
from memories.settings import load_settings

SECONDS_A_TEXT = 0.004


class SlowEmbedder:
    """Everything but the name and the pace is the static model's."""

    def __init__(self) -> None:
        self._inner = static_embedder()

    @property
    def identity(self) -> EmbeddingIdentity:
        return replace(self._inner.identity, pipeline="slow")

    def embed_documents(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Any:
        time.sleep(SECONDS_A_TEXT * len(texts))
        return self._inner.embed_documents(texts, progress)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def embedder_of(model: str) -> Any:
    if model == "slow":
        return SlowEmbedder()
    from memories.embedding.minilm import minilm_embedder

    return minilm_embedder()


def main(model: str) -> None:
    repository = MemoryRepository.open(load_settings(), embedder_of(model))
    result = repository.reembedding().run(Author("command", source="command"), lambda done, total: None)
    print(result.resumed)


if __name__ == "__main__":
    main(sys.argv[1])
