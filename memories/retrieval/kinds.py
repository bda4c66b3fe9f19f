"""The kind of thing that would answer a question, and whether a memory holds one.

"In which year" is answered by no memory without a year, however alike its words are. The phrases that ask
for a kind are in ``memories/text/data/answers.toml``; what a memory must hold is deliberately easy to
meet, so that only what cannot be an answer counts as lacking.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources

from memories.text.concepts import is_listed, leaves
from memories.text.languages import folded_entries

NO_KIND = "nothing"
"""Phrases that look like those that ask for a kind and do not: "how do", "when we"."""

_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CLOCK_OR_DATE = re.compile(r"\d[.:h/]\d|\d+ ?h\b|\d{4}-\d\d")
_PLACE_OF_FILE = re.compile(r"(?:^|[\s=`'\"(:])(?:~|\.{1,2})?/\w|\w\.[a-z]{2,4}\b")
_COMMAND = re.compile(r"`|(?:^|\s)(?:\.?/\w|--\w)")
_NAME_INSIDE = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-zà-öø-ÿ][\w'-]+|@\w")
_LINKS = frozenset(("de", "d", "du", "des", "kind", "sort", "type", "of", "slags", "art", "von"))
# Concepts that are a time or somebody by themselves.
_PEOPLE = frozenset(
    ("owner", "deputy", "customer", "supplier", "team", "family", "users", "employer", "role")
)
_TIMES = frozenset(("day", "time_of_day", "frequency", "schedule", "duration", "deadline"))


def words_asked(flat: Sequence[str]) -> frozenset[str]:
    """The folded words that stand where the thing asked for is named: "which port", "quel port".

    Of "which open port" it is the first word that means something to others too.
    """
    which = folded_entries("which")
    found: set[str] = set()
    for at, word in enumerate(flat[:-1]):
        if word in which:
            following = flat[at + 1 : at + 4]
            linked = [one for one in following if one not in _LINKS]
            found.update([one for one in linked if is_listed(one)][:1] or linked[:1])
    return frozenset(found)


def kinds_asked(query: str) -> tuple[str, ...]:
    """The kinds that a query asks for, the longest phrase counting where phrases overlap."""
    flat = leaves(query)
    phrases = _phrases()
    found: dict[str, None] = {}
    at = 0
    while at < len(flat):
        matching = (one for one in phrases.get(flat[at], ()) if tuple(flat[at : at + len(one[0])]) == one[0])
        words, kind = next(matching, ((flat[at],), NO_KIND))
        if kind != NO_KIND:
            found[kind] = None
        at += len(words)
    return tuple(found)


def kinds_held(text: str, words: Collection[str], concepts: frozenset[str]) -> frozenset[str]:
    """The kinds of which a memory holds anything that could be an answer. ``text`` are its facts, a line
    each, ``words`` the words it is indexed by, ``concepts`` what they mean."""
    has_number = bool(_DIGIT.search(text)) or _any(words, "numbers")
    has_year = bool(_YEAR.search(text))
    has_path = bool(_PLACE_OF_FILE.search(text))
    has_name = bool(_NAME_INSIDE.search(text))
    is_dated = has_year or bool(_CLOCK_OR_DATE.search(text)) or _any(words, "months")
    held = {
        "person": has_name or not _PEOPLE.isdisjoint(concepts),
        "moment": is_dated or not _TIMES.isdisjoint(concepts),
        "year": has_year,
        "duration": has_number or not concepts.isdisjoint(("duration", "frequency")),
        "frequency": has_number or not concepts.isdisjoint(("frequency", "day")),
        "amount": has_number,
        "command": bool(_COMMAND.search(text)),
        "path": has_path,
    }
    return frozenset(kind for kind, is_held in held.items() if is_held)


def _any(words: Collection[str], listed: str) -> bool:
    return not folded_entries(listed).isdisjoint(words)


@cache
def _phrases() -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """First word → (words, kind) of the phrases that begin with it, longest first."""
    text = resources.files("memories.text").joinpath("data", "answers.toml").read_text(encoding="utf-8")
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind, lists in tomllib.loads(text).items():
        for part in lists["ask"].split(","):
            words = tuple(leaves(part))
            found.setdefault(words[0], []).append((words, kind))
    for some in found.values():
        some.sort(key=lambda one: (-len(one[0]), one))
    return found
