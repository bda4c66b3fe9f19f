"""Words that mean the same thing to somebody who asks, in five languages: "looks after", "ansvarlig".

`data/concepts.toml` has one table for each concept with a list of words and phrases for each language, and
`ask` and `told`, what only questions or only memories use. A text has a concept when it holds one of the
entries; words are compared by their stems in the language of the entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from memories.text.distance import within_one_typo
from memories.text.languages import Language, evidence, languages_seen, stop_words
from memories.text.stems import is_stem, stems
from memories.text.words import words

ASKED, TOLD = "ask", "told"
"""The lists of a concept that count in questions only, and in memories only, in whatever language."""

NONE: frozenset[str] = frozenset()

COMPOUNDING = (Language.NORWEGIAN, Language.GERMAN)
SHORTEST_COMPOUND, SHORTEST_PART, SHORTEST_MISTYPED = 8, 4, 5

# One whole function word of its own tells a memory's language.
_LEAST_EVIDENCE = 1.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """An entry of several words. `asked`: it counts in questions only."""

    words: tuple[str, ...]
    concept: str
    asked: bool


def leaves(text: str) -> list[str]:
    """The folded words of `text` in order, identifiers in parts: what phrases are found in."""
    return [leaf for word in words(text) for leaf in word.leaves]


def concepts_of_word(variants: Iterable[str], languages: Collection[Language]) -> frozenset[str]:
    """The concepts of a word, given as itself and its marked stems, in a text of `languages` (none: any).

    Where the word itself is listed its stems are not asked: accessibility is not access.
    """
    by_stems: set[str] = set()
    by_itself: set[str] = set()
    for variant in variants:
        found = by_stems if is_stem(variant) else by_itself
        for language, concepts in _single().get(variant, {}).items():
            if not languages or language in languages:
                found |= concepts
    return frozenset(by_itself or by_stems)


def is_listed(word: str) -> bool:
    """Whether a folded word is itself an entry of any concept."""
    return word in _single()


@lru_cache(maxsize=50_000)
def concepts_of_compound(word: str) -> frozenset[str]:
    """The concepts of the end of a folded word: a "databaseserver" is a server. Norwegian and German write
    compounds as one word, the last part of which says what the whole is."""
    if len(word) < SHORTEST_COMPOUND or not word.isalpha():
        return NONE
    ends = (word[at:] for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1))
    return next((found for end in ends if (found := _concepts_of_end(end))), NONE)


@lru_cache(maxsize=10_000)
def concepts_of_mistyped(word: str) -> frozenset[str]:
    """The concepts of the words that a folded word is one typing error away from."""
    near = (entry for entry in _single() if not is_stem(entry) and within_one_typo(word, entry))
    return frozenset().union(*(_any_language()[entry] for entry in near if len(entry) >= SHORTEST_MISTYPED))


def _concepts_of_end(end: str) -> frozenset[str]:
    owners = _single()
    for key in (end, *stems(end, COMPOUNDING)):
        found = [concepts for language, concepts in owners.get(key, {}).items() if language in COMPOUNDING]
        if found:
            return NONE.union(*found)
    return NONE


def concepts_in(in_order: Sequence[str]) -> frozenset[str]:
    """The concepts of a memory: `in_order` are its words as they stand.

    A word counts in the languages that the memory's function words show, and in English, whose technical
    terms are everywhere: "the" is tea in French only.
    """
    held: set[str] = set()
    spoken = languages_seen(evidence(in_order), least=_LEAST_EVIDENCE)
    functions = frozenset[str]().union(*(stop_words(language) for language in spoken))
    understood = tuple(dict.fromkeys((Language.ENGLISH, *spoken))) if spoken else tuple(Language)
    compounding = any(language in COMPOUNDING for language in understood)
    for word in dict.fromkeys(in_order):
        if word not in functions:
            held |= _told().get(word, NONE)
            own = concepts_of_word((word, *stems(word, understood)), understood)
            held |= own or (concepts_of_compound(word) if compounding else NONE)
    held.update(phrase.concept for _, phrase in phrases_in(in_order) if not phrase.asked)
    return frozenset(held)


@cache
def keys_of(concept: str) -> frozenset[str]:
    """The words and marked stems by any of which a memory has a concept, whatever its languages."""
    return frozenset(key for key, concepts in _any_language().items() if concept in concepts)


@cache
def phrases_of(concept: str) -> tuple[Phrase, ...]:
    """The phrases by which a memory has a concept."""
    return tuple(
        phrase
        for some in _phrases().values()
        for phrase in some
        if phrase.concept == concept and not phrase.asked
    )


def phrases_in(flat: Sequence[str]) -> Iterator[tuple[int, Phrase]]:
    """The phrases of `flat`, folded words in order, with their first position, the longest at each."""
    beginnings = _phrases()
    for at, first in enumerate(flat):
        for phrase in beginnings.get(first, ()):
            if tuple(flat[at : at + len(phrase.words)]) == phrase.words:
                yield at, phrase


def translations(concept: str) -> tuple[str, ...]:
    """The folded single words of a concept, of all languages, in the order of the file."""
    return _surfaces()[concept]


@cache
def _single() -> Mapping[str, Mapping[Language, frozenset[str]]]:
    """Folded word or marked stem → language of the entry → concepts."""
    found: dict[str, dict[Language, frozenset[str]]] = {}
    for concept, source, entry in _entries():
        if source in (ASKED, TOLD) or len(entry) != 1:
            continue
        language = Language(source)
        if entry[0] in stop_words(language):
            continue  # "not", "for": on every page
        for key in (entry[0], *stems(entry[0], (language,))):
            own = found.setdefault(key, {})
            own[language] = own.get(language, NONE) | {concept}
    return found


@cache
def _any_language() -> Mapping[str, frozenset[str]]:
    found = {key: frozenset().union(*owners.values()) for key, owners in _single().items()}
    for word, concepts in _told().items():
        found[word] = found.get(word, NONE) | concepts
    return found


@cache
def _told() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for concept, source, entry in _entries():
        if source == TOLD and len(entry) == 1:
            found[entry[0]] = found.get(entry[0], NONE) | {concept}
    return found


@cache
def words_of(concept: str) -> Mapping[Language, tuple[str, ...]]:
    """The folded single words of a concept by language, those that say little left out."""
    found: dict[Language, list[str]] = {}
    for name, source, entry in _entries():
        if name == concept and source not in (ASKED, TOLD) and len(entry) == 1:
            language = Language(source)
            if entry[0] not in stop_words(language):
                found.setdefault(language, []).append(entry[0])
    return {language: tuple(some) for language, some in found.items()}


@cache
def _phrases() -> Mapping[str, tuple[Phrase, ...]]:
    """First word → phrases that begin with it, longest first."""
    found: dict[str, set[Phrase]] = {}
    for concept, source, entry in _entries():
        if len(entry) > 1 or source == ASKED:
            found.setdefault(entry[0], set()).add(Phrase(entry, concept, source == ASKED))
    return {
        first: tuple(sorted(some, key=lambda phrase: (-len(phrase.words), phrase.words, phrase.concept)))
        for first, some in found.items()
    }


@cache
def _surfaces() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for concept, source, entry in _entries():
        if source not in (ASKED, TOLD) and len(entry) == 1:
            found.setdefault(concept, {})[entry[0]] = None
    return {concept: tuple(some) for concept, some in found.items()}


@cache
def _entries() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """(concept, language or ASKED, folded words) of every entry."""
    text = resources.files("memories.text").joinpath("data", "concepts.toml").read_text(encoding="utf-8")
    return tuple(
        (concept, source, entry)
        for concept, lists in tomllib.loads(text).items()
        for source, listed in lists.items()
        for part in listed.split(",")
        if (entry := tuple(leaves(part)))
    )
