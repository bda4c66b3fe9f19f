"""Names in a memory: what becomes its entities and, the best of them, its automatic tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memories.text.folding import fold, plain_text
from memories.text.languages import (
    Language,
    capitalised_technology_words,
    evidence,
    folded_entries,
    languages_seen,
    noise_words,
    technology_words,
)

if TYPE_CHECKING:
    from memories.contract import MemoryForm

MOST_TAGS = 20
AUTOMATIC_TAGS = 5
# The contract's limit for a tag: a longer entity could not become one.
_LONGEST = 80
_TECHNOLOGY, _PROJECT, _NAME = 3, 2, 1

_QUOTED_CLAIM = re.compile(r"[\w.\-]+\s?=\s?(?:\"[^\"]*\"|'[^']*')")
_SENTENCE_END = re.compile(r"(?<=[.!?:;…])\s+")
# What may be a name is the chunk between blanks and brackets, so that paths and claims are seen whole.
_CHUNK = re.compile(r"[^\s()\[\]{}<>\"«»“”„,;!?|*]+")
_CAMEL = re.compile(r"[^\W\d_]*[a-zà-öø-ÿ]+\d*[A-ZÀ-ÖØ-Þ]+[^\W_]*|[A-ZÀ-ÖØ-Þ]{2,}[a-zà-öø-ÿ]{2,}[^\W_]*")
_ACRONYM = re.compile(r"(?=(?:[\d-]*[^\W\d_]){3})[^\W_]+(?:-[^\W_]+)*")
_PLURAL_ACRONYM = re.compile(r"(.*[^\W\d_a-z]{2})s")
_ELISION = re.compile(r"^(?:[ldjmtsnc]|qu)'(?=\w)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"'s?$")


def entities(form: MemoryForm) -> tuple[str, ...]:
    """Every name in the subject and the facts, as written where it first occurs, sorted."""
    return tuple(sorted(_scored(form), key=lambda name: (fold(name), name)))


def tags(form: MemoryForm) -> tuple[str, ...]:
    """The tags given, then the five names of the highest score (longer, then alphabetical among equals)
    that are not among them; at most 20."""
    scored = _scored(form)
    best = sorted(scored, key=lambda name: (-scored[name], -len(name), fold(name)))[:AUTOMATIC_TAGS]
    chosen = {fold(tag): tag for tag in reversed((*form.tags, *best))}
    ordered = dict.fromkeys(fold(tag) for tag in (*form.tags, *best))
    return tuple(chosen[key] for key in ordered)[:MOST_TAGS]


def _scored(form: MemoryForm) -> dict[str, int]:
    """Name as first written → its best score, one entry for all spellings of a folded name."""
    first: dict[str, str] = {}
    scores: dict[str, int] = {}
    capitals_tell = not _is_german(form)
    for name, starts_sentence, in_subject in _candidates(form):
        key = fold(name)
        score = _score(name, key, starts_sentence or not capitals_tell, in_subject)
        if score:
            first.setdefault(key, name)
            scores[key] = max(score, scores.get(key, 0))
    return {first[key]: score for key, score in scores.items()}


def _is_german(form: MemoryForm) -> bool:
    """German writes every noun with a capital, which then tells nothing of names."""
    text = " ".join(form.facts)
    found = evidence(fold(text).split(), text)
    return Language.GERMAN in languages_seen(found, least=1.0)


def _candidates(form: MemoryForm) -> Iterator[tuple[str, bool, bool]]:
    """(name, whether it starts a sentence, whether it stands in the subject)"""
    for part in re.split(r"[\s_]+", plain_text(form.subject)):
        if name := _trimmed(part):
            yield name, False, True
    for fact in form.facts:
        for sentence in _SENTENCE_END.split(_QUOTED_CLAIM.sub(" ", plain_text(fact))):
            for at, chunk in enumerate(_CHUNK.findall(sentence)):
                if name := _trimmed(chunk):
                    yield name, at == 0, False


def _trimmed(chunk: str) -> str:
    """`chunk` without closing punctuation, elided article and possessive; empty if it cannot be a name."""
    bare = chunk.lstrip("'@#$%&-–—").rstrip(".:'…-–—/%&")
    name = _POSSESSIVE.sub("", _ELISION.sub("", bare))
    return "" if _is_value(name) or not 2 <= len(name) <= _LONGEST else name


def _is_value(name: str) -> bool:
    """Whether `name` is a number, a path, a file name, a URL, a host, an address or a claim."""
    key = fold(name)
    if key in technology_words():
        return False
    has_form_of_value = any(mark in name for mark in "=/\\@~:+^`'") or not any(map(str.isalpha, name))
    starts_as_number = re.match(r"[vV]?\d|0x", name) is not None
    is_hash = re.fullmatch(r"(?=.*\d)[0-9a-f-]{7,}", key) is not None
    return has_form_of_value or starts_as_number or is_hash or _is_file_or_host(key)


def _is_file_or_host(key: str) -> bool:
    start, dot, ending = key.rpartition(".")
    is_hidden_file, is_host = not start or start.startswith("."), start.startswith("www.")
    return bool(dot) and (is_hidden_file or is_host or ending in folded_entries("not_names"))


def _score(name: str, key: str, capital_tells_nothing: bool, in_subject: bool) -> int:
    if key in technology_words() and (
        key not in capitalised_technology_words() or (name[0].isupper() and not capital_tells_nothing)
    ):
        return _TECHNOLOGY
    if key in noise_words():
        return 0
    if _CAMEL.fullmatch(name) or _is_acronym(name):
        return _PROJECT
    looks_like_name = name[0].isupper() and not capital_tells_nothing
    if in_subject or looks_like_name or _is_identifier(name):
        return _NAME if len(name) > 2 else 0
    return 0


def _is_acronym(name: str) -> bool:
    plural = _PLURAL_ACRONYM.fullmatch(name)
    singular = plural.group(1) if plural else name
    return singular.isupper() and _ACRONYM.fullmatch(singular) is not None


def _is_identifier(name: str) -> bool:
    has_digit = any(map(str.isdecimal, name))
    return re.search(r"\w_\w|\w\.\w", name) is not None or has_digit
