"""Whether two memories say the same: how near their meanings are, and what sets them apart all the same.

Two sentences that differ in a port alone are nearer to each other than two wordings of one statement, so the
cosine cannot tell look-alikes from duplicates. Facts that speak of the same thing are held against each
other, and a number, a name or a telling word on either side that the other memory does not know keeps the
two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

import numpy as np

from memories.analysis.join import Matrix
from memories.analysis.profile import (
    FactProfile,
    Profile,
    Words,
    groups_of_word,
    same_name,
    stem_of,
    words_that_name_one,
)

LEAST_COSINE = 0.60
"""Below this two memories are of different things, whatever words they share."""

LEAST = 0.80
"""The lowest likeness anybody may ask for."""

_SAME_MATTER = 0.33
"""The share of its words that the shorter of two facts has in the longer one, when both are of one thing."""
_NEAR_VERBATIM, _VERBATIM = 0.8, 0.9
_CONTAINED = 0.9
_LEAST_WORDS = 3
_INDEXED, _INDEXED_CONTAINED = 0.9, 0.5
"""How far the share of indexed words may lie below that of what the facts say: subject and tags are indexed
too, and differ."""
_LONGER_BY = 1.25


class Relation(StrEnum):
    """How the first of two memories stands to the second."""

    SAME = "same"
    CONTAINED = "contained"
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Likeness:
    """``value`` is 0 to 1: the cosine, its distance from 1 cut by the share of words two memories have in
    common beside those of the subject; 1 for what is contained."""

    value: float
    relation: Relation


def likeness(one: Profile, other: Profile, cosine: float) -> Likeness | None:
    """How alike two memories are; None where they are not duplicates at any threshold."""
    # What both are about says nothing of whether they say the same of it.
    about = one.subject & other.subject
    ours, theirs = one.said - about, other.said - about
    shared, total = len(ours & theirs), len(ours) + len(theirs)
    value = 1.0 - (1.0 - min(cosine, 1.0)) * (1.0 - (2 * shared / total if total else 0.0))
    shorter = min(len(ours), len(theirs))
    if (value < LEAST or not shared) and shared < _CONTAINED * shorter:
        return None
    relation = _containment(one, other)
    if (value < LEAST and relation is Relation.SAME) or are_apart(one, other):
        return None
    return Likeness(1.0 if relation is not Relation.SAME else value, relation)


def least_shared(cosines: Matrix) -> Matrix:
    """The share of indexed words that the shorter of two memories must have in the other, for each cosine,
    float32: less than ``likeness`` asks for by any way it has."""
    needed = 1 - (1 - LEAST) / np.maximum(1 - cosines, np.float32(1e-6))
    bound: Matrix = np.minimum(_INDEXED * np.maximum(needed, 0), np.float32(_INDEXED_CONTAINED))
    return bound


def are_apart(one: Profile, other: Profile) -> bool:
    """Whether something in two memories shows that they are about different things, or contradict."""
    if one.domain != other.domain:
        return True
    if any(one.claims[key].isdisjoint(other.claims[key]) for key in one.claims.keys() & other.claims.keys()):
        return True
    verbatim = _dice(one.words, other.words) >= _NEAR_VERBATIM
    if _subjects_apart(one, other, verbatim):
        return True
    return any(_facts_apart(ours, theirs, one, other) for ours, theirs in _counterparts(one, other))


def fact_is_contained(ours: FactProfile, theirs: FactProfile) -> bool:
    """Whether a fact says nothing that another does not say too."""
    if ours.negations != theirs.negations:
        return False
    said, by = ours.said, theirs.said
    details = ours.numbers | ours.names
    return len(said) >= 1 and details <= by and len(said & by) >= _CONTAINED * len(said)


def facts_say_the_same(ours: FactProfile, theirs: FactProfile) -> bool:
    """Whether a fact says what another says with hardly another word, and no number or name of its own."""
    if ours.negations != theirs.negations or not ours.numbers | ours.names <= theirs.plain | theirs.said:
        return False
    return _dice(ours.words, theirs.words) >= _NEAR_VERBATIM


# --- contained ------------------------------------------------------------------------


def _containment(one: Profile, other: Profile) -> Relation:
    if _is_within(one, other):
        return Relation.CONTAINED
    return Relation.CONTAINS if _is_within(other, one) else Relation.SAME


def _is_within(one: Profile, other: Profile) -> bool:
    """Whether each fact of a memory stands in one of a longer memory's."""
    if len(one.said) < _LEAST_WORDS or len(other.said) < _LONGER_BY * len(one.said):
        return False
    if len(one.said & other.said) < _CONTAINED * len(one.said):
        return False
    return all(any(fact_is_contained(fact, longer) for longer in other.facts) for fact in one.facts)


