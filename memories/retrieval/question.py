"""A query made ready for comparison: weighted terms, the names in it, what must be found whole."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memories.retrieval.document import Document
from memories.retrieval.kinds import kinds_asked, words_asked
from memories.retrieval.rarity import is_known, rarity
from memories.text.concepts import (
    concepts_of_compound,
    concepts_of_mistyped,
    concepts_of_word,
    leaves,
    phrases_in,
)
from memories.text.distance import SHORTEST_MISTYPED_WORD, within_one_typo
from memories.text.folding import fold, plain_text
from memories.text.languages import Language, noise_words, technology_words
from memories.text.query import MAX_CHARACTERS, QueryTerm, QueryWords, TermRole, analyse
from memories.text.words import WordKind, words

RELATION_WEIGHT = 0.3
"""Words like "depends" say how to search more than what for."""

TYPO_WORTH = 0.8
"""What a term counts for that is found with one typing error."""

KIN_WORTH = 0.5
"""What a term counts for of which only a relation is found: salkartet for kartet, allergisk for allergies.
Compounds, and words that languages share, have no common stem."""

CONCEPT_WORTH = 0.7
"""What a term counts for of which only the meaning is found: sauvegarde for backup."""

MOST_OF_A_CONCEPT = 7.0
"""The weight of a word that has a meaning others have words for, however rare it is."""

PHRASE_WEIGHT = 5.0
"""The weight of a phrase of function words that asks for a kind of fact, "how often": that of an everyday
word."""

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

    def frequency_in(self, document: Document) -> float:
        """How often the memory holds the term; less than once where only a word like it, or that means
        the same."""
        counts = document.counts
        if held := [counts[variant] for variant in self.variants if variant in counts]:
            return float(max(held))
        alike = self.likeness.best_of(document.long_words)
        if self.concepts and alike < CONCEPT_WORTH and not self.concepts.isdisjoint(document.concepts):
            return CONCEPT_WORTH
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
        terms = _terms(wanted, analysed, names)
        meant = frozenset().union(*(term.concepts for term in terms))
        beside = frozenset() if names >= {term.word for term in terms} else names
        return cls(analysed, terms, spoken, beside, kinds_asked(analysed.raw[:MAX_CHARACTERS]), meant)

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

    A capital tells inside a sentence; at its start, and in German, only in a word of no word list. Words all
    in capitals are abbreviations of things, and known technology names nobody either. In a query without
    any capital the words of no word list are taken for names.
    """
    text = plain_text(query.raw)
    if not any(map(str.isupper, text)):
        yield from (term.word for term in query.terms if _may_be_name(term.word))
        return
    capitals_tell = Language.GERMAN not in query.languages
    known_terms = {term.word for term in query.terms}
    at = 0
    for word in words(text):
        start = text.find(word.text, at)
        before = text[:start].rstrip() if start >= 0 else ""
        at = max(at, start + len(word.text))
        if word.kind is not WordKind.PLAIN or not _is_capitalised(word.text) or _is_noise(fold(word.text)):
            continue
        tells = capitals_tell and before and before[-1] not in _SENTENCE_ENDS
        capitalised = {fold(part) for part in _PARTS.findall(word.text) if part[0].isupper()}
        for leaf in word.leaves:
            named = leaf in capitalised or len(word.leaves) == 1
            if (
                named
                and leaf in known_terms
                and leaf not in technology_words()
                and (tells or not is_known(leaf))
            ):
                yield leaf


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
    for _, phrase in phrases_in(flat):
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
    return (*weighed, *asked)


def _asked(words: str, concepts: frozenset[str]) -> Term:
    nothing = Likeness(words, may_be_mistyped=False)
    return Term(words, frozenset(), PHRASE_WEIGHT, False, False, False, concepts, nothing)


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
    )


def _concepts(term: QueryTerm, query: QueryWords, may_be_mistyped: bool) -> frozenset[str]:
    """What a word means: as it stands, else as a compound, else as one with a typing error."""
    found = concepts_of_word(term.variants, query.languages) or concepts_of_word(term.variants, ())
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
