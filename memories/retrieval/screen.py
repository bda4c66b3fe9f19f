"""Which candidates could pass the evidence gate at all, found for all of them at once.

The gate itself looks at one memory at a time and needs it whole. Most candidates hold one common word of
the question and no more: what is the most that the gate could make of them is known from their words
alone. This decides nothing: it never leaves out a memory that the gate would let pass, which the tests
hold against the gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memories.retrieval.document import SHOWN_KINDS, SubjectWords
from memories.retrieval.evidence import AGAINST, HALF_MASS, Gate, subject_share
from memories.retrieval.held_words import HeldWords, Mask
from memories.retrieval.question import CONCEPT_WORTH, TYPO_WORTH, Question, Term
from memories.text.concepts import phrases_of

Values = npt.NDArray[np.float64]

MARGIN = 1e-6
"""What sums in another order may differ by, with much to spare."""


def hopeful(question: Question, held: HeldWords, centred: Sequence[float], gate: Gate) -> list[str]:
    """The ids of the memories that may pass, in their order. ``centred`` are their centred cosines."""
    needed = math.log(gate.threshold / (1 - gate.threshold)) - MARGIN
    features = _features(question, held, np.asarray(centred, dtype=np.float64))
    most = _most(features, len(held.ids), gate)
    by_subject = gate.weights.get("subject", 0.0) + gate.weights.get("hit", 0.0) * features["distinctive"]

    def reaches(place: int) -> bool:
        # A subject was taken for granted so far; it is looked at where that made the difference.
        if most[place] - by_subject[place] >= needed:
            return True
        share = subject_share(question, SubjectWords.of(held.subjects[place]))
        return bool(most[place] - by_subject[place] * (1 - share) >= needed)

    return [held.ids[place] for place in np.flatnonzero(most >= needed).tolist() if reaches(place)]


def _most(features: Mapping[str, Values], memories: int, gate: Gate) -> Values:
    """The most that the gate's sum may be for each memory."""
    total = np.full(memories, gate.bias)
    for name, weight in gate.weights.items():
        if name in AGAINST:
            total -= weight * features.get(name, 0.0)
        else:
            total += weight * features.get(name, 1.0)
    return total


def _features(question: Question, held: HeldWords, centred: Values) -> dict[str, Values]:
    """The evidence as far as words tell it, by name: the most that may speak for each memory, and the
    least that may speak against it. What is not in here counts fully for it, and not against it."""
    shares = _shares(question, held, held.present())
    terms = _Terms.of(question)
    exact = _exact(question, held)
    found = shares * terms.weights
    topic_found, all_found = found[:, ~terms.names].sum(axis=1), (shares >= TYPO_WORTH).all(axis=1)
    coverage = _share_of(found, terms.weights)
    topic = _share_of(found[:, ~terms.names], terms.weights[~terms.names], coverage)
    distinctive = shares[:, terms.distinctive].max(axis=1, initial=0.0)
    carried = topic_found + found[:, terms.names].max(axis=1, initial=0.0)
    mass = carried / (carried + HALF_MASS)
    likeness = np.maximum(centred, 0.0)
    return {
        "coverage": coverage,
        "topic": topic,
        "centred": centred,
        "both": coverage * likeness,
        "topic_both": topic * likeness,
        "exact": _mean(exact),
        "hit": distinctive,
        "aimed": _aimed(shares[:, terms.rarest]) * distinctive,
        "meant": _share_of(found[:, terms.meant], terms.weights[terms.meant], topic) * distinctive,
        "distinctive": distinctive,
        "mass": mass,
        "topic_mass": topic_found / (topic_found + HALF_MASS),
        "whole": np.where(all_found, mass, 0.0),
        "bare": (all_found & bool(terms.distinctive.all())).astype(np.float64),
        "about": _mean(np.concatenate((1 - shares[:, terms.names], 1 - exact), axis=1)),
        "unnamed": _mean(1 - shares[:, terms.asked]),
    }


