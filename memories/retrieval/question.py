"""A query made ready for comparison: weighted terms, the names in it, what must be found whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from memories.retrieval.document import Document
from memories.retrieval.rarity import is_known, rarity
from memories.text.distance import SHORTEST_MISTYPED_WORD, within_one_typo
from memories.text.folding import fold, plain_text
from memories.text.languages import Language, noise_words, technology_words
from memories.text.query import QueryTerm, QueryWords, TermRole, analyse
from memories.text.words import WordKind, words

RELATION_WEIGHT = 0.3
"""Words like "depends" say how to search more than what for."""

TYPO_WORTH = 0.8
"""What a term counts for that is found with one typing error."""

KIN_WORTH = 0.5
"""What a term counts for of which only a relation is found: salkartet for kartet, allergisk for allergies.
Compounds, and words that languages share, have no common stem."""

SHORTEST_KIN = 5
_LEAST_COMMON = 0.6

_SENTENCE_ENDS = ".!?:;…\n"


class Likeness:
    """What words that are held instead of the one asked for are worth; each is compared once."""

    def __init__(self, word: str, *, may_be_mistyped: bool) -> None:
        self._word = word
        self._may_be_mistyped = may_be_mistyped
        self._compared: set[str] = set()
        self._alike: dict[str, float] = {}

    def best_of(self, held: frozenset[str]) -> float:
        """The worth of the likest of some words, 0 for none."""
        fresh = held - self._compared
        self._compared |= fresh
        # One slip, or a common beginning or end, leaves the first or the last letter as it is.
        first, last = self._word[0], self._word[-1]
        for word in [word for word in fresh if word[0] == first or word[-1] == last]:
            if worth := _worth(self._word, word, self._may_be_mistyped):
                self._alike[word] = worth
        if not self._alike:
            return 0.0
        return max((self._alike[word] for word in self._alike.keys() & held), default=0.0)


@dataclass(frozen=True, slots=True)
class Term:
    """One informative word: ``variants`` are the indexed words and stems that stand for it."""

    word: str
    variants: frozenset[str]
    weight: float
    is_name: bool
    is_distinctive: bool
    likeness: Likeness = field(repr=False, compare=False)

    def frequency_in(self, document: Document) -> float:
        """How often the memory holds the term; less than once where only a word like it."""
        counts = document.counts
        if held := self.variants & counts.keys():
            return float(max(counts[variant] for variant in held))
        return self.likeness.best_of(document.long_words)


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart and weighed."""

    words: QueryWords
    terms: tuple[Term, ...]
    spoken: frozenset[str] = field(repr=False)
    """All words and stems of the query, to find a memory's subject in."""
    beside_subject: frozenset[str] = field(repr=False)
    """The names, unless the query holds nothing else: they say who, not what about them."""

    @classmethod
    def of(cls, query: str) -> Question:
        analysed = analyse(query)
        names = frozenset(names_in(analysed))
        wanted = [term for term in analysed.terms if term.role is not TermRole.LITERAL] or analysed.terms
        spoken = frozenset().union(analysed.dropped, *(term.variants for term in analysed.terms))
        terms = tuple(_weighted(term, analysed, names) for term in wanted)
        return cls(analysed, terms, spoken, frozenset() if names >= {t.word for t in terms} else names)

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
        for leaf in word.leaves:
            if leaf in known_terms and leaf not in technology_words() and (tells or not is_known(leaf)):
                yield leaf


def _may_be_name(word: str) -> bool:
    long_enough = len(word) >= SHORTEST_MISTYPED_WORD and word.isalpha()
    return long_enough and not is_known(word) and word not in technology_words()


def _is_capitalised(text: str) -> bool:
    return text[:1].isupper() and not (len(text) > 1 and text.isupper())


def _is_noise(folded: str) -> bool:
    """Weekdays, months and their like are written with a capital in some languages; plurals too."""
    return folded in noise_words() or folded.removesuffix("s") in noise_words()


def _weighted(term: QueryTerm, query: QueryWords, names: frozenset[str]) -> Term:
    weight = rarity(term.word, query.languages)
    if term.role is TermRole.RELATION:
        weight *= RELATION_WEIGHT
    is_name = term.word in names
    is_distinctive = is_name or not is_known(term.word)
    long_enough = len(term.word) > SHORTEST_MISTYPED_WORD and term.word.isalpha()
    return Term(
        word=term.word,
        variants=term.variants,
        weight=weight,
        is_name=is_name,
        is_distinctive=is_distinctive,
        likeness=Likeness(term.word, may_be_mistyped=long_enough and is_distinctive),
    )


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
