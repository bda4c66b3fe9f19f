"""The evidence gate: what speaks for one memory answering one query, and whether it is enough.

A verdict depends on the query, the memory and the calibration, and on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memories.retrieval.document import Document, SubjectWords
from memories.retrieval.question import CONCEPT_WORTH, TYPO_WORTH, Match, Question, Term
from memories.retrieval.rarity import concept_rarity
from memories.text.scripts import has_unspaced

TELLING = 9.0
"""The rarity of a concept that says all there is to a subject."""

FEWEST_KEYWORDS = 2
"""Words beside the names that make a query of keywords: one everyday word is not telling even when found."""

HALF_MASS = 20.0
"""The rarity of two distinctive words, at which ``mass`` is a half."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Each in 0..1 but ``centred`` (-1..1). AGAINST count against a memory, all others for it."""

    coverage: float
    """Share of the query's informative words that the memory holds, weighted by rarity."""
    topic: float
    """The same without the names in the query."""
    centred: float
    """Cosine after subtracting the mean vector of general text; 0 where no vector is at hand."""
    exact: float
    """Share of the quoted phrases, paths, key=value and identifiers that the memory holds."""
    subject: float
    """Share of the memory's subject that the query names, the names in the query not counted."""
    named: float
    """1 where the query holds the whole subject, its names counted, else 0."""
    distinctive: float
    """1 where the memory holds a name of the query, or a word of it that is in no word list; less where
    only a mistyped or related form; else 0."""
    mass: float
    """How much rarity the words found carry together: one everyday word is little, whatever its share. Of
    names the rarest found counts alone: a first and a last name say no more than one of them."""
    topic_mass: float
    """The same without the names in the query."""
    whole: float
    """``topic_mass`` where the memory holds every informative word, typing errors allowed, and there are two
    or more beside the names: a query of keywords; else 0."""
    bare: float
    """1 where the query is nothing but names and words of no word list, and the memory holds all of them."""
    about: float
    """Share of the names and exact parts of the query that the memory does not hold."""
    unnamed: float
    """Share of the things asked for, the port in "which port", that the memory does not hold."""
    lacking: float
    """1 where the query asks for a kind of thing, a year or a person, of which the memory holds none."""

    aimed: float
    """Whether what is asked for most, the rarest meaning in the query, is what the memory holds: 1 or 0, a
    share where only part of the word is; of a memory that holds a name of the query."""
    meant: float
    """Share of the words with a meaning that the memory holds, of such a memory."""

    @property
    def hit(self) -> float:
        """The right thing and the right name on the same memory."""
        return self.subject * self.distinctive

    @property
    def both(self) -> float:
        """Words and meaning agreeing on the same memory."""
        return self.coverage * max(self.centred, 0.0)

    @property
    def topic_both(self) -> float:
        """The same beside the names."""
        return self.topic * max(self.centred, 0.0)

    def features(self) -> dict[str, float]:
        """All of them by name, as a calibration weighs them."""
        return {name: getattr(self, name) for name in FEATURES}


FEATURES = (
    *("coverage", "topic", "centred", "both", "topic_both"),
    *(
        "exact",
        "subject",
        "named",
        "hit",
        "aimed",
        "meant",
        "distinctive",
        "mass",
        "topic_mass",
        "whole",
        "bare",
        "about",
        "unnamed",
        "lacking",
    ),
)
"""What a calibration may weigh, in the order of its tables."""

AGAINST = frozenset({"about", "unnamed", "lacking"})
"""Features that count against a memory."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A monotone logistic: ``weights`` are never negative, those of AGAINST are subtracted."""

    bias: float
    weights: Mapping[str, float]
    threshold: float

    def value(self, evidence: Evidence) -> float:
        """How much the evidence is worth, 0..1."""
        total = self.bias
        for name, weight in self.weights.items():
            value: float = getattr(evidence, name)
            total += -weight * value if name in AGAINST else weight * value
        return 1 / (1 + math.exp(-total))


@dataclass(frozen=True, slots=True)
class Verdict:
    evidence: Evidence
    value: float
    passed: bool


def judge(match: Match, centred: float, gate: Gate) -> Verdict:
    """The verdict on one memory. ``centred`` is the cosine of query and memory after centring."""
    evidence = evidence_of(match, centred)
    value = gate.value(evidence)
    return Verdict(evidence, value, value >= gate.threshold)


