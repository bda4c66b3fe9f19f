"""How much a word tells: frozen rarities, so that no verdict moves when the store grows.

``data/rarity.<language>.txt`` holds the most frequent words of a language, folded, in lines
``<Zipf value times ten><tab><words>`` (Zipf: the base-10 logarithm of how often a word occurs in a
billion). Its origin and licence: ``data/RARITY-LICENSE.txt``; made by ``maintenance.bench.rarities``.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache, lru_cache
from importlib import resources

from memories.text.concepts import words_of
from memories.text.languages import Language

LANGUAGES = (Language.ENGLISH, Language.FRENCH, Language.NORWEGIAN)

UNKNOWN_ZIPF = 2.0
"""A word in no list: rarer than the last that is in one (about 3.1)."""

# The inverse document frequency a word would have in this many memories of this many words each.
# Only ratios matter; the numbers keep a name from outweighing four ordinary words.
_MEMORIES, _WORDS = 10_000, 30


def zipf(word: str, languages: Collection[Language] = ()) -> float:
    """The Zipf value of a folded word in the one of ``languages`` that has a list; else, or if it is not
    in there, the highest of all lists, so that a word common anywhere never counts as rare."""
    spoken = [language for language in languages if language in LANGUAGES]
    if len(spoken) == 1 and word in zipf_values(spoken[0]):
        return zipf_values(spoken[0])[word]
    return max(zipf_values(language).get(word, UNKNOWN_ZIPF) for language in LANGUAGES)


def is_known(word: str) -> bool:
    """Whether a folded word is in one of the lists."""
    return any(word in zipf_values(language) for language in LANGUAGES)


@lru_cache(maxsize=50_000)
def rarity(word: str, languages: tuple[Language, ...] = ()) -> float:
    """The weight of a folded word: about 0.2 for "the", 5 for "house", 9.9 for an unknown word."""
    return _of_share(10 ** (zipf(word, languages) - 9))


@lru_cache(maxsize=5_000)
def concept_rarity(concept: str) -> float:
    """The weight of any word of a concept: of ``allergy`` more than of ``day``, the mean of the languages."""
    found = []
    for language, words in words_of(concept).items():
        if language in LANGUAGES:
            values = zipf_values(language)
            found.append(_of_share(sum(10 ** (values.get(word, UNKNOWN_ZIPF) - 9) for word in words)))
    return sum(found) / len(found) if found else _of_share(10 ** (UNKNOWN_ZIPF - 9))


def _of_share(share: float) -> float:
    """The inverse document frequency of what makes up this share of all words."""
    holding = _MEMORIES * (1 - (1 - share) ** _WORDS)
    return math.log(1 + (_MEMORIES - holding + 0.5) / (holding + 0.5))


@cache
def zipf_values(language: Language) -> dict[str, float]:
    """Folded word → Zipf value, of one language's list."""
    path = resources.files("memories.retrieval").joinpath("data", f"rarity.{language}.txt")
    values: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        tenths, _, words = line.partition("\t")
        values.update(dict.fromkeys(words.split(), int(tenths) / 10))
    return values
