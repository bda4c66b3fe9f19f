"""What of a memory tells it from another that is worded alike: claims, numbers, names, telling words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from importlib import resources

from memories.contract import Claim
from memories.text.folding import fold, plain_text
from memories.text.languages import Language, languages_of_stop_word, noise_words
from memories.text.stems import stems

Words = frozenset[str]

_CHUNK = re.compile(r"[^\s,;()\[\]{}<>\"“”«»!?|*=]+")
_NUMBER = re.compile(r"[#~<>+-]?[vV]?\d[\d.,:/-]*(?:[^\W\d_]{1,3}|%|°)?")
_ALONE = "+ "
_SHORTEST_FORM = 4
"""Letters that two forms of one name must share: Postgres, PostgreSQL."""


@dataclass(frozen=True, slots=True)
class FactProfile:
    """One fact. ``words`` are the stems of what it says, numbers and names left out; ``maybe`` are words
    that are names only if all else is alike: capitalised first ones, and those after "server" or "user"."""

    words: Words
    numbers: Words
    names: Words
    maybe: Words
    negations: int
    plain: Words
    """Every folded word, as written."""
    said: Words
    """Words, numbers and names together."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One memory. ``claims`` are the normal forms by key; the last five are those of all its facts."""

    domain: str
    subject: Words
    claims: Mapping[str, Words]
    facts: tuple[FactProfile, ...]
    words: Words
    numbers: Words
    names: Words
    plain: Words
    said: Words


def profile_of(domain: str, subject: str, facts: Sequence[str], claims: Iterable[Claim]) -> Profile:
    """The profile of a memory with these columns."""
    stated: dict[str, set[str]] = {}
    for claim in claims:
        stated.setdefault(claim.key, set()).add(claim.normal)
    told = tuple(map(_fact_profile, facts))
    return Profile(
        domain=fold(domain),
        subject=_subject_words(subject),
        claims={key: frozenset(values) for key, values in stated.items()},
        facts=told,
        words=frozenset().union(*(fact.words for fact in told)),
        numbers=frozenset().union(*(fact.numbers for fact in told)),
        names=frozenset().union(*(fact.names for fact in told)),
        plain=frozenset().union(*(fact.plain for fact in told)),
        said=frozenset().union(*(fact.said for fact in told)),
    )


def _subject_words(subject: str) -> Words:
    """The words of a subject, and their stems: in either form they stand in facts."""
    words = frozenset(fold(subject).replace("-", "_").split("_")) - {""}
    return words | frozenset(map(stem_of, words))


def same_name(one: str, other: str) -> bool:
    """Whether two folded names are forms of one: the shorter begins the longer one."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _SHORTEST_FORM and longer.startswith(shorter) and longer[len(shorter) :].isalpha()


@cache
def groups_of_word() -> Mapping[str, frozenset[int]]:
    """Folded telling word → the groups of ``data/apart.txt`` that it is in."""
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("apart")):
        for word in line.removeprefix(_ALONE).split(","):
            groups.setdefault(fold(word.strip()), set()).add(number)
    return {word: frozenset(found) for word, found in groups.items()}


@cache
def words_that_name_one() -> Words:
    """The telling words that set two subjects apart where only one of them has such a word."""
    alone = (line.removeprefix(_ALONE) for line in _lines("apart") if line.startswith(_ALONE))
    return frozenset(fold(word.strip()) for line in alone for word in line.split(","))


@lru_cache(maxsize=65536)
def stem_of(word: str) -> str:
    """The folded word's English stem: a wrong one for other languages, but the same one for each form."""
    return next(iter(stems(word, (Language.ENGLISH,))), word)


@cache
def _negations() -> Words:
    return _entries("negations")


@cache
def _introductions() -> Words:
    return _entries("introductions")


def _entries(name: str) -> Words:
    return frozenset(fold(word.strip()) for line in _lines(name) for word in line.split(","))


def _lines(name: str) -> list[str]:
    text = resources.files("memories.analysis").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class _Kind(Enum):
    """What a word is by itself. ``CAPITAL`` is a name but at the start of a fact."""

    NUMBER = "number"
    NAME = "name"
    CAPITAL = "capital"
    WORD = "word"
    EMPTY = "empty"


def _fact_profile(fact: str) -> FactProfile:
    words: set[str] = set()
    numbers: set[str] = set()
    names: set[str] = set()
    maybe: set[str] = set()
    plain: list[str] = []
    introduced, introductions = False, _introductions()
    for at, chunk in enumerate(_CHUNK.findall(plain_text(fact))):
        folded, kind, form = _read(chunk)
        plain.append(folded)
        if kind is _Kind.NAME or (kind is _Kind.CAPITAL and at > 0):
            names.add(folded)
        elif kind is _Kind.NUMBER:
            numbers.add(form)
        elif kind is not _Kind.EMPTY:
            words.add(form)
            if introduced or kind is _Kind.CAPITAL:
                maybe.add(folded)
        introduced = folded in introductions
    negations = _negations()
    return FactProfile(
        words=frozenset(words),
        numbers=frozenset(numbers),
        names=frozenset(names),
        maybe=frozenset(maybe),
        negations=sum(word in negations for word in plain),
        plain=frozenset(plain),
        said=frozenset(words | numbers | names),
    )


@lru_cache(maxsize=65536)
def _read(written: str) -> tuple[str, _Kind, str]:
    """A word folded, what it is, and the form in which it is compared."""
    chunk = written.strip("'.:-…–—/") or written
    folded = fold(chunk)
    if _NUMBER.fullmatch(chunk):
        return folded, _Kind.NUMBER, folded.lstrip("v#~<>+").rstrip(".,:")
    if folded in languages_of_stop_word() or folded in _negations():
        return folded, _Kind.EMPTY, folded
    if any(mark in chunk for mark in "./\\@_:") or any(map(str.isdecimal, chunk)):
        return folded, _Kind.NAME, folded
    if any(map(str.isupper, chunk[1:])):
        return folded, _Kind.NAME, folded
    is_capital = chunk[:1].isupper() and folded not in noise_words()
    return folded, _Kind.CAPITAL if is_capital else _Kind.WORD, stem_of(folded)
