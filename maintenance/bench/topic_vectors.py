"""Vectors as a model spreads them: texts of one domain near to each other, a rewording nearer still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maintenance.bench.hash_vectors import DIMENSION, HashEmbedder
from maintenance.bench.made_up import payload
from memories.embedding import EmbeddingIdentity

if TYPE_CHECKING:
    from memories.embedding.base import Vectors

OWN = 0.75
"""How much of a text is its own beside its domain: two texts of one domain have a cosine of about 0.64."""

REWORDED_EVERY = 20


class TopicEmbedder(HashEmbedder):
    """The hash of the domain and, less of it, that of the text. No weights, no meaning."""

    @property
    def identity(self) -> EmbeddingIdentity:
        return EmbeddingIdentity("bench", "topic-vectors", DIMENSION, "sha256-normal-v1")

    def _vector(self, text: str) -> Vectors:
        subject, _, facts = text.partition(": ")
        said = " ".join(sorted(facts.replace("Also said: ", "").split()))
        mixed = super()._vector(" ".join(subject.split()[:2])) + OWN * super()._vector(said)
        vector: Vectors = (mixed / np.linalg.norm(mixed)).astype(np.float32)
        return vector


def memory(number: int) -> dict[str, Any]:
    """A made-up memory; every twentieth rewords the one before it under another subject."""
    if number % REWORDED_EVERY != REWORDED_EVERY - 1:
        return payload(number)
    other = payload(number - 1)
    facts = [f"Also said: {fact}" if "=" not in fact else fact for fact in other["facts"]]
    return payload(number) | {
        "domain": other["domain"],
        "subject": f"{other['subject']}_again",
        "facts": facts,
    }
