"""Light stems beside the words, so that `dependencies` finds `dependency`.

The language of a word is not known. A stem therefore carries its language (`en^depend`), and two words match
only if one stemmer takes both to the same stem: Norwegian may cut `socket` to `sock` without ever meeting an
English sock. The mark `^` never occurs in a word, so a stem equals no surface word. Stemmers see the folded
word, which makes stems as blind to accents as words are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer

from memories.text.languages import Language, stop_words

MARK = "^"
SHORTEST_STEM = 3
# Longer "words" are hashes and joined identifiers, which no stemmer knows.
LONGEST_WORD = 32
_ALGORITHMS = {
    Language.ENGLISH: "english", Language.FRENCH: "french", Language.NORWEGIAN: "norwegian",
    Language.GERMAN: "german", Language.SPANISH: "spanish",
}  # fmt: skip
# Without its accent a French participle keeps its e in the first pass (deploye, deployee), and a Norwegian
# plural hides a second ending (servere, server): stemming the stem brings the forms together.
_TWO_PASSES = frozenset({Language.FRENCH, Language.NORWEGIAN})


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


# A snowball stemmer keeps the word it works on, so threads must not share one.
_own = threading.local()


def stems(word: str, languages: Iterable[Language] = tuple(Language)) -> tuple[str, ...]:
    """The marked stems of the folded `word` in `languages`; none for what is no stemmable word."""
    if not (SHORTEST_STEM <= len(word) <= LONGEST_WORD and word.isalpha() and word.isascii()):
        return ()
    return tuple(stem for language in languages if (stem := _marked_stem(word, language)))


def stem_language(token: str) -> Language | None:
    """The language of a marked stem; None for a surface word."""
    language, mark, _ = token.partition(MARK)
    return Language(language) if mark else None


def is_stem(token: str) -> bool:
    """Whether a token is a marked stem, not a surface word."""
    return MARK in token


@lru_cache(maxsize=65536)
def _marked_stem(word: str, language: Language) -> str:
    if word in stop_words(language):
        return ""
    stem = _stemmer(language).stemWord(word)
    if language in _TWO_PASSES and len(stem) > SHORTEST_STEM:
        stem = _stemmer(language).stemWord(stem)
    if language is Language.FRENCH and stem.endswith("y"):
        stem = stem[:-1] + "i"  # déployé → deploy, déployer → deploi
    return f"{language}{MARK}{stem}" if len(stem) >= SHORTEST_STEM else ""


def _stemmer(language: Language) -> _Stemmer:
    made: dict[Language, _Stemmer] | None = getattr(_own, "stemmers", None)
    if made is None:
        made = _own.stemmers = {}
    if language not in made:
        made[language] = cast(_Stemmer, snowballstemmer.stemmer(_ALGORITHMS[language]))
    return made[language]
