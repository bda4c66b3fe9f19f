"""The older formula for the order of turns (spec 05), for those who set ``turn_ranking: composite``."""

from __future__ import annotations

from datetime import datetime

from memories.retrieval.question import Question
from memories.retrieval.turns import TurnCandidate, decay

SEMANTIC_SHARE, OVERLAP_SHARE = 0.5, 0.2


def composite_score(question: Question, candidate: TurnCandidate, now: datetime) -> float:
    """``semantic · (0.5 + trust) · (0.5 + decay) · 0.5 + keyword overlap · 0.2``. Trust and age multiply
    the meaning here, so that an old or doubted turn can fall behind one that answers less."""
    standing = (0.5 + candidate.trust) * (0.5 + decay(candidate.last_seen, now))
    return candidate.cosine * standing * SEMANTIC_SHARE + keyword_overlap(question, candidate) * OVERLAP_SHARE


def keyword_overlap(question: Question, candidate: TurnCandidate) -> float:
    """The share of the question's informative words that the turn holds, each counting the same."""
    if not question.terms:
        return 0.0
    held = sum(1 for term in question.terms if not term.variants.isdisjoint(candidate.counts))
    return held / len(question.terms)
