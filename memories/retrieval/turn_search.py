"""Searching captured turns: one person's own, the gate first, and beside memories where that is asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository, Snapshot
from memories.repository.turn_reading import TurnFilter, lexical_turns, session_orders, turns_by_id
from memories.repository.turn_records import Turn
from memories.repository.vectors import Vector
from memories.retrieval.calibration import Calibration, calibration_for, words_only
from memories.retrieval.question import Question
from memories.retrieval.request import Mode, SearchRequest
from memories.retrieval.turn_composite import composite_score
from memories.retrieval.turns import ScoredTurn, TurnCandidate, score_turns, turn_evidence
from memories.settings import COMPOSITE

POOL = 100
"""Turns proposed by each of the three lists: by words, by meaning, by meaning with the turn before. A turn
is long, so preparing 250 of each would take longer than a prompt may wait."""

NEIGHBOURED = 30
"""The first of each list whose neighbours in their sessions are looked at too: a turn far down is not
raised to the top by what stands beside it."""

_BESIDE = (-2, -1, 1, 2)


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that passed the gate. ``match_type`` says which lists proposed it: ``hybrid``, ``lexical``,
    ``vector``, or ``neighbour`` where only a turn beside it was proposed."""

    turn: Turn
    score: float
    evidence: float
    match_type: str


@dataclass(frozen=True, slots=True)
class TurnsFound:
    """What a search of turns found, best first; ``recorded`` tells whether the person has any at all.
    ``problem`` says why there was no search by meaning. Times are in milliseconds."""

    turns: tuple[FoundTurn, ...] = ()
    recorded: bool = True
    asked_nothing: bool = False
    problem: str = ""
    embedding_ms: float = 0.0
    search_ms: float = 0.0


def search_turns(
    repository: MemoryRepository, request: SearchRequest, user_id: str, *, now: datetime | None = None
) -> TurnsFound:
    """The turns of ``user_id`` that answer ``request``, at most ``top_k``; never anybody else's.

    A category, tier or tag holds for memories alone, so no turn meets one. Raises MemsuiteError as
    ``search`` does.
    """
    started = time.perf_counter()
    question = Question.of(request.query)
    if request.filter is not None:
        return TurnsFound()
    if not repository.turns.count(TurnFilter(user_id=user_id)):
        return TurnsFound(recorded=False)
    exact = _by_id(repository, request.query.strip(), user_id)
    if exact is not None:
        return TurnsFound((exact,))
    if question.words.is_empty:
        return TurnsFound(asked_nothing=True)
    vector, problem = (None, "") if request.mode is Mode.LEXICAL else _embedded(repository, request.query)
    embedded = time.perf_counter()
    moment = now or datetime.now(UTC)
    composite = repository.settings.turn_ranking == COMPOSITE
    inquiry = _Inquiry(repository, question, vector, user_id, moment, composite)
    found = repository.read(lambda snapshot: inquiry.answer(snapshot, request.top_k))
    return TurnsFound(
        found,
        problem=problem,
        embedding_ms=(embedded - started) * 1000,
        search_ms=(time.perf_counter() - embedded) * 1000,
    )


def _by_id(repository: MemoryRepository, name: str, user_id: str) -> FoundTurn | None:
    if len(name.split()) != 1:
        return None
    turn = repository.turns.of([name]).get(name)
    if turn is None or turn.user_id != user_id or turn.trashed_at is not None:
        return None
    return FoundTurn(turn, 1.0, 1.0, "exact_id")