# --- apart ----------------------------------------------------------------------------


def _counterparts(one: Profile, other: Profile) -> Iterator[tuple[FactProfile, FactProfile]]:
    """Facts of two memories that speak of the same thing. Of two single facts it is taken for granted."""
    if len(one.facts) == len(other.facts) == 1:
        yield one.facts[0], other.facts[0]
        return
    for ours, theirs in product(one.facts, other.facts):
        if _overlap(ours.words, theirs.words) >= _SAME_MATTER:
            yield ours, theirs


def _facts_apart(ours: FactProfile, theirs: FactProfile, one: Profile, other: Profile) -> bool:
    our_numbers, their_numbers = ours.numbers - other.numbers, theirs.numbers - one.numbers
    if our_numbers - _values(other) and their_numbers - _values(one):
        return True
    if _names_apart(ours.names - other.plain, theirs.names - one.plain):
        return True
    our_words, their_words = ours.plain - other.plain, theirs.plain - one.plain
    if _exclude(our_words, their_words):
        return True
    return _only_details_differ(ours, theirs, our_words, their_words)


def _only_details_differ(
    ours: FactProfile, theirs: FactProfile, our_words: Words, their_words: Words
) -> bool:
    """Whether two facts of nearly the same words are set apart by what is left: a name, or a "not"."""
    our_names, their_names = ours.maybe & our_words, theirs.maybe & their_words
    rest = ours.words - _stemmed(our_names), theirs.words - _stemmed(their_names)
    alike = _dice(*rest)
    if alike >= _VERBATIM and ours.negations != theirs.negations:
        return True
    return alike >= _NEAR_VERBATIM and _names_apart(our_names, their_names)


def _subjects_apart(one: Profile, other: Profile, verbatim: bool) -> bool:
    """Whether the subjects name different things. Facts that say the same of two subjects are a pattern
    that recurs, unless a number or a name in them is the thing's own."""
    ours, theirs = one.subject - other.subject, other.subject - one.subject
    ours = frozenset(word for word in ours if stem_of(word) not in _stemmed(other.subject))
    theirs = frozenset(word for word in theirs if stem_of(word) not in _stemmed(one.subject))
    if _has_digit(ours) and _has_digit(theirs):
        return True
    if _exclude(ours, theirs) or (verbatim and not words_that_name_one().isdisjoint(ours | theirs)):
        return True
    if not (verbatim and ours and theirs):
        return False
    own = (one.numbers & other.numbers) | (one.names & other.names) | _shared_claims(one, other)
    told = one.plain | other.plain
    return not own or bool(ours & told and theirs & told)


def _names_apart(ours: Words, theirs: Words) -> bool:
    """Whether both sides have a name that is no form of one on the other side."""
    left = [name for name in ours if not any(same_name(name, known) for known in theirs)]
    right = [name for name in theirs if not any(same_name(name, known) for known in ours)]
    return bool(left and right)


def _exclude(ours: Words, theirs: Words) -> bool:
    """Whether a word on one side and one on the other are of one group of words that exclude each other."""
    groups = groups_of_word()
    left = _union(groups.get(word, frozenset()) for word in ours)
    return bool(left and left & _union(groups.get(word, frozenset()) for word in theirs))


def _shared_claims(one: Profile, other: Profile) -> Words:
    keys = one.claims.keys() & other.claims.keys()
    return frozenset(key for key in keys if one.claims[key] & other.claims[key])


def _values(profile: Profile) -> Words:
    return frozenset().union(*profile.claims.values())


def _has_digit(words: Words) -> bool:
    return any(any(map(str.isdecimal, word)) for word in words)


def _stemmed(words: Iterable[str]) -> Words:
    return frozenset(map(stem_of, words))


def _union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def _dice(one: Words, other: Words) -> float:
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0


def _overlap(one: Words, other: Words) -> float:
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0
