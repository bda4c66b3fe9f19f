"""A query made ready for comparison: weighted terms, the names in it, what must be found whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import commonprefix

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
"""What a term counts for of which only a longer or shorter relation is found: salkart in salkartet's
seating chart, allergy in allergisk. Compounds and words that languages share have no common stem."""

SHORTEST_KIN = 5
_LEAST_COMMON = 0.6

_SENTENCE_ENDS = ".!?:;…\n"


@dataclass(frozen=True, slots=True)
class Term:
    """One informative word: ``variants`` are the indexed words and stems that stand for it."""

    word: str
    variants: frozenset[str]
    weight: float
    is_name: bool
    is_distinctive: bool
    may_be_mistyped: bool

    def frequency_in(self, document: Document) -> float:
        """How often the memory holds the term; TYPO_WORTH where only a mistyped form of it."""
        counts = document.counts
        often = max((counts[variant] for variant in self.variants if variant in counts), default=0)
        if often:
            return float(often)
        return max((_likeness(self.word, word, self.may_be_mistyped) for word in document.long_words), default=0.0)


@dataclass(frozen=True, slots=True)
class Question:
    """``exact``: quoted phrases, and ``exact_words``: paths, key=value and identifiers, all folded."""

    words: QueryWords
    terms: tuple[Term, ...]
    spoken: frozenset[str] = field(repr=False)
    """All words and stems of the query, to find a memory's subject in."""

    @classmethod
    def of(cls, query: str) -> Question:
        analysed = analyse(query)
        names = frozenset(names_in(analysed))
        wanted = [term for term in analysed.terms if term.role is not TermRole.LITERAL] or analysed.terms
        spoken = frozenset().union(analysed.dropped, *(term.variants for term in analysed.terms))
        return cls(analysed, tuple(_weighted(term, analysed, names) for term in wanted), spoken)

    @property
    def exact_words(self) -> tuple[str, ...]:
        return self.words.paths + self.words.assignments + self.words.identifiers


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
        may_be_mistyped=long_enough and is_distinctive,
    )


@lru_cache(maxsize=200_000)
def _likeness(asked: str, held: str, may_be_mistyped: bool) -> float:
    """What a word that is held instead of the one asked for is worth."""
    # One slip, or a common beginning or end, leaves the first or the last letter as it is.
    if asked[0] != held[0] and asked[-1] != held[-1]:
        return 0.0
    if may_be_mistyped and within_one_typo(asked, held):
        return TYPO_WORTH
    return KIN_WORTH if _are_kin(asked, held) else 0.0


def _are_kin(a: str, b: str) -> bool:
    """Whether one word is the end of the other, or both begin alike for most of their length."""
    shorter, longer = sorted((a, b), key=len)
    if len(shorter) < SHORTEST_KIN:
        return False
    common = len(commonprefix((a, b)))
    return longer.endswith(shorter) or (common >= SHORTEST_KIN and common >= _LEAST_COMMON * len(longer))
