"""What of a memory tells it from another that is worded alike: claims, numbers, names, telling words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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

_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "cannot",
        "none",
        "nor",
        "pas",
        "jamais",
        "aucun",
        "sans",
        "ni",
        "ikke",
        "aldri",
        "ingen",
        "uten",
        "nicht",
        "kein",
        "keine",
        "nie",
        "nunca",
        "sin",
        "don't",
        "doesn't",
        "isn't",
        "aren't",
        "can't",
        "won't",
        "mustn't",
        "shouldn't",
    ]
)
_INTRODUCES_A_NAME = frozenset(
    [
        "host",
        "server",
        "machine",
        "node",
        "version",
        "branch",
        "database",
        "db",
        "user",
        "table",
        "bucket",
        "queue",
        "topic",
        "cluster",
        "region",
        "zone",
        "channel",
        "repo",
        "repository",
        "container",
        "image",
        "service",
        "named",
        "called",
        "by",
        "vert",
        "serveur",
        "hôte",
        "machine",
        "utilisateur",
        "tjener",
        "vert",
        "maskin",
        "bruker",
        "gren",
    ]
)


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

    @property
    def all(self) -> Words:
        return self.words | self.numbers | self.names


@dataclass(frozen=True, slots=True)
class Profile:
    """One memory. ``claims`` are the normal forms by key."""

    domain: str
    subject: Words
    claims: Mapping[str, Words]
    facts: tuple[FactProfile, ...]
    words: Words
    numbers: Words
    names: Words
    plain: Words

    @property
    def said(self) -> Words:
        """All that the facts say, in forms that compare."""
        return self.words | self.numbers | self.names


def profile_of(domain: str, subject: str, facts: Sequence[str], claims: Iterable[Claim]) -> Profile:
    """The profile of a memory with these columns."""
    stated: dict[str, set[str]] = {}
    for claim in claims:
        stated.setdefault(claim.key, set()).add(claim.normal)
    told = tuple(map(_fact_profile, facts))
    return Profile(
        domain=fold(domain),
        subject=frozenset(fold(subject).replace("-", "_").split("_")) - {""},
        claims={key: frozenset(values) for key, values in stated.items()},
        facts=told,
        words=frozenset().union(*(fact.words for fact in told)),
        numbers=frozenset().union(*(fact.numbers for fact in told)),
        names=frozenset().union(*(fact.names for fact in told)),
        plain=frozenset().union(*(fact.plain for fact in told)),
    )


def same_name(one: str, other: str) -> bool:
    """Whether two folded names are forms of one: the shorter begins the longer one."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _SHORTEST_FORM and longer.startswith(shorter) and longer[len(shorter) :].isalpha()


@cache
def groups_of_word() -> Mapping[str, frozenset[int]]:
    """Folded telling word → the groups of ``data/apart.txt`` that it is in."""
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(_groups()):
        for word in line.removeprefix(_ALONE).split(","):
            groups.setdefault(fold(word.strip()), set()).add(number)
    return {word: frozenset(found) for word, found in groups.items()}


@cache
def words_that_name_one() -> Words:
    """The telling words that set two subjects apart where only one of them has such a word."""
    alone = (line.removeprefix(_ALONE) for line in _groups() if line.startswith(_ALONE))
    return frozenset(fold(word.strip()) for line in alone for word in line.split(","))


@lru_cache(maxsize=65536)
def stem_of(word: str) -> str:
    """The folded word's English stem: a wrong one for other languages, but the same one for each form."""
    return next(iter(stems(word, (Language.ENGLISH,))), word)


def _groups() -> list[str]:
    text = resources.files("memories.analysis").joinpath("data", "apart.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _fact_profile(fact: str) -> FactProfile:
    words: set[str] = set()
    numbers: set[str] = set()
    names: set[str] = set()
    maybe: set[str] = set()
    plain: list[str] = []
    introduced = False
    for at, written in enumerate(_CHUNK.findall(plain_text(fact))):
        chunk = written.strip("'.:-…–—/") or written
        folded = fold(chunk)
        plain.append(folded)
        if _NUMBER.fullmatch(chunk):
            numbers.add(folded.lstrip("v#~<>+").rstrip(".,:"))
        elif _is_name(chunk, folded, first=at == 0):
            names.add(folded)
        elif folded not in languages_of_stop_word() and folded not in _NEGATIONS:
            words.add(stem_of(folded))
            if introduced or (chunk[:1].isupper() and folded not in noise_words()):
                maybe.add(folded)
        introduced = folded in _INTRODUCES_A_NAME
    negations = sum(word in _NEGATIONS for word in plain)
    return FactProfile(
        frozenset(words),
        frozenset(numbers),
        frozenset(names),
        frozenset(maybe),
        negations,
        frozenset(plain),
    )


def _is_name(chunk: str, folded: str, *, first: bool) -> bool:
    """Whether a word is a name by its shape: an identifier, a host, a path, capitals; a capital alone
    tells nothing at the start of a fact."""
    if folded in languages_of_stop_word():
        return False
    if any(mark in chunk for mark in "./\\@_:") or any(map(str.isdecimal, chunk)):
        return True
    inner = chunk[1:]
    if any(map(str.isupper, inner)):
        return True
    return not first and chunk[:1].isupper() and folded not in noise_words()
