"""A query made ready for comparison: weighted terms, the names in it, what must be found whole."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memories.retrieval.document import Document
from memories.retrieval.kinds import kinds_asked, words_asked
from memories.retrieval.rarity import concept_rarity, is_known, rarity
from memories.text.concepts import (
    concepts_of_compound,
    concepts_of_mistyped,
    concepts_of_word,
    leaves,
    phrases_in,
)
from memories.text.distance import SHORTEST_MISTYPED_WORD, within_one_typo
from memories.text.folding import fold, plain_text
from memories.text.languages import Language, general_phrases, noise_words, technology_words
from memories.text.query import MAX_CHARACTERS, QueryTerm, QueryWords, TermRole, analyse
from memories.text.words import Word, WordKind, words

RELATION_WEIGHT = 0.3
"""Words like "depends" say how to search more than what for."""

TYPO_WORTH = 0.8
"""What a term counts for that is found with one typing error."""

KIN_WORTH = 0.5
"""What a term counts for of which only a relation is found: salkartet for kartet, allergisk for allergies.
Compounds, and words that languages share, have no common stem."""

CONCEPT_WORTH = 0.7
"""What a term counts for at most of which only the meaning is found: sauvegarde for backup. A meaning that
many words have, as that of "day", counts less."""

REPEATED_WEIGHT = 0.3
"""What is left of the weight of a term whose meaning a weightier term of the query has already: saying a
thing twice is not asking for two."""

MOST_OF_A_CONCEPT = 7.0
"""The weight of a word that has a meaning others have words for, however rare it is."""

PHRASE_WEIGHT = 5.0
"""The weight of a phrase of function words that asks for a kind of fact, "how often": that of an everyday
word."""

LONGEST_GENERAL = 4
"""Words of the longest phrase that asks in general."""

SHORTEST_KIN = 5
_LEAST_COMMON = 0.6

_SENTENCE_ENDS = ".!?:;…\n"
_PARTS = re.compile(r"[^\W_]+")


class Likeness:
    """What words that are held instead of the one asked for are worth; each is compared once."""

    def __init__(self, word: str, *, may_be_mistyped: bool) -> None:
        self._word = word
        self._may_be_mistyped = may_be_mistyped
        # One slip in five letters, or a common beginning or end, leaves the first two or the last two.
        self.start, self.end = word[:2], word[-2:]
        self._compared: frozenset[str] = frozenset()
        self._alike: dict[str, float] = {}

    def compare(self, words: frozenset[str], among: frozenset[str] = frozenset()) -> None:
        """Look at those of ``words`` that have not been seen. ``among``: more words, none of which
        begins or ends like this one."""
        fresh = words - self._compared
        self._compared = self._compared | words | among
        for word in [word for word in fresh if word.startswith(self.start) or word.endswith(self.end)]:
            if worth := _worth(self._word, word, self._may_be_mistyped):
                self._alike[word] = worth

    def worth_of(self, word: str) -> float:
        """The worth of one word that begins or ends like this one."""
        return _worth(self._word, word, self._may_be_mistyped)

    def best_of(self, held: frozenset[str]) -> float:
        """The worth of the likest of some words, 0 for none."""
        if not held <= self._compared:
            self.compare(held)
        if not self._alike or held.isdisjoint(self._alike):
            return 0.0
        return max(self._alike[word] for word in self._alike.keys() & held)


@dataclass(frozen=True, slots=True)
class Term:
    """One informative word: ``variants`` are the indexed words and stems that stand for it."""

    word: str
    variants: frozenset[str]
    weight: float
    is_name: bool
    is_distinctive: bool
    is_asked: bool
    """Whether it names the thing asked for: the port in "which port"."""
    concepts: frozenset[str]
    """What it means: a word of another language or of other people may stand for it."""
    likeness: Likeness = field(repr=False, compare=False)
    rarest: float = 0.0
    """The rarity of its rarest concept, 0 without any."""

    def frequency_in(self, document: Document) -> float:
        """How often the memory holds the term; less than once where only a word like it, or that means
        the same."""
        counts = document.counts
        if held := [counts[variant] for variant in self.variants if variant in counts]:
            return float(max(held))
        alike = self.likeness.best_of(document.long_words)
        if self.concepts and alike < CONCEPT_WORTH and (shared := self.concepts & document.concepts):
            rarest = max(map(concept_rarity, shared))
            return max(alike, CONCEPT_WORTH * min(1.0, rarest / self.weight))
        return alike


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart and weighed."""

    words: QueryWords
    terms: tuple[Term, ...]
    spoken: frozenset[str] = field(repr=False)
    """All words and stems of the query, to find a memory's subject in."""
    beside_subject: frozenset[str] = field(repr=False)
    """The names, unless the query holds nothing else: they say who, not what about them."""
    kinds: tuple[str, ...]
    """The kinds of thing that would answer it."""
    concepts: frozenset[str] = field(repr=False)
    """All that its words mean."""

    @classmethod
    def of(cls, query: str) -> Question:
        analysed = analyse(query)
        names = frozenset(names_in(analysed))
        wanted = [term for term in analysed.terms if term.role is not TermRole.LITERAL] or analysed.terms
        spoken = frozenset().union(analysed.dropped, *(term.variants for term in analysed.terms))
        terms = _only_names(_terms(wanted, analysed, names), leaves(plain_text(query[:MAX_CHARACTERS])))
        meant = frozenset().union(*(term.concepts for term in terms))
        beside = frozenset() if names >= {term.word for term in terms} else names
        is_general = bool(names) and len(terms) < len(wanted) and not beside
        kinds = () if is_general else kinds_asked(analysed.raw[:MAX_CHARACTERS])
        return cls(analysed, terms, spoken, beside, kinds, meant)

    @property
    def has_exact_parts(self) -> bool:
        """Whether anything must be found whole."""
        return bool(self.words.phrases or self.exact_words)

    @property
    def exact_words(self) -> tuple[str, ...]:
        """Paths, key=value and identifiers, to be found whole."""
        return self.words.paths + self.words.assignments + self.words.identifiers


