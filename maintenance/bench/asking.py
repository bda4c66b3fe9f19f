"""Asks a repository questions in several ways, through the search that every door uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from maintenance.bench.metrics import DEPTH, Outcome
from maintenance.bench.questions import KnownQuestion
from memories.embedding import EmbeddingIdentity
from memories.embedding.base import EmbedderState
from memories.repository import MemoryRepository
from memories.retrieval import Mode, SearchAnswer, SearchRequest, search

if TYPE_CHECKING:
    from memories.embedding import Embedder
    from memories.embedding.base import Progress, Vectors

AUTO, HOP, HYBRID, LEXICAL = "auto", "hybrid, one hop", "hybrid", "lexical"
VECTOR, UNGATED, RRF, OLDER = "vector", "hybrid, no gate", "RRF, no gate", "RRF, older suite's gate"

SEARCHED: dict[str, dict[str, Any]] = {
    AUTO: {"mode": Mode.AUTO},
    HOP: {"mode": Mode.HYBRID},
    HYBRID: {"mode": Mode.HYBRID, "relation_depth": 0},
    LEXICAL: {"mode": Mode.LEXICAL, "relation_depth": 0},
}
"""Ways that are searches, and what they ask for."""

DERIVED = (VECTOR, UNGATED, RRF, OLDER)
"""Ways read off the candidates of the hybrid search, for comparison."""

RRF_K = 60
"""The usual constant of reciprocal rank fusion."""


class LastQuery:
    """An embedder that keeps the last query's vector: a question asked in four ways is embedded once."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._last: tuple[str, Vectors] | None = None

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._inner.identity

    def embed_query(self, text: str) -> Vectors:
        if self._last is None or self._last[0] != text:
            self._last = (text, self._inner.embed_query(text))
        return self._last[1]

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        return self._inner.embed_documents(texts, progress)

    def warm_up(self) -> None:
        self._inner.warm_up()

    def close(self) -> None:
        self._inner.close()

    def state(self) -> EmbedderState:
        return self._inner.state()


def ask(repository: MemoryRepository, question: KnownQuestion) -> dict[str, Outcome]:
    """The outcome of one question by each way. The first way embeds it, so only that has the time."""
    outcomes: dict[str, Outcome] = {}
    for way, arguments in SEARCHED.items():
        request = SearchRequest(question.text, top_k=DEPTH, diagnostics=way == HYBRID, **arguments)
        answer = search(repository, request)
        outcomes[way] = _searched(question, answer, embedded=way == AUTO)
        if way == HYBRID:
            outcomes |= _derived(question, answer.diagnostics)
    return outcomes


def _searched(question: KnownQuestion, answer: SearchAnswer, *, embedded: bool) -> Outcome:
    contents = [result.shown.memory.content for result in answer.results]
    return _outcome(
        question,
        [result.id for result in answer.results],
        characters=sum(map(len, contents)),
        embedding_ms=answer.embedding_ms if embedded and answer.embedding_ms else None,
        search_ms=answer.search_ms,
    )


def _derived(question: KnownQuestion, shown: Mapping[str, Any]) -> dict[str, Outcome]:
    """What other orders and gates make of the same candidates. Without any (a query that is an id, or has
    no words), they find nothing."""
    judged = {row["id"]: row for row in (*shown.get("passed", ()), *shown.get("losers", ()))}
    by_words = [row["id"] for row in shown.get("lexical_candidates", ())]
    by_meaning = [row["id"] for row in shown.get("vector_candidates", ())]
    fused = fuse(by_words, by_meaning)
    found = {
        VECTOR: [name for name in by_meaning if judged[name]["passed"]],
        UNGATED: sorted(judged, key=lambda name: (-judged[name]["score"], name)),
        RRF: fused,
        OLDER: [name for name in fused if judged[name]["older_gate"]],
    }
    return {way: _outcome(question, ids[:DEPTH]) for way, ids in found.items()}


def fuse(*lists: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion, ties by id."""
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, name in enumerate(ids, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def _outcome(question: KnownQuestion, found: Iterable[str], **measured: Any) -> Outcome:
    return Outcome(
        kind=question.kind,
        group=question.group,
        expected=question.expected,
        avoid=question.avoid,
        near_miss=question.near_miss,
        found=tuple(found),
        **measured,
    )
