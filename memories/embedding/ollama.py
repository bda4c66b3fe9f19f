"""Embeddings from the Ollama server that the user configured."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memories.contract.errors import MemsuiteError
from memories.embedding.base import EmbedderState, Progress, Readiness
from memories.embedding.circuit import Circuit, CircuitBreaker
from memories.embedding.failures import embedding_failed
from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.ollama_connection import Answer, OllamaConnection, OllamaLimits
from memories.embedding.ollama_host import parse_ollama_host
from memories.embedding.ollama_models import ollama_model
from memories.embedding.texts import cut_at_word, embed_in_batches, embeddable

if TYPE_CHECKING:
    from memories.embedding.base import Vectors

_BATCH_SIZE = 16
"""Texts in one request: on two slow cores a batch of long memories stays within its 60 s."""

_SHORTEST_CUT = 64
"""Characters. A server that refuses even this as too long is not refusing it for its length."""


class OllamaEmbedder:
    """An `Embedder` over `POST /api/embed` of one model.

    The dimension is learned from the first good answer and holds for the life of this object: an answer of
    another dimension is a failure. Texts are cut at a word to the model's bound before they are sent. Ollama
    since 0.13.5 refuses an over-long text although asked to truncate it (its issue 14186); such a text is
    halved until it is taken.
    """

    def __init__(
        self,
        model: str,
        host: str,
        *,
        limits: OllamaLimits | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._model = ollama_model(model)
        self._host = parse_ollama_host(host)
        self._limits = limits or OllamaLimits()
        self._breaker = breaker or CircuitBreaker()
        self._connection = OllamaConnection(self._host, self._limits)
        self._learning = threading.Lock()
        self._dimension: int | None = None
        self._failure = ""

    @property
    def identity(self) -> EmbeddingIdentity:
        dimension = self._dimension or self._probe(self._limits.query_s)
        return EmbeddingIdentity("ollama", self._model.name, dimension, self._model.pipeline)

    def embed_query(self, text: str) -> Vectors:
        prefixed = self._model.query_prefix + embeddable(text, self._model.max_chars)
        query: Vectors = self._embed([prefixed], self._limits.query_s)[0]
        return query

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        prefix = self._model.document_prefix
        return embed_in_batches(
            [prefix + embeddable(text, self._model.max_chars) for text in texts],
            _BATCH_SIZE,
            lambda batch: self._embed(batch, self._limits.batch_s),
            lambda: self.identity.dimension,
            progress,
        )

    def warm_up(self) -> None:
        # With a batch's patience, since Ollama may have to read the model from disk first.
        self._probe(self._limits.batch_s)

    def close(self) -> None:
        self._connection.close()

    def state(self) -> EmbedderState:
        where = f"{self._model.name} at {self._host.label}"
        if self._breaker.circuit is not Circuit.CLOSED:
            return EmbedderState(Readiness.OPEN_CIRCUIT, self._failure)
        if self._failure:
            return EmbedderState(Readiness.FAILING, self._failure)
        if self._dimension is None:
            return EmbedderState(Readiness.COLD, f"{where} has not been asked yet")
        return EmbedderState(Readiness.READY, where)

    def _probe(self, within_s: float) -> int:
        dimension: int = self._embed([self._model.query_prefix + "warm up"], within_s).shape[1]
        return dimension

    def _embed(self, texts: list[str], within_s: float) -> Vectors:
        from memories.embedding.vectors import unit_rows

        with self._breaker.attempt():
            try:
                rows = self._rows(texts, _Deadline(within_s))
                vectors = unit_rows(rows, count=len(texts), dimension=self._dimension)
                self._learn(vectors.shape[1])
            except MemsuiteError as error:
                self._failure = error.message
                raise
        self._failure = ""
        return vectors

    def _learn(self, dimension: int) -> None:
        with self._learning:
            if self._dimension is None:
                self._dimension = dimension
            elif self._dimension != dimension:  # two first answers at once, and they disagree
                raise embedding_failed(
                    "the model changed its dimension", received=dimension, expected=self._dimension
                )

    def _rows(self, texts: list[str], deadline: _Deadline) -> object:
        try:
            return self._ask(texts, deadline)
        except _TooLongError:
            return [self._row_of_shortened(text, deadline) for text in texts]

    def _row_of_shortened(self, text: str, deadline: _Deadline) -> object:
        while True:
            try:
                rows = self._ask([text], deadline)
                return rows[0] if len(rows) == 1 else rows
            except _TooLongError as refusal:
                text = cut_at_word(text, len(text) // 2)
                if len(text) < _SHORTEST_CUT:
                    raise embedding_failed(str(refusal)) from None

    def _ask(self, texts: list[str], deadline: _Deadline) -> list[object]:
        payload: dict[str, object] = {"model": self._model.name, "input": texts, "truncate": True}
        answer = self._connection.post("/api/embed", payload, deadline.seconds_left())
        body = _json(answer)
        if answer.status != 200:
            raise self._refusal(answer.status, body)
        rows = body.get("embeddings") if isinstance(body, dict) else None
        if not isinstance(rows, list):
            raise embedding_failed(f"the server at {self._host.label} does not answer as Ollama does")
        return rows

    def _refusal(self, status: int, body: object) -> Exception:
        said = str(body.get("error", ""))[:200] if isinstance(body, dict) else ""
        if "context length" in said:
            return _TooLongError(said)
        if status == 404 and "not found" in said:
            return embedding_failed(
                f"Ollama has no model {self._model.name}; get it with: ollama pull {self._model.name}"
            )
        if status == 404:
            return embedding_failed(f"{self._host.label} has no /api/embed; Ollama 0.3 or newer is needed")
        return embedding_failed(f"Ollama answered {status}" + (f": {said}" if said else ""))


class _TooLongError(Exception):
    """The server would not cut the text itself. Never leaves this module."""


class _Deadline:
    """One limit over the several requests that a single call may need."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def seconds_left(self) -> float:
        return max(0.001, self._ends - time.monotonic())


def _json(answer: Answer) -> object:
    try:
        body: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return body