@dataclass(frozen=True, slots=True)
class Match:
    """A question beside a memory: ``often`` says how often the memory holds each term."""

    question: Question
    document: Document
    often: tuple[float, ...]

    @classmethod
    def of(cls, question: Question, document: Document) -> Match:
        return cls(question, document, tuple(term.frequency_in(document) for term in question.terms))

    def __iter__(self) -> Iterator[tuple[Term, float]]:
        return zip(self.question.terms, self.often, strict=True)


def names_in(query: QueryWords) -> Iterator[str]:
    """The folded words of a query that are written as names: of a project, a person, a place.

    A capital tells inside a sentence; at its start, and in German, only in a word of no word list, or
    beside one: Leopold Ashgrove. Words all in capitals are abbreviations of things, and known technology
    names nobody either. In a query without any capital the words of no word list are taken for names.
    """
    text = plain_text(query.raw)
    if not any(map(str.isupper, text)):
        yield from (term.word for term in query.terms if _may_be_name(term.word))
        return
    known_terms = {term.word for term in query.terms}
    for run in _capitalised_runs(text):
        tell = [
            leaf
            for leaf, is_inside in run
            if (is_inside and Language.GERMAN not in query.languages) or not is_known(leaf)
        ]
        yield from (leaf for leaf, _ in run if tell and leaf in known_terms)


def _capitalised_runs(text: str) -> Iterator[list[tuple[str, bool]]]:
    """The capitalised words that stand beside one another, folded, each with whether it is inside a
    sentence."""
    run: list[tuple[str, bool]] = []
    at = 0
    for word in words(text):
        start = text.find(word.text, at)
        before = text[:start].rstrip() if start >= 0 else ""
        between = text[at:start] if start >= 0 else ""
        at = max(at, start + len(word.text))
        if run and between.strip():
            yield run
            run = []
        leaves_named = _named_leaves(word)
        if not leaves_named and run:
            yield run
            run = []
        is_inside = bool(before) and before[-1] not in _SENTENCE_ENDS
        run.extend((leaf, is_inside) for leaf in leaves_named)
    if run:
        yield run


def _named_leaves(word: Word) -> list[str]:
    """The parts of a word that may be a name's."""
    if word.kind is not WordKind.PLAIN or not _is_capitalised(word.text) or _is_noise(fold(word.text)):
        return []
    capitalised = {fold(part) for part in _PARTS.findall(word.text) if part[0].isupper()}
    return [
        leaf
        for leaf in word.leaves
        if (leaf in capitalised or len(word.leaves) == 1) and leaf not in technology_words()
    ]


def _may_be_name(word: str) -> bool:
    long_enough = len(word) >= SHORTEST_MISTYPED_WORD and word.isalpha()
    return long_enough and not is_known(word) and word not in technology_words()


def _is_capitalised(text: str) -> bool:
    return text[:1].isupper() and not (len(text) > 1 and text.isupper())


def _is_noise(folded: str) -> bool:
    """Weekdays, months and their like are written with a capital in some languages; plurals too."""
    return folded in noise_words() or folded.removesuffix("s") in noise_words()


def _terms(wanted: Sequence[QueryTerm], query: QueryWords, names: frozenset[str]) -> tuple[Term, ...]:
    """The informative words, and the phrases of function words that ask for a kind of fact."""
    by_phrase: dict[str, set[str]] = {}
    phrases: dict[str, set[str]] = {}
    flat = leaves(plain_text(query.raw[:MAX_CHARACTERS]))
    named_kinds = words_asked(flat)
    words_wanted = {term.word for term in wanted}
    # Names may stand inside a phrase: "throws Havglimt me out".
    for _, phrase in phrases_in([leaf for leaf in flat if leaf not in names]):
        told = words_wanted.intersection(phrase.words) - names
        for word in told:
            by_phrase.setdefault(word, set()).add(phrase.concept)
        if not told:
            phrases.setdefault(" ".join(phrase.words), set()).add(phrase.concept)
    weighed = [
        _weighted(term, query, names, frozenset(by_phrase.get(term.word, ())), term.word in named_kinds)
        for term in wanted
    ]
    asked = [_asked(words, frozenset(concepts)) for words, concepts in phrases.items()]
    return _each_meaning_once((*weighed, *asked))


