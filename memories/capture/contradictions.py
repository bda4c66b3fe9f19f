"""What contradicts a tier-1 memory, a sentence or a memory: by its words alone, for a person to look at.

Claims that differ are the ledger's matter. Here it is about prose: a sentence that rejects the value a memory
states, states another one of the same thing, or forbids what the memory asks for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memories.analysis.neighbours import neighbour_graph
from memories.contract import Tier
from memories.repository import Filter, MemoryRepository, Snapshot, StoredMemory
from memories.repository.vectors import Vector
from memories.text.languages import languages_of_stop_word
from memories.text.normalise import tokens
from memories.text.query import analyse

NEAR = 10
"""Tier-1 memories compared with a sentence: the nearest by meaning."""

_REJECTED = re.compile(
    r"\b(?:not|instead of|rather than|no longer|ikke|ikkje|i stedet for|istedenfor|framfor|fremfor)\s+"
    r"(?:(?:on|in|at|to|the|a|på|i|til)\s+){0,2}([\w./:@#-]+(?:\s[\w./:@#-]+)?)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:never|not|don'?t|do not|no longer|must not|stop|avoid|aldri|ikke|ikkje|slutt|unngå)\b",
    re.IGNORECASE,
)
# A value set against another one at the end: `…, not in Drammen.`
_CONTRAST = re.compile(r",?\s(?:not|ikke|ikkje)\s(?:\w{1,4}\s)?[\w./:@#-]+\s?[.!]?$", re.IGNORECASE)
_VALUE = re.compile(r"(?<![\w.])(?:\d[\w.:/-]*|[/~][\w./-]+|[\w-]+\.[a-z]{2,5})(?!\w)", re.IGNORECASE)

# For two statements to be about one thing: this share of the words of the shorter one, and at least two.
_SAME_MATTER, _LEAST_SHARED = 0.8, 2
# For one to forbid what the other asks for: this share of the words of the one that is held against it.
_SAME_ORDER = 0.7


_Words = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A memory that a sentence contradicts, and in what."""

    memory: StoredMemory
    reason: str


def values_in(text: str) -> frozenset[str]:
    """Numbers, versions, paths and host names in a text, as written but for closing punctuation."""
    return frozenset(found.rstrip(".:/-").lower() for found in _VALUE.findall(text))


def forbids(text: str) -> bool:
    """Whether a text denies or forbids; `7788, not 7777` states a value and does neither."""
    return bool(_NEGATION.search(without_contrast(text)))


def without_contrast(text: str) -> str:
    """`The port is 7788, not 7777.` as `The port is 7788`: what holds, without what does not."""
    return _CONTRAST.sub("", text)


def contradiction(sentence: str, memory: StoredMemory) -> str:
    """Why a sentence contradicts a memory, in a few words; "" where it does not."""
    return _contradiction(sentence, memory.facts, f"{memory.domain} {memory.subject}")


# In a later state most pairs are what they were.
@lru_cache(maxsize=50_000)
def _contradiction(sentence: str, facts: tuple[str, ...], name: str) -> str:
    about = _words(sentence)
    if _shared(about, _words(f"{name} {' '.join(facts)}")):
        rejected = _rejected_value(sentence, " ".join(facts))
        if rejected:
            return f"it rejects {rejected}, which the memory states"
    return next(filter(None, (_against(sentence, about, fact) for fact in facts)), "")


def _against(sentence: str, about: _Words, fact: str) -> str:
    """Why a sentence of such words contradicts one fact; "" where it does not."""
    stated = _words(fact)
    shared = _shared(about, stated)
    if shared < _LEAST_SHARED:
        return ""
    if shared / len(about) >= _SAME_ORDER and forbids(sentence) != forbids(fact):
        return "one forbids what the other asks for"
    mine, theirs = values_in(sentence), values_in(fact)
    same_matter = shared / min(len(about), len(stated)) >= _SAME_MATTER
    return "it gives another value" if same_matter and mine and theirs and not mine & theirs else ""


