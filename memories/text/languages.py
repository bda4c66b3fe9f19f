"""The word lists of the five languages, and which of these a text seems to be written in.

Lists live in `data/<kind>.<language>.txt`: entries separated by commas or line ends, `#` starts a comment
line. Every entry is folded on reading, so lists may be written with accents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib import resources

from memories.text.folding import fold


class Language(StrEnum):
    ENGLISH = "en"
    FRENCH = "fr"
    NORWEGIAN = "nb"
    GERMAN = "de"
    SPANISH = "es"


# A language is only seen in a text when it has at least this share of the evidence of the strongest one:
# function words that languages share speak for each in part.
_LEAST_SHARE = 0.3
# Letters that hardly occur elsewhere among the five; é is shared by French and Spanish and says little.
_TELLING_LETTERS = (
    (re.compile("[æøå]"), Language.NORWEGIAN),
    (re.compile("[äöüß]"), Language.GERMAN),
    (re.compile("[ñíóú¿¡]"), Language.SPANISH),
    (re.compile("[çœêèàùûîë]"), Language.FRENCH),
)


def read_entries(name: str) -> tuple[str, ...]:
    """The entries of `data/<name>.txt` as written, in order."""
    text = resources.files("memories.text").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("# "))
    return tuple(entry for line in lines for part in line.split(",") if (entry := part.strip()))


@cache
def folded_entries(name: str) -> frozenset[str]:
    """The entries of `data/<name>.txt`, folded."""
    return frozenset(map(fold, read_entries(name)))


@cache
def stop_words(language: Language) -> frozenset[str]:
    """Function words and question words of `language`, folded."""
    return folded_entries(f"stop.{language}") | folded_entries(f"question.{language}")


@cache
def languages_of_stop_word() -> dict[str, tuple[Language, ...]]:
    """Folded stop or question word → the languages it is one in."""
    owners: dict[str, tuple[Language, ...]] = {}
    for language in Language:
        for word in stop_words(language):
            owners[word] = (*owners.get(word, ()), language)
    return owners


def is_ambiguous(word: str) -> bool:
    """Whether the folded stop word `word` is a word of content too, in its own or another language."""
    return word in folded_entries("ambiguous")


def question_words() -> frozenset[str]:
    """Question words of all five languages, folded."""
    return _in_all_languages("question")


def evidence(words: Iterable[str], text: str = "") -> dict[Language, float]:
    """How strongly the distinct folded `words`, and the letters of `text`, speak for each language.

    A stop word counts 1, shared by the languages that have it, and half of that if it is ambiguous.
    """
    owners = languages_of_stop_word()
    found = dict.fromkeys(Language, 0.0)
    for word in set(words) & owners.keys():
        weight = (0.5 if is_ambiguous(word) else 1.0) / len(owners[word])
        for language in owners[word]:
            found[language] += weight
    if text and not text.isascii():
        lowered = text.lower()
        for letters, language in _TELLING_LETTERS:
            found[language] += 0.5 * min(2, len(set(letters.findall(lowered))))
    return found


def languages_seen(found: Mapping[Language, float], *, least: float) -> tuple[Language, ...]:
    """The languages with `least` evidence and a fair share of the strongest; empty when nothing tells."""
    needed = max(least, _LEAST_SHARE * max(found.values()))
    return tuple(language for language, weight in found.items() if weight >= needed)


def relation_phrases() -> frozenset[str]:
    """Words and phrases that ask how things hang together, folded, of all five languages."""
    return _in_all_languages("relation")


def literal_phrases() -> frozenset[str]:
    """Words and phrases that ask for the exact wording, folded, of all five languages."""
    return _in_all_languages("literal")


def general_phrases() -> frozenset[str]:
    """Words and phrases that ask about something in general, folded, of all five languages."""
    return folded_entries("general")


@cache
def _in_all_languages(kind: str) -> frozenset[str]:
    return frozenset().union(*(folded_entries(f"{kind}.{language}") for language in Language))


@cache
def technology_words() -> frozenset[str]:
    """Known technology, folded."""
    return folded_entries("technology")


@cache
def capitalised_technology_words() -> frozenset[str]:
    """The folded technology words that are everyday words too, so that only a capital tells them."""
    return frozenset(fold(entry) for entry in read_entries("technology") if entry != entry.lower())


@cache
def noise_words() -> frozenset[str]:
    """Words that look like names and are none: the noise list and the stop words of every language."""
    return folded_entries("noise") | languages_of_stop_word().keys()