def _only_names(terms: tuple[Term, ...], flat: Sequence[str]) -> tuple[Term, ...]:
    """The names alone, where all else of the query asks about them in general: "explain Tidewater to me"."""
    names = tuple(term for term in terms if term.is_name)
    if not names:
        return terms
    general = general_positions(flat)
    said_beside = {leaf for at, leaf in enumerate(flat) if at not in general}
    is_general = all(term.is_name or not said_beside.intersection(term.word.split()) for term in terms)
    return names if is_general else terms


def general_positions(flat: Sequence[str]) -> frozenset[int]:
    """The places of the words of ``flat`` that ask in general, one typing error allowed in a long one."""
    entries = general_phrases()
    found: set[int] = set()
    for at, word in enumerate(flat):
        for length in range(LONGEST_GENERAL, 0, -1):
            if " ".join(flat[at : at + length]) in entries:
                found.update(range(at, at + length))
                break
        else:
            if len(word) > SHORTEST_MISTYPED_WORD and any(within_one_typo(word, one) for one in entries):
                found.add(at)
    return frozenset(found)


def _each_meaning_once(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The terms, those that mean no more than a weightier one lightened."""
    meant: set[str] = set()
    lightened: dict[int, Term] = {}
    for place in sorted(range(len(terms)), key=lambda at: -terms[at].weight):
        term = terms[place]
        if term.concepts and meant >= term.concepts:
            lightened[place] = replace(term, weight=term.weight * REPEATED_WEIGHT)
        meant |= term.concepts
    return tuple(lightened.get(place, term) for place, term in enumerate(terms))


def _asked(words: str, concepts: frozenset[str]) -> Term:
    nothing = Likeness(words, may_be_mistyped=False)
    return Term(words, frozenset(), PHRASE_WEIGHT, False, False, False, concepts, nothing, _rarest(concepts))


def _rarest(concepts: frozenset[str]) -> float:
    return max(map(concept_rarity, concepts), default=0.0)


def _weighted(
    term: QueryTerm, query: QueryWords, names: frozenset[str], concepts: frozenset[str], is_asked: bool
) -> Term:
    weight = rarity(term.word, query.languages)
    if term.role is TermRole.RELATION:
        weight *= RELATION_WEIGHT
    is_name = term.word in names
    long_enough = len(term.word) > SHORTEST_MISTYPED_WORD and term.word.isalpha()
    unknown = not is_known(term.word)
    if is_name:
        concepts = frozenset()
    elif not concepts:
        concepts = _concepts(term, query, long_enough and unknown)
    if concepts:
        # Others say the same in other words, so this word is not what makes the question different.
        weight = min(weight, MOST_OF_A_CONCEPT)
    is_distinctive = is_name or (unknown and not concepts)
    return Term(
        word=term.word,
        variants=term.variants,
        weight=weight,
        is_name=is_name,
        is_distinctive=is_distinctive,
        is_asked=is_asked and not is_name,
        concepts=concepts,
        likeness=Likeness(term.word, may_be_mistyped=long_enough and (is_name or unknown)),
        rarest=_rarest(concepts),
    )


def _concepts(term: QueryTerm, query: QueryWords, may_be_mistyped: bool) -> frozenset[str]:
    """What a word means: as it stands, else as a compound, else as one with a typing error."""
    found = concepts_of_word(term.variants, query.languages) if query.languages else frozenset()
    # In another language only as it stands: stems of foreign languages fall together with anything.
    found = found or concepts_of_word((term.word,), ())
    if not found and may_be_mistyped:
        found = concepts_of_compound(term.word) or concepts_of_mistyped(term.word)
    return found


def _worth(asked: str, held: str, may_be_mistyped: bool) -> float:
    if may_be_mistyped and within_one_typo(asked, held):
        return TYPO_WORTH
    return KIN_WORTH if _are_kin(asked, held) else 0.0


def _are_kin(a: str, b: str) -> bool:
    """Whether one word is the end of the other, or both begin alike for most of their length."""
    shorter, longer = sorted((a, b), key=len)
    if len(shorter) < SHORTEST_KIN:
        return False
    if longer.endswith(shorter):
        return True
    needed = max(SHORTEST_KIN, math.ceil(_LEAST_COMMON * len(longer)))
    return len(shorter) >= needed and a[:needed] == b[:needed]
