"""Embedders that run inside this process: loaded once, on first use, shared by all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memories.contract.errors import MemsuiteError
from memories.embedding.base import EmbedderState, Progress, Readiness
from memories.embedding.failures import embedding_failed
from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.texts import embed_in_batches, embeddable

if TYPE_CHECKING:
    from memories.embedding.base import Vectors


class Encoder(Protocol):
    """A loaded model, safe to call from several threads at once."""

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """One raw row per text; the caller checks and normalises."""
        ...


@dataclass(frozen=True, slots=True)
class LocalModel:
    """All that tells one in-process model from another."""

    identity: EmbeddingIdentity
    load: Callable[[], Encoder]
    max_chars: int
    """Bound on the work for one text; the model's own token limit cuts earlier in ordinary prose."""
    batch_size: int


class LocalEmbedder:
    """An `Embedder` over one `LocalModel`."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._loading = threading.Lock()
        self._encoder: Encoder | None = None
        self._failure = ""

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._model.identity

    def embed_query(self, text: str) -> Vectors:
        query: Vectors = self._encode([embeddable(text, self._model.max_chars)], is_query=True)[0]
        return query

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        return embed_in_batches(
            [embeddable(text, self._model.max_chars) for text in texts],
            self._model.batch_size,
            lambda batch: self._encode(batch, is_query=False),
            lambda: self.identity.dimension,
            progress,
        )

    def warm_up(self) -> None:
        # The first run allocates what the later ones reuse, so loading alone would not be warm.
        self.embed_query("warm up")

    def close(self) -> None:
        with self._loading:
            self._encoder = None

    def state(self) -> EmbedderState:
        if self._failure:
            return EmbedderState(Readiness.FAILING, self._failure)
        if self._encoder is None:
            return EmbedderState(Readiness.COLD, f"{self.identity.model} is loaded on first use")
        return EmbedderState(Readiness.READY, f"{self.identity.model} runs in this process")

    def _encode(self, texts: list[str], *, is_query: bool) -> Vectors:
        from memories.embedding.vectors import unit_rows

        with self._failures_noted():
            rows = self._loaded().encode(texts, is_query=is_query)
            return unit_rows(rows, count=len(texts), dimension=self.identity.dimension)

    def _loaded(self) -> Encoder:
        encoder = self._encoder
        if encoder is not None:
            return encoder
        with self._loading:
            if self._encoder is None:
                self._encoder = self._model.load()
            return self._encoder

    @contextmanager
    def _failures_noted(self) -> Iterator[None]:
        """Inference libraries raise what they like; here it becomes our error. The next call tries afresh."""
        try:
            yield
        except MemsuiteError as error:
            self._failure = str(error)
            raise
        except Exception as error:
            self._failure = f"{self.identity.model} failed: {type(error).__name__}"
            raise embedding_failed(self._failure) from error
        self._failure = ""
