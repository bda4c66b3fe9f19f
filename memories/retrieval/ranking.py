"""Own order over absolute scores: the same for every door, independent of what else is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memories.repository import StoredMemory
from memories.repository.usage import PROTECTED_QUALITY
from memories.retrieval.calibration import Calibration
from memories.retrieval.candidates import Candidate
from memories.retrieval.evidence import Verdict, judge, names_subject
from memories.retrieval.question import Match, Question

K1, B = 1.2, 0.75
"""Plain BM25."""

NEAR_TIE = 0.02
"""Scores this share apart are equal: approval and quality decide."""

MOST_OF_ONE_SUBJECT = 2


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score and verdict."""

    candidate: Candidate
    share: float
    """BM25 divided by the best this query could reach, 0..1."""
    score: float
    verdict: Verdict

    @property
    def id(self) -> str:
        return self.candidate.document.memory.id

    @property
    def memory(self) -> StoredMemory:
        return self.candidate.document.memory


def rank(
    question: Question, candidates: Sequence[Candidate], calibration: Calibration, *, literal: bool
) -> list[Ranked]:
    """The candidates, passed or not, by score, ties by id. A ``literal`` question weighs words more."""
    compare_words(question, candidates)
    matches = [(candidate, Match.of(question, candidate.document)) for candidate in candidates]
    scored = [_scored(match, candidate, calibration, literal) for candidate, match in matches]
    return sorted(scored, key=lambda row: (-row.score, row.id))


def compare_words(question: Question, candidates: Sequence[Candidate]) -> None:
    """Compare the question's words with those of all candidates at once: most words are in many."""
    compare_with(
        question, frozenset[str]().union(*(candidate.document.long_words for candidate in candidates))
    )


def compare_with(question: Question, vocabulary: frozenset[str]) -> None:
    """Compare the question's words with each of ``vocabulary`` that begins or ends like one of them."""
    likenesses = [term.likeness for term in question.terms]
    starts = tuple({likeness.start for likeness in likenesses})
    ends = tuple({likeness.end for likeness in likenesses})
    near = frozenset(word for word in vocabulary if word.startswith(starts) or word.endswith(ends))
    for likeness in likenesses:
        likeness.compare(near, among=vocabulary)


def bm25_share(match: Match, average_length: float) -> float:
    """BM25 of the memory for the query's terms with frozen rarities, over the most it could be."""
    best = sum(term.weight for term in match.question.terms) * (K1 + 1)
    norm = K1 * (1 - B + B * match.document.length / average_length)
    total = sum(term.weight * often * (K1 + 1) / (often + norm) for term, often in match)
    return total / best if best else 0.0


def near_ties_settled(rows: Sequence[Ranked]) -> list[Ranked]:
    """Runs of scores within NEAR_TIE of the first of the run, by approval, quality, score, id."""
    settled: list[Ranked] = []
    run: list[Ranked] = []
    for row in rows:
        if run and row.score < run[0].score - abs(run[0].score) * NEAR_TIE:
            settled.extend(sorted(run, key=_standing))
            run = []
        run.append(row)
    return [*settled, *sorted(run, key=_standing)]


def limit_subjects(question: Question, rows: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """(kept, suppressed): at most two memories of one subject, unless the query names the subject."""
    seen: Counter[str] = Counter()
    kept: list[Ranked] = []
    suppressed: list[Ranked] = []
    for row in rows:
        seen[row.memory.subject_key] += 1
        by_name = names_subject(question, row.candidate.document)
        (kept if by_name or seen[row.memory.subject_key] <= MOST_OF_ONE_SUBJECT else suppressed).append(row)
    return kept, suppressed


def replacements_first(ids: Sequence[str], superseded_by: Mapping[str, str]) -> list[str]:
    """``ids`` in order, each superseded one preceded by what replaced it, and by what replaced that."""
    placed: dict[str, None] = {}

    def place(name: str, above: frozenset[str]) -> None:
        newer = superseded_by.get(name)
        if newer is not None and newer not in above and newer not in placed:
            place(newer, above | {name})
        placed.setdefault(name)

    for name in ids:
        place(name, frozenset({name}))
    return list(placed)


def _scored(match: Match, candidate: Candidate, calibration: Calibration, literal: bool) -> Ranked:
    weights = calibration.order
    verdict = judge(match, candidate.centred, calibration.gate)
    evidence = verdict.evidence
    share = bm25_share(match, calibration.average_length)
    # A literal question keeps the sum of both weights and moves half of the vector's to the words.
    moved = weights.vector / 2 if literal else 0.0
    score = (
        (weights.lexical + moved) * share
        + (weights.vector - moved) * candidate.cosine
        + weights.topic * evidence.topic
        + weights.exact * evidence.exact
        + weights.subject * evidence.subject
        + weights.named * evidence.named
        - weights.about * evidence.about
    )
    return Ranked(candidate, share, score, verdict)


def _standing(row: Ranked) -> tuple[bool, float, float, str]:
    memory = row.memory
    quality = max(PROTECTED_QUALITY, memory.quality) if memory.tier == 1 else memory.quality
    return (not memory.approved_by, -quality, -row.score, row.id)
