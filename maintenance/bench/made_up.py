"""Memories made from a number: as many as wanted, always the same, no two alike.

Their words are invented and spread as words of a language are (a few in nearly every text, most in
hardly any), since that is what the size of a text index and the time of a search depend on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

VOCABULARY = 20_000
"""Different invented words: about as many as a person uses."""

FACT_WORDS = 14
FACTS = 3
SUBJECTS_A_DOMAIN = 25

Payload = dict[str, Any]

_SYLLABLES = tuple(first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou")
_CATEGORIES = ("project", "tech", "decision", "reference")


def payload(number: int) -> Payload:
    """The add request of memory ``number``; its subject is its own."""
    chance = random.Random(number)
    facts = [" ".join(words(chance, FACT_WORDS)) for _ in range(FACTS)]
    return {
        "domain": domain_of(number),
        "subject": f"service_{number}",
        "facts": [*facts, f"port={1024 + number % 60_000}"],
        "tier": 2 + number % 2,
        "category": _CATEGORIES[number % len(_CATEGORIES)],
        "quality": round(chance.random(), 2),
        "tags": [f"area {number % 40}", f"team {number % 7}"],
        "relations": [{"type": "depends", "target": f"{domain_of(number)}:service_{number - 1}"}]
        if number % SUBJECTS_A_DOMAIN
        else [],
    }


def question(number: int) -> str:
    """A question of a few words about memory ``number``: its own subject in every other one."""
    chance = random.Random(number)
    asked = words(chance, FACT_WORDS)[:4]
    return " ".join([*asked, f"service_{number}"] if number % 2 else asked)


def domain_of(number: int) -> str:
    return f"Project_{number // SUBJECTS_A_DOMAIN}"


def words(chance: random.Random, count: int) -> list[str]:
    """Invented words; the one of rank r comes about in proportion to 1 / r."""
    known = vocabulary()
    return [known[int(len(known) ** chance.random()) - 1] for _ in range(count)]


@cache
def vocabulary() -> tuple[str, ...]:
    """The invented words, most frequent first, each once."""
    return tuple(_spelled(VOCABULARY))


def _spelled(count: int) -> Iterator[str]:
    """Words of two to four syllables, different ones: the number of a word in the syllables' base."""
    base = len(_SYLLABLES)
    for number in range(count):
        rest, word = number * 7919 % base**3, ""
        while rest or len(word) < 4:
            rest, place = divmod(rest, base)
            word += _SYLLABLES[place]
        yield word