@lru_cache(maxsize=20_000)
def _words(text: str) -> _Words:
    """For each word of content that is no value, the forms that count as the same."""
    terms = (term for term in analyse(text).terms if not any(map(str.isdigit, term.word)))
    return tuple(term.variants | {term.word} for term in terms)


def _shared(words: _Words, others: _Words) -> int:
    return sum(any(word & other for other in others) for word in words)


def contradicted(
    snapshot: Snapshot, sentence: str, vector: Vector, *, but: Iterable[str] = ()
) -> tuple[Contradiction, ...]:
    """The tier-1 memories near a sentence that it contradicts. `vector` is the sentence's own unit vector,
    `but` are ids to leave out."""
    near = snapshot.nearest(vector, where=Filter(tier=int(Tier.CRITICAL)), limit=NEAR)
    left_out = set(but)
    memories = snapshot.memories(name for name, _ in near if name not in left_out)
    found = ((memory, contradiction(sentence, memory)) for memory in memories.values())
    return tuple(Contradiction(memory, reason) for memory, reason in found if reason)


def contradicted_by_each(
    repository: MemoryRepository, sentences: Sequence[str], vectors: Sequence[Vector]
) -> list[tuple[Contradiction, ...]]:
    """The same for several sentences, against one state of the database."""

    def read(snapshot: Snapshot) -> list[tuple[Contradiction, ...]]:
        if not snapshot.count:
            return [()] * len(sentences)
        return [contradicted(snapshot, one, vector) for one, vector in zip(sentences, vectors, strict=True)]

    return repository.read(read)


@dataclass(frozen=True, slots=True)
class Opposed:
    """A memory that contradicts a tier-1 memory; `says` tells a person in what. Revisions are those that
    were compared."""

    memory_id: str
    revision: int
    critical_id: str
    critical_revision: int
    says: str


def opposed(repository: MemoryRepository) -> list[Opposed]:
    """The memories that contradict a tier-1 memory among whose nearest they are, the newest first. Of two
    tier-1 memories the newer one is named; a superseded one binds nobody."""
    graph = neighbour_graph(repository)

    def read(snapshot: Snapshot) -> list[Opposed]:
        critical = {memory.id: memory for memory in snapshot.memories_where(f"tier = {int(Tier.CRITICAL)}")}
        superseded = snapshot.superseded_by(list(critical)) if critical else {}
        near = {
            name: [other for other, _ in graph.of(name)[:NEAR]] for name in critical if name not in superseded
        }
        # All at once: one reading of the table costs about as much as ten rows.
        memories = snapshot.memories(dict.fromkeys(other for others in near.values() for other in others))
        found = [
            opposing
            for name, others in near.items()
            for other in others
            if other in memories and (opposing := _opposing(memories[other], critical[name], critical))
        ]
        return sorted(found, key=lambda one: one.memory_id, reverse=True)

    return repository.read(read)


def _opposing(memory: StoredMemory, critical: StoredMemory, all_critical: Collection[str]) -> Opposed | None:
    if memory.id in all_critical and memory.created_at <= critical.created_at:
        return None
    reason = next(filter(None, (contradiction(fact, critical) for fact in memory.facts)), "")
    if not reason:
        return None
    says = f"It contradicts the tier-1 memory {critical.domain}:{critical.subject}: {reason}."
    return Opposed(memory.id, memory.revision, critical.id, critical.revision, says)


def _rejected_value(sentence: str, stated: str) -> str:
    """What the sentence says is not so, where the memory says it."""
    held = set(tokens(stated))
    for found in _REJECTED.finditer(sentence):
        rejected = found[1].rstrip(".,;:!?")
        words = tokens(rejected)
        telling = set(words) - languages_of_stop_word().keys()
        if telling and set(words) <= held:
            return rejected
    return ""
