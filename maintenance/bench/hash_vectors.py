"""Vectors that mean nothing and cost next to nothing: for measuring what surrounds the embedding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memories.embedding import EmbeddingIdentity
from memories.embedding.base import EmbedderState, Progress, Readiness

if TYPE_CHECKING:
    from memories.embedding.base import Vectors

DIMENSION = 384
"""That of the default model, so that bytes and products are those of a usual database."""


class HashEmbedder:
    """An embedder whose vector is drawn by the hash of the text: equal texts, equal vectors, and any
    two others nearly at a right angle. No weights, no meaning, about 20 microseconds a text."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._identity = EmbeddingIdentity("bench", "hash-vectors", dimension, "sha256-normal-v1")

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._identity

    def embed_query(self, text: str) -> Vectors:
        return self._vector(text)

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        found = np.empty((len(texts), self._identity.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            found[place] = self._vector(text)
        if progress is not None:
            progress(len(texts))
        return found

    def warm_up(self) -> None:
        """There is nothing to load."""

    def close(self) -> None:
        """There is nothing to give back."""

    def state(self) -> EmbedderState:
        return EmbedderState(Readiness.READY)

    def _vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        drawn = np.random.default_rng(seed).standard_normal(self._identity.dimension, dtype=np.float32)
        vector: Vectors = drawn / np.linalg.norm(drawn)
        return vector