def _share_of(found: Values, weights: Values, otherwise: Values | None = None) -> Values:
    """Weight found of all there is, for each memory; ``otherwise`` where there is none."""
    total = float(weights.sum())
    if total:
        share: Values = found.sum(axis=1) / total
        return share
    return np.zeros(len(found)) if otherwise is None else otherwise


def _aimed(shares: Values) -> Values:
    """Whether one of the rarest meanings may be held; a meaning that is shared at all counts in full."""
    most = shares.max(axis=1, initial=0.0)
    return np.where(most >= CONCEPT_WORTH, 1.0, most)


@dataclass(frozen=True)
class _Terms:
    """What is known of a question's terms, in columns."""

    weights: Values
    names: Mask
    distinctive: Mask
    asked: Mask
    meant: Mask
    """Those that have a meaning."""
    rarest: Mask
    """Those with the rarest meaning."""

    @classmethod
    def of(cls, question: Question) -> _Terms:
        terms = question.terms
        rarest = max((term.rarest for term in terms if term.concepts), default=0.0)
        return cls(
            np.array([term.weight for term in terms], dtype=np.float64),
            _mask(term.is_name for term in terms),
            _mask(term.is_distinctive for term in terms),
            _mask(term.is_asked for term in terms),
            _mask(bool(term.concepts) for term in terms),
            _mask(bool(term.concepts) and term.rarest == rarest for term in terms),
        )


def _mask(values: Iterable[bool]) -> Mask:
    return np.array(list(values), dtype=np.bool_)


def _shares(question: Question, held: HeldWords, present: Mask) -> Values:
    """How much of each term each memory may hold, 0..1; shape (memories, terms)."""
    worth: dict[int, Values] = {}
    for column, term in enumerate(question.terms):
        for number, value in _carriers(term, held, present):
            row = worth.setdefault(number, np.zeros(len(question.terms)))
            row[column] = max(row[column], value)
    shares = held.largest(worth, len(question.terms))
    # Some meanings are read from the form of the facts, which is not at hand: anybody may have them.
    shown = [not term.concepts.isdisjoint(SHOWN_KINDS) for term in question.terms]
    return np.maximum(shares, np.where(shown, CONCEPT_WORTH, 0.0))


def _carriers(term: Term, held: HeldWords, present: Mask) -> Iterator[tuple[int, float]]:
    """The words that stand for a term, and how well."""
    vocabulary = held.vocabulary
    for variant in term.variants:
        number = vocabulary.number(variant)
        if number is not None:
            yield number, 1.0
    likeness = term.likeness
    for number in vocabulary.alike(likeness.start, likeness.end, present):
        if value := likeness.worth_of(vocabulary.words[number]):
            yield number, value
    if term.concepts:
        for number in vocabulary.meaning(term.concepts, present):
            yield number, CONCEPT_WORTH
        for phrase in (phrase for concept in term.concepts for phrase in phrases_of(concept)):
            # Whoever has the phrase has its words; the longest is likely the rarest.
            number = vocabulary.number(max(phrase.words, key=len))
            if number is not None:
                yield number, CONCEPT_WORTH


def _exact(question: Question, held: HeldWords) -> Values:
    """Which of the exact parts each memory may hold, 0 or 1; shape (memories, parts). Quoted phrases are
    looked for in the whole text, which is not at hand."""
    numbers = [held.vocabulary.number(word) for word in question.exact_words]
    worth = {
        number: np.array([float(number == other) for other in numbers])
        for number in numbers
        if number is not None
    }
    phrases = np.ones((len(held.ids), len(question.words.phrases)))
    return np.concatenate((phrases, held.largest(worth, len(numbers))), axis=1)


def _mean(columns: Values) -> Values:
    return columns.mean(axis=1) if columns.shape[1] else np.zeros(len(columns))