def evidence_of(match: Match, centred: float) -> Evidence:
    """What speaks for the memory; ``centred`` as in ``judge``."""
    question, document = match.question, match.document
    tally = _Tally.of(match)
    exact = _exact_hits(question, document) if question.has_exact_parts else []
    coverage = tally.matched / tally.total if tally.total else 0.0
    topic = tally.topic_matched / tally.topic_total if tally.topic_total else coverage
    carried = tally.topic_matched + tally.name_matched
    mass = carried / (carried + HALF_MASS)
    topic_mass = tally.topic_matched / (tally.topic_matched + HALF_MASS)
    return Evidence(
        coverage=coverage,
        topic=topic,
        centred=centred,
        exact=_mean(exact),
        subject=subject_share(question, document.subject),
        named=float(names_subject(question, document)),
        distinctive=tally.distinctive,
        mass=mass,
        topic_mass=topic_mass,
        whole=topic_mass if tally.all_found and tally.topics >= FEWEST_KEYWORDS else 0.0,
        bare=float(bool(question.terms) and tally.all_found and tally.all_distinctive),
        about=_mean([*tally.names_missed, *(1 - hit for hit in exact)]),
        unnamed=_mean(tally.asked_missed),
        aimed=tally.aimed * tally.distinctive,
        meant=(tally.meant_matched / tally.meant_total if tally.meant_total else topic) * tally.distinctive,
        lacking=float(bool(question.kinds) and not document.kinds.issuperset(question.kinds)),
    )


@dataclass(slots=True)
class _Tally:
    """Weights of all terms and of those that are no names, how much of them was found, and the shares
    missed of the names and of what is asked for; counted in one go, since every candidate is."""

    total: float = 0.0
    matched: float = 0.0
    topics: int = 0
    topic_total: float = 0.0
    topic_matched: float = 0.0
    name_matched: float = 0.0
    meant_total: float = 0.0
    meant_matched: float = 0.0
    rarest: float = 0.0
    aimed: float = 0.0
    distinctive: float = 0.0
    all_found: bool = True
    all_distinctive: bool = True
    names_missed: list[float] = field(default_factory=list)
    asked_missed: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, match: Match) -> _Tally:
        tally = cls()
        for term, often in match:
            share = often if often < 1.0 else 1.0
            tally.all_found = tally.all_found and share >= TYPO_WORTH
            tally.all_distinctive = tally.all_distinctive and term.is_distinctive
            tally.total += term.weight
            tally.matched += term.weight * share
            if term.is_name:
                tally.names_missed.append(1 - share)
                tally.name_matched = max(tally.name_matched, term.weight * share)
            else:
                tally.topics += 1
                tally.topic_total += term.weight
                tally.topic_matched += term.weight * share
            if term.concepts:
                tally._mean(term, share, match.document)
            if term.is_distinctive and share > tally.distinctive:
                tally.distinctive = share
            if term.is_asked:
                tally.asked_missed.append(1 - share)
        return tally

    def _mean(self, term: Term, share: float, document: Document) -> None:
        self.meant_total += term.weight
        self.meant_matched += term.weight * share
        if term.rarest >= self.rarest:
            is_shared = share >= TYPO_WORTH or not term.concepts.isdisjoint(document.concepts)
            found = 1.0 if is_shared else share
            self.aimed = max(self.aimed, found) if term.rarest == self.rarest else found
            self.rarest = term.rarest


def _exact_hits(question: Question, document: Document) -> list[float]:
    phrases = (_contains(document.text, phrase) for phrase in question.words.phrases)
    return [float(hit) for hit in (*phrases, *(word in document.counts for word in question.exact_words))]


def names_subject(question: Question, document: Document) -> bool:
    """Whether the query holds every word of the memory's subject."""
    return question.spoken >= document.subject.weights.keys()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _contains(text: str, phrase: str) -> bool:
    """Whether `text` (padded with blanks) holds a phrase that neither begins nor ends inside a word."""
    at = text.find(phrase)
    while at >= 0:
        if not (_joined(text[at - 1], phrase[0]) or _joined(phrase[-1], text[at + len(phrase)])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word; scripts without blanks have no such bounds."""
    return left.isalnum() and right.isalnum() and not (has_unspaced(left) or has_unspaced(right))


def subject_share(question: Question, subject: SubjectWords) -> float:
    """Share of a memory's subject that the query names, names in the query not counted; or how telling the
    meaning is that they share, where that is more: an "animal de compagnie" is a pet."""
    # In the order of the words, not of a set: sums of fractions must not depend on the process.
    total = shared = telling = 0.0
    for word, weight in subject.weights.items():
        if word not in question.beside_subject:
            total += weight
            if word in question.spoken:
                shared += weight
            elif common := question.concepts & subject.concepts[word]:
                shared += weight * CONCEPT_WORTH
                telling = max(telling, *map(concept_rarity, common))
    share = shared / total if total else 0.0
    return max(share, CONCEPT_WORTH * min(1.0, telling / TELLING))
