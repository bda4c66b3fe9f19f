"""How captured turns of conversations are scored for a question (spec 03 "Order", 05 "Ranking of turns").

Pure functions over candidates that the caller has read: no table, no model, no clock. The caller

1. indexes and embeds each turn by ``turn_text`` (so that a date or a speaker can be asked for),
2. collects candidates as for memories (full text over ``search_text``, nearest by ``vector`` and by
   ``context_vector``, 250 each), **adds the turns beside them in the same session** where it has them at
   hand, and makes a ``TurnCandidate`` of each,
3. calls ``score_turns`` and shows those that ``passed``, in order. Scope ``all`` interleaves them with the
   memories by ``score``, memories first on ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.retrieval.question import Question, Term
from memories.text.folding import fold
from memories.text.stems import stem_language
from memories.text.words import words

K1, B = 1.2, 0.75
"""Plain BM25."""

HALF_LIFE_DAYS = 30.0
"""Of the decay of a turn that is not seen again."""

LEAST_STANDING, STANDING_RANGE = 0.85, 0.15
"""A turn's score is multiplied by 0.85 for one just filed, up to 1.0 for one fully trusted and fresh."""


@dataclass(frozen=True, slots=True)
class TurnCandidate:
    """One turn that might answer.

    ``counts``: how often each indexed word and marked stem occurs (``Counter(search_text.split())``).
    ``cosine`` and ``centred``: query against the mean of the turn's two vectors (``mean_vector``), the
    latter by ``Calibration.centred``. ``session`` and ``position``: turns of one session whose positions
    differ by one stand beside each other. ``speaker``: who said it, "" where both sides are in one turn.
    ``trust`` 0.5 to 1, ``last_seen`` in UTC.
    """

    id: str
    counts: Mapping[str, int]
    cosine: float
    centred: float
    session: str
    position: int
    speaker: str
    trust: float
    last_seen: datetime

    @property
    def length(self) -> int:
        """Indexed words, stems not counted."""
        return sum(often for word, often in self.counts.items() if stem_language(word) is None)


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """How a turn's score is made; fitted on LoCoMo conversations 1 to 5 by ``bench retrieval --locomo``.

    ``neighbour``: what the better of the two turns beside a turn adds of its own score; ``speaker``: the
    share by which a turn counts more when the question names who said it; ``average_length`` in indexed
    words.
    """

    lexical: float = 0.7
    vector: float = 0.3
    neighbour: float = 0.5
    speaker: float = 0.2
    average_length: float = 30.0
    threshold: float = 0.2


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    """``relevance`` is the absolute score of 03, ``score`` that times the standing of 05, ``evidence`` what
    the gate compares with its threshold: it depends on the question and the turn alone."""

    id: str
    score: float
    relevance: float
    evidence: float
    passed: bool


WEIGHTS = TurnWeights()


def score_turns(
    question: Question,
    candidates: Sequence[TurnCandidate],
    now: datetime,
    weights: TurnWeights = WEIGHTS,
) -> list[ScoredTurn]:
    """All candidates, passed or not, by score, ties by id. ``now`` is when the question is asked, in UTC."""
    own = [_own_score(question, candidate, weights) for candidate in candidates]
    places = {(one.session, one.position): at for at, one in enumerate(candidates)}
    scored = []
    for at, candidate in enumerate(candidates):
        beside = (places.get((candidate.session, candidate.position + step)) for step in (-1, 1))
        best = max((own[place] for place in beside if place is not None), default=0.0)
        relevance = own[at] + weights.neighbour * best
        evidence = turn_evidence(question, candidate)
        scored.append(
            ScoredTurn(
                id=candidate.id,
                score=relevance * standing(candidate.trust, candidate.last_seen, now),
                relevance=relevance,
                evidence=evidence,
                passed=evidence >= weights.threshold,
            )
        )
    return sorted(scored, key=lambda row: (-row.score, row.id))


def standing(trust: float, last_seen: datetime, now: datetime) -> float:
    """Between 0.85 and 1.0: age and trust order what is about equally relevant and never bury an answer."""
    return LEAST_STANDING + STANDING_RANGE * max(0.0, trust - 0.5) * 2 * decay(last_seen, now)


def decay(last_seen: datetime, now: datetime) -> float:
    """A half for every 30 days since a turn was last seen, 1 for one seen now or in the future."""
    days = max(0.0, (now - last_seen).total_seconds() / 86_400)
    return math.exp(-math.log(2) * days / HALF_LIFE_DAYS)


def turn_evidence(question: Question, candidate: TurnCandidate) -> float:
    """Coverage of the question's informative words times the centred cosine, both of this turn, 0..1."""
    total = sum(term.weight for term in question.terms)
    held = sum(term.weight for term in question.terms if _often(term, candidate.counts))
    return held / total * max(candidate.centred, 0.0) if total else 0.0


def turn_text(text: str, speaker: str, at: datetime) -> str:
    """What of a turn is indexed and embedded: who said it and when, the month in words, then the text."""
    who = f"{speaker}: " if speaker else ""
    return f"{at:%d %B %Y}\n{who}{text}"


def _own_score(question: Question, candidate: TurnCandidate, weights: TurnWeights) -> float:
    score = weights.lexical * _bm25_share(question, candidate, weights.average_length)
    score += weights.vector * candidate.cosine
    return score * (1 + weights.speaker * _is_named(question, candidate.speaker))


def _bm25_share(question: Question, candidate: TurnCandidate, average_length: float) -> float:
    """BM25 with frozen rarities over the most this question could reach, 0..1."""
    best = sum(term.weight for term in question.terms) * (K1 + 1)
    norm = K1 * (1 - B + B * candidate.length / average_length)
    total = 0.0
    for term in question.terms:
        if often := _often(term, candidate.counts):
            total += term.weight * often * (K1 + 1) / (often + norm)
    return total / best if best else 0.0


def _often(term: Term, counts: Mapping[str, int]) -> int:
    return max((counts[variant] for variant in term.variants if variant in counts), default=0)


def _is_named(question: Question, speaker: str) -> bool:
    """Whether the question holds a name of the speaker."""
    return any(leaf in question.spoken for word in words(speaker) for leaf in map(fold, word.leaves))
