from __future__ import annotations

import numpy as np
import pytest

from memories.embedding.static import static_embedder

pytest.importorskip("wordllama", reason="the development package wordllama is not installed")


def test_words_of_one_topic_are_nearer_than_others() -> None:
    cat, kitten, tax = static_embedder().embed_documents(
        ["the cat sleeps", "a kitten is sleeping", "tax report due"]
    )
    assert cat @ kitten > cat @ tax


def test_vectors_have_length_one_and_the_declared_dimension() -> None:
    embedder = static_embedder()
    vectors = embedder.embed_documents([f"note {number} about Oslo" for number in range(500)])
    assert vectors.shape == (500, embedder.identity.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
