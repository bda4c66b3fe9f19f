"""Tags that look like two spellings of one: which, why, and which of them to keep."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memories.text.distance import within_one_typo
from memories.text.folding import fold

SHORTEST_TYPO = 5
"""In shorter tags one letter apart is usually another word (nginx stands, http and https do not)."""

LONGEST_TYPO = 40
"""A longer tag has more one-letter neighbours than it is worth to list."""

_SEPARATORS = re.compile(r"[-_\s]+")
_DIGITS = re.compile(r"\d+")


class Why(StrEnum):
    """What tells the two apart, the smallest difference first."""

    CASE = "case"
    SEPARATOR = "hyphen or blank"
    ACCENT = "accent"
    PLURAL = "plural"
    TYPO = "one letter"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``rarer`` may be another spelling of ``kept``, which more memories carry; ``memories`` carry the
    rarer one."""

    rarer: str
    kept: str
    why: Why
    memories: int


def suggestions(counts: Mapping[str, int]) -> list[Suggestion]:
    """Pairs worth a look, of tags with how many memories carry each: those that change most first.

    Each tag is at most once the rarer one, beside its most used look-alike of the smallest difference.
    """
    found: dict[str, Suggestion] = {}
    for why, key in _KEYS.items():
        for group in _groups(counts, key):
            _pair(found, group, why, counts)
    for pair in _typos(counts):
        _pair(found, pair, Why.TYPO, counts)
    return sorted(found.values(), key=lambda pair: (-pair.memories, pair.rarer))


def _pair(found: dict[str, Suggestion], group: Iterable[str], why: Why, counts: Mapping[str, int]) -> None:
    kept, *rest = sorted(group, key=lambda tag: (-counts[tag], len(tag), tag))
    for tag in rest:
        if tag not in found and not _leads_to(found, kept, tag):
            found[tag] = Suggestion(tag, kept, why, counts[tag])


def _leads_to(found: Mapping[str, Suggestion], tag: str, end: str) -> bool:
    """Whether what is suggested already would merge ``tag`` into ``end``: no two pairs may form a circle."""
    while tag in found:
        tag = found[tag].kept
        if tag == end:
            return True
    return False


def _groups(counts: Mapping[str, int], key: Callable[[str], str]) -> Iterator[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for tag in counts:
        groups[key(tag)].append(tag)
    return (group for name, group in groups.items() if name and len(group) > 1)


def _joined(tag: str) -> str:
    return _SEPARATORS.sub("", tag.casefold())


def _bare(tag: str) -> str:
    return _SEPARATORS.sub("", fold(tag))


def _singular(tag: str) -> str:
    """Without a plural ending of English, French or Spanish; words of three letters keep theirs."""
    bare = _bare(tag)
    if bare.endswith("ies") and len(bare) > 5:
        return f"{bare[:-3]}y"
    if bare.endswith(("sses", "xes", "ches", "shes")):
        return bare[:-2]
    return bare[:-1] if len(bare) > 3 and bare.endswith("s") and not bare.endswith("ss") else bare


_KEYS: Mapping[Why, Callable[[str], str]] = {
    Why.CASE: str.casefold,
    Why.SEPARATOR: _joined,
    Why.ACCENT: _bare,
    Why.PLURAL: _singular,
}


def _typos(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Pairs one letter apart. Two such tags share a word with one letter left out, so each is compared
    only with those; numbers are never typing errors of one another."""
    bare = {tag: _bare(tag) for tag in counts}
    near: dict[str, list[str]] = defaultdict(list)
    for tag, word in bare.items():
        if SHORTEST_TYPO <= len(word) <= LONGEST_TYPO:
            for shorter in {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}:
                near[shorter].append(tag)
    seen: set[tuple[str, str]] = set()
    for tags in near.values():
        for at, one in enumerate(tags):
            for other in tags[at + 1 :]:
                if (one, other) not in seen:
                    seen.add((one, other))
                    if _one_letter_apart(bare[one], bare[other]):
                        yield one, other


def _one_letter_apart(one: str, other: str) -> bool:
    return one != other and _DIGITS.findall(one) == _DIGITS.findall(other) and within_one_typo(one, other)
