"""One search taken apart: what each list proposed, what the gate made of every candidate, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memories.console.gate_words import Part, parts_of, why_dropped, why_passed
from memories.repository import MemoryRepository, StoredMemory
from memories.retrieval import SearchRequest, search
from memories.retrieval.answer import Result, SearchAnswer
from memories.retrieval.neighbours import Neighbour
from memories.text.query import QueryWords, analyse

LISTED = 20
"""Candidates shown of each list; the fused order shows ``FUSED`` of them or all."""

FUSED = 30


class Outcome(StrEnum):
    """What became of a candidate."""

    RETURNED = "returned"
    HELD_BACK = "held back"
    """Enough evidence, and kept out by a later rule."""
    DROPPED = "dropped"

    @property
    def kind(self) -> str:
        return {Outcome.RETURNED: "ok", Outcome.HELD_BACK: "warn", Outcome.DROPPED: ""}[self]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate of the fused order. ``evidence`` and ``score`` are absolute: they do not depend on
    what else is stored. ``older_gate`` tells what the older suite's gate would have said."""

    place: int
    id: str
    memory: StoredMemory | None
    score: float
    evidence: float
    share: float
    cosine: float
    passed: bool
    outcome: Outcome
    why: str
    parts: tuple[Part, ...]
    older_gate: bool

    @property
    def percent(self) -> str:
        return f"{100 * self.evidence:.1f}"


@dataclass(frozen=True, slots=True)
class Proposed:
    """One row of a list: its value, 0..1."""

    place: int
    id: str
    memory: StoredMemory | None
    value: float

    @property
    def percent(self) -> str:
        return f"{100 * max(self.value, 0.0):.1f}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A search and everything it looked at. Counts are of the whole pool, rows what is shown of it."""

    request: SearchRequest
    answer: SearchAnswer
    words: QueryWords
    fused: tuple[Candidate, ...]
    by_words: tuple[Proposed, ...]
    by_meaning: tuple[Proposed, ...]
    from_words: int
    from_meaning: int
    distinct: int
    passed: int

    @property
    def held_back(self) -> int:
        return self.passed - sum(result.match_type in _RANKED for result in self.answer.results)

    @property
    def beside(self) -> tuple[Result, ...]:
        """Rows of the answer that were not ranked: an id's memory, and what a relation leads to."""
        return tuple(result for result in self.answer.results if result.match_type not in _RANKED)

    @property
    def threshold(self) -> float:
        return float(self.answer.diagnostics.get("threshold", 0.0))

    @property
    def gate_percent(self) -> str:
        return f"{100 * self.threshold:.1f}"

    @property
    def took(self) -> float:
        """Milliseconds of embedding and search together."""
        return self.answer.embedding_ms + self.answer.search_ms

    @property
    def best_loser(self) -> float | None:
        losers = self.answer.diagnostics.get("losers", ())
        return max((row["evidence"] for row in losers), default=None)

    @property
    def route_reason(self) -> str:
        return _route_reason(self.request, self.answer, self.words)


_RANKED = frozenset({"hybrid", "lexical", "vector"})


def trial(repository: MemoryRepository, request: SearchRequest, *, whole: bool = False) -> Trial:
    """Make the search and take it apart; ``whole`` shows every candidate of the fused order.

    ``request`` must ask for diagnostics. Raises MemsuiteError: what a search may raise.
    """
    answer = search(repository, request)
    told = answer.diagnostics
    verdicts = _in_order(told)
    shown = verdicts if whole else _first(verdicts)
    listed = {
        "bm25": list(told.get("lexical_candidates", ()))[:LISTED],
        "cosine": list(told.get("vector_candidates", ()))[:LISTED],
    }
    ids = {row["id"] for rows in (shown, *listed.values()) for row in rows}
    known = repository.read(lambda snapshot: snapshot.memories(ids)) if ids else {}
    shares = {row["id"]: row["bm25_share"] for row in verdicts}
    return Trial(
        request=request,
        answer=answer,
        words=analyse(request.query),
        fused=tuple(_candidates(shown, answer, known)),
        by_words=tuple(_proposed(listed["bm25"], shares, known)),
        by_meaning=tuple(_proposed(listed["cosine"], None, known)),
        from_words=len(told.get("lexical_candidates", ())),
        from_meaning=len(told.get("vector_candidates", ())),
        distinct=len(verdicts),
        passed=len(told.get("passed", ())),
    )


def _in_order(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The verdicts in the fused order, each with its place."""
    rows = [*told.get("passed", ()), *told.get("losers", ())]
    ordered = sorted(rows, key=lambda row: (-row["score"], row["id"]))
    return [{"place": place, **row} for place, row in enumerate(ordered, 1)]


def _first(verdicts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The head of the order, and whatever passed further down."""
    return [row for row in verdicts if row["place"] <= FUSED or row["passed"]]


def _candidates(
    rows: Iterable[dict[str, Any]], answer: SearchAnswer, known: Mapping[str, StoredMemory]
) -> Iterator[Candidate]:
    told = answer.diagnostics
    if not told:
        return  # no gate was asked: an id, no words, no model
    weights = told["weights"]["gate"]
    results = {result.id: result for result in answer.results}
    suppressed = {row["id"] for row in told["suppressed"]}
    for row in rows:
        outcome, why = _fate(row, results.get(row["id"]), row["id"] in suppressed, weights)
        yield Candidate(
            place=row["place"],
            id=row["id"],
            memory=known.get(row["id"]),
            score=row["score"],
            evidence=row["evidence"],
            share=row["bm25_share"],
            cosine=row["cosine"],
            passed=row["passed"],
            outcome=outcome,
            why=why,
            parts=parts_of(row, weights),
            older_gate=row["older_gate"],
        )


def _fate(
    row: Mapping[str, Any],
    result: Result | None,
    is_suppressed: bool,
    weights: Mapping[str, float],
) -> tuple[Outcome, str]:
    if result is not None and isinstance(result.shown, Neighbour):
        return Outcome.RETURNED, f"by its relation {result.shown.relation_type}"
    if result is not None:
        replaced = "; superseded, so it stands after what replaced it" if result.superseded_by else ""
        return Outcome.RETURNED, why_passed(row, weights) + replaced
    if is_suppressed:
        return Outcome.HELD_BACK, "two of its subject are in the answer already"
    if row["passed"]:
        return Outcome.HELD_BACK, "the answer was full before its turn"
    return Outcome.DROPPED, why_dropped(row, weights)


def _proposed(
    rows: Iterable[Mapping[str, Any]],
    shares: Mapping[str, float] | None,
    known: Mapping[str, StoredMemory],
) -> Iterator[Proposed]:
    """A list in its own order: words by their share of the best there could be, cosines as they are."""
    for place, row in enumerate(rows, 1):
        value = row["cosine"] if shares is None else shares.get(row["id"], 0.0)
        yield Proposed(place, row["id"], known.get(row["id"]), value)


def _route_reason(request: SearchRequest, answer: SearchAnswer, words: QueryWords) -> str:
    if answer.route == "exact_id":
        return "the query is an id"
    if request.mode != "auto":
        return "as chosen"
    if words.asks_literally:
        return "a word asks for the text itself"
    exact = (words.phrases, words.paths, words.assignments, words.identifiers)
    if any(exact):
        return "it holds a phrase, path, claim or identifier"
    return "a word asks for relations" if words.asks_relations else "no literal, no relation word"
