"""How captured turns of conversations are scored for a question (spec 03 "Order", 05 "Ranking of turns").

Pure functions over candidates that the caller has read: no table, no model, no clock. The caller

1. collects candidates as for memories (full text over ``search_text``, nearest by ``vector`` and by
   ``context_vector``, 250 each), **adds the turns beside them in the same session**, up to two places away,
   where it has them at hand, and makes a ``TurnCandidate`` of each,
2. calls ``score_turns`` and shows those that ``passed``, in order. Scope ``all`` interleaves them with the
   memories by ``score``, memories first on ties.

The numbers were fitted on LoCoMo conversations 1 to 5 (``bench retrieval --locomo``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.retrieval.question import Question, Term
from memories.text.folding import fold
from memories.text.stems import is_stem
from memories.text.words import words

HALF_LIFE_DAYS = 30.0
"""Of the decay of a turn that is not seen again."""

LEAST_STANDING, STANDING_RANGE = 0.85, 0.15
"""A turn's score is multiplied by 0.85 for one just filed, up to 1.0 for one fully trusted and fresh."""

HALF_MASS = 20.0
"""The rarity of two distinctive words, at which they count a half, as in the gate for memories."""

SAID_BY_NAMED, SAID_BY_ANYBODY, SAID_BY_OTHER = 1.0, 0.75, 0.5
"""What the evidence of a turn is worth where the question names who said it, nobody, or somebody else."""


@dataclass(frozen=True, slots=True)
class TurnCandidate:
    """One turn that might answer.

    ``counts``: how often each indexed word and marked stem occurs (``Counter(search_text.split())``).
    ``cosine`` and ``centred``: query against the mean of the turn's two vectors, the latter by
    ``Calibration.centred``. ``session`` and ``position``: turns of one session whose positions differ by one
    stand beside each other. ``speaker`` and ``listener``: who said it and to whom, "" where both sides are
    in one turn. ``trust`` 0.5 to 1, ``last_seen`` in UTC.
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
    listener: str = ""


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """How a turn's score is made.

    ``lexical`` and ``vector``: of the BM25 share (``k1``, ``b``) and the cosine; ``coordination``: how much
    of the share depends on how many different words were found; ``beside`` and ``further``: what the better
    of the two turns one and two places away add of their own scores; ``speaker``: the share by which a turn
    counts more when the question names who said it; ``threshold``: of the evidence.
    """

    lexical: float = 0.65
    vector: float = 0.35
    k1: float = 0.7
    b: float = 0.25
    coordination: float = 0.45
    beside: float = 0.5
    further: float = 0.3
    speaker: float = 0.5
    threshold: float = 0.281


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
    """All candidates, passed or not, by score, ties by id. ``now`` is when the question is asked, in UTC.

    How much a word tells in the order is counted over the candidates: in a conversation the names of those
    who speak are on every page. The evidence has frozen rarities.
    """
    own = _own_scores(question, candidates, weights)
    scored = []
    for candidate, relevance in zip(candidates, _with_neighbours(candidates, own, weights), strict=True):
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
    """How much speaks for the turn as an answer, 0..1: the words it holds of the question, the names of the
    two who talk left out, times the centred cosine, less where somebody else was asked about."""
    talking = _leaves(candidate.speaker) | _leaves(candidate.listener)
    terms = [term for term in question.terms if term.word not in talking]
    total = sum(term.weight for term in terms)
    held = sum(term.weight for term in terms if _often(term, candidate.counts))
    if not held:
        return 0.0
    found = math.sqrt(held / total * held / (held + HALF_MASS))
    return found * max(candidate.centred, 0.0) * _said_by(question, candidate.speaker)


def _own_scores(question: Question, candidates: Sequence[TurnCandidate], weights: TurnWeights) -> list[float]:
    often = [[_often(term, one.counts) for term in question.terms] for one in candidates]
    tell = [_telling(column) for column in zip(*often, strict=True)]
    lengths = [_length(one) for one in candidates]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    best = sum(tell) * (weights.k1 + 1)
    scores = []
    for candidate, row, length in zip(candidates, often, lengths, strict=True):
        norm = weights.k1 * (1 - weights.b + weights.b * length / average)
        found = sum(each * n * (weights.k1 + 1) / (n + norm) for each, n in zip(tell, row, strict=True) if n)
        complete = sum(n > 0 for n in row) / len(row) if row else 0.0
        share = found / best * (1 - weights.coordination + weights.coordination * complete) if best else 0.0
        score = weights.lexical * share + weights.vector * candidate.cosine
        is_named = not _leaves(candidate.speaker).isdisjoint(question.spoken)
        scores.append(score * (1 + weights.speaker * is_named))
    return scores


def _telling(often: Sequence[int]) -> float:
    """BM25's inverse document frequency over the candidates."""
    holding = sum(n > 0 for n in often)
    return math.log(1 + (len(often) - holding + 0.5) / (holding + 0.5))


def _with_neighbours(
    candidates: Sequence[TurnCandidate], own: Sequence[float], weights: TurnWeights
) -> Iterator[float]:
    places = {(one.session, one.position): score for one, score in zip(candidates, own, strict=True)}
    for candidate, score in zip(candidates, own, strict=True):
        total = score
        for distance, weight in ((1, weights.beside), (2, weights.further)):
            around = (
                places.get((candidate.session, candidate.position + step)) for step in (-distance, distance)
            )
            total += weight * max((each for each in around if each is not None), default=0.0)
        yield total


def _said_by(question: Question, speaker: str) -> float:
    if not speaker or not _leaves(speaker).isdisjoint(question.spoken):
        return SAID_BY_NAMED
    return SAID_BY_OTHER if any(term.is_name for term in question.terms) else SAID_BY_ANYBODY


def _often(term: Term, counts: Mapping[str, int]) -> int:
    return max((counts[variant] for variant in term.variants if variant in counts), default=0)


def _length(candidate: TurnCandidate) -> int:
    """Indexed words, stems not counted."""
    return sum(often for word, often in candidate.counts.items() if not is_stem(word))


def _leaves(name: str) -> frozenset[str]:
    """The folded words of a name."""
    return frozenset(fold(leaf) for word in words(name) for leaf in word.leaves)
