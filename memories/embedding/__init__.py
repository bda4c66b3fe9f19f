"""Text in, unit vector out: the in-process models, the Ollama client, and the identity of each.

Importing this package loads neither a model nor an inference library; both wait for the first text.
"""

from __future__ import annotations

from memories.embedding.base import Embedder, EmbedderState, Readiness
from memories.embedding.factory import create_embedder
from memories.embedding.identity import EmbeddingIdentity

__all__ = ["Embedder", "EmbedderState", "EmbeddingIdentity", "Readiness", "create_embedder"]