def _embedded(repository: MemoryRepository, query: str) -> tuple[Vector | None, str]:
    """The query's vector, or why there is none: then words search alone."""
    repository.require_identity()
    try:
        return repository.embedder.embed_query(query), ""
    except MemsuiteError as error:
        if error.code is not ErrorCode.EMBEDDING_FAILED:
            raise
        return None, error.message


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """One question to one person's turns."""

    repository: MemoryRepository
    question: Question
    vector: Vector | None
    user_id: str
    now: datetime
    composite: bool

    def answer(self, snapshot: Snapshot, top_k: int) -> tuple[FoundTurn, ...]:
        lists = self._lists(snapshot)
        proposed = _match_types(*lists)
        candidates = self._candidates(snapshot, list(proposed), _first_of(lists))
        scored = [row for row in score_turns(self.question, candidates, self.now) if row.passed]
        if self.composite:
            scored = self._reordered(scored, candidates)
        turns = turns_by_id(snapshot, [row.id for row in scored[:top_k]])
        return tuple(
            FoundTurn(turns[row.id], row.score, row.evidence, proposed.get(row.id, "neighbour"))
            for row in scored[:top_k]
        )

    def _lists(self, snapshot: Snapshot) -> tuple[list[str], list[str], list[str]]:
        """Ids by words, by meaning, and by meaning with the turn before; the best first."""
        words = self.question.words.lexical_query
        by_words = lexical_turns(snapshot, words, TurnFilter(user_id=self.user_id), POOL)
        by_meaning, in_context = (self._nearest(snapshot, name) for name in ("vector", "context_vector"))
        return [name for name, _ in by_words], by_meaning, in_context

    def _nearest(self, snapshot: Snapshot, column: str) -> list[str]:
        if self.vector is None:
            return []
        vectors = self.repository.turns.vectors
        found = vectors.nearest(snapshot, self.vector, user_id=self.user_id, limit=POOL, column=column)
        return [name for name, _ in found]

    def _candidates(
        self, snapshot: Snapshot, proposed: Sequence[str], first: Collection[str]
    ) -> list[TurnCandidate]:
        """The proposed turns, and those beside the first of them in their sessions."""
        turns = turns_by_id(snapshot, proposed)
        sessions = {turns[name].session_id for name in turns}
        orders = session_orders(snapshot, sessions, self.user_id)
        by_place = {place: name for name, place in orders.items()}
        places = [orders[name] for name in first if name in orders]
        beside = {by_place.get((session, at + step)) for session, at in places for step in _BESIDE}
        turns |= turns_by_id(snapshot, [name for name in beside if name is not None and name not in turns])
        cosines = self._cosines(snapshot, list(turns))
        made = [
            _candidate(turn, cosines.get(name, (0.0, 0.0)), orders.get(name, (name, 0)))
            for name, turn in turns.items()
        ]
        return made if self._calibration(snapshot).centre is not None else self._by_words_alone(made)

    def _calibration(self, snapshot: Snapshot) -> Calibration:
        return words_only() if self.vector is None else calibration_for(snapshot.embedding_id)

    def _cosines(self, snapshot: Snapshot, ids: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Plain and centred cosine of the query with the mean of both vectors of each turn."""
        if self.vector is None:
            return {}
        plain, context = self.repository.turns.vectors.of(snapshot, ids)
        if not plain.ids:
            return {}
        both = plain.matrix + context
        both = both / np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-12)
        centred = self._calibration(snapshot).centred(self.vector, both)
        pairs = zip((both @ self.vector).tolist(), centred.tolist(), strict=True)
        return dict(zip(plain.ids, pairs, strict=True))

    def _by_words_alone(self, candidates: Sequence[TurnCandidate]) -> list[TurnCandidate]:
        """Where no vector counts, the share of the question's words that a turn holds stands in for how
        near its meaning is: the gate then asks for most of them."""
        held = [turn_evidence(self.question, replace(one, centred=1.0)) for one in candidates]
        return [replace(one, centred=share) for one, share in zip(candidates, held, strict=True)]

    def _reordered(
        self, scored: Sequence[ScoredTurn], candidates: Sequence[TurnCandidate]
    ) -> list[ScoredTurn]:
        by_id = {candidate.id: candidate for candidate in candidates}
        rows = [replace(row, score=composite_score(self.question, by_id[row.id], self.now)) for row in scored]
        return sorted(rows, key=lambda row: (-row.score, row.id))


def _match_types(by_words: Sequence[str], *by_meaning: Sequence[str]) -> dict[str, str]:
    """The ids of all lists, with which of them proposed each."""
    words, meaning = set(by_words), {name for names in by_meaning for name in names}
    return {
        name: "lexical" if name not in meaning else "hybrid" if name in words else "vector"
        for names in (by_words, *by_meaning)
        for name in names
    }


def _first_of(lists: Sequence[Sequence[str]]) -> set[str]:
    return {name for names in lists for name in names[:NEIGHBOURED]}


def _candidate(turn: Turn, cosines: tuple[float, float], place: tuple[str, int]) -> TurnCandidate:
    return TurnCandidate(
        id=turn.id,
        counts=Counter(turn.search_text.split()),
        cosine=cosines[0],
        centred=cosines[1],
        session=place[0],
        position=place[1],
        speaker="",
        trust=turn.trust,
        last_seen=turn.last_seen_at,
    )


_Row = dict[str, Any]


def interleaved(memories: Sequence[_Row], turns: Sequence[_Row], top_k: int) -> list[_Row]:
    """Rows of both by score, at most ``top_k``. Memories keep their own order and go first on ties; one
    without a score, a related memory, stays behind the one that led to it."""
    merged: list[_Row] = []
    waiting = list(turns)
    for row in memories:
        while waiting and "score" in row and waiting[0]["score"] > row["score"]:
            merged.append(waiting.pop(0))
        merged.append(row)
    return [*merged, *waiting][:top_k]
