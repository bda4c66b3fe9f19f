"""A memory made ready for comparison: its words counted once, however often it is a candidate."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memories.repository import Snapshot, StoredMemory
from memories.repository.snapshot import State
from memories.retrieval.kinds import kinds_held
from memories.retrieval.rarity import rarity
from memories.text.concepts import concepts_in, concepts_of_compound, concepts_of_word
from memories.text.distance import SHORTEST_MISTYPED_WORD
from memories.text.folding import fold
from memories.text.languages import languages_of_stop_word
from memories.text.normalise import tokens
from memories.text.stems import is_stem, stems

KEPT_DOCUMENTS = 20_000
"""About 6 kB each. Beyond this those prepared first are prepared anew."""


SHOWN_KINDS = frozenset(("command", "path"))
"""Kinds that are concepts too: who shows a command does not say so."""


@dataclass(frozen=True)
class SubjectWords:
    """A subject taken apart; many memories share one."""

    weights: Mapping[str, float]
    """Its words with their rarities; stop words only if there are no others."""

    @staticmethod
    @lru_cache(maxsize=KEPT_DOCUMENTS)
    def of(subject: str) -> SubjectWords:
        words = tuple(dict.fromkeys(tokens(subject.replace("_", " "))))
        informative = tuple(word for word in words if word not in languages_of_stop_word()) or words
        return SubjectWords({word: rarity(word) for word in informative})

    @cached_property
    def concepts(self) -> Mapping[str, frozenset[str]]:
        """What each of the words means."""
        return {
            word: concepts_of_word((word, *stems(word)), ()) or concepts_of_compound(word)
            for word in self.weights
        }


@dataclass(frozen=True)
class Document:
    """A stored memory and what is derived from it alone."""

    memory: StoredMemory
    counts: Mapping[str, int]
    """How often each indexed word and stem occurs."""
    length: int
    """Indexed words, stems not counted, as BM25's document length."""

    @classmethod
    def of(cls, memory: StoredMemory) -> Document:
        indexed = memory.search_text.split()
        length = sum(not is_stem(word) for word in indexed)
        return cls(memory, Counter(indexed), length)

    @cached_property
    def long_words(self) -> frozenset[str]:
        """The words long enough to be compared with other words by likeness."""
        return frozenset(
            word for word in self.counts if len(word) >= SHORTEST_MISTYPED_WORD and word.isalpha()
        )

    @cached_property
    def concepts(self) -> frozenset[str]:
        """What its words mean, as ``memories.text.concepts`` names it, and what its facts show: a command,
        a path."""
        return self._told | (self.kinds & SHOWN_KINDS)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of question that it could answer, as ``kinds`` names them."""
        return kinds_held("\n".join(self.memory.facts), self.counts.keys(), self._told)

    @cached_property
    def _told(self) -> frozenset[str]:
        return concepts_in([word for word in self.memory.search_text.split() if not is_stem(word)])

    @cached_property
    def subject(self) -> SubjectWords:
        """What it is about."""
        return SubjectWords.of(self.memory.subject)

    @cached_property
    def text(self) -> str:
        """Everything a quoted phrase may be found in, folded, with single blanks."""
        memory = self.memory
        name = f"{memory.domain} {memory.subject}"
        whole = "\n".join((name, name.replace("_", " "), memory.content, *memory.facts, *memory.tags))
        return f" {' '.join(fold(whole).split())} "


class DocumentCache:
    """Prepared memories of one repository at its newest state. Thread safe.

    Between two states only what changed is prepared anew; a deleted memory is never asked for again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._kept: dict[str, Document] = {}

    def of(self, snapshot: Snapshot, ids: Iterable[str]) -> dict[str, Document]:
        """The documents of those of ``ids`` that are stored, in their order."""
        wanted = list(dict.fromkeys(ids))
        with self._lock:
            self._follow(snapshot)
            kept = self._kept if self._state == snapshot.state else {}
            found = {name: kept[name] for name in wanted if name in kept}
        missing = [name for name in wanted if name not in found]
        if missing:
            read = {name: Document.of(memory) for name, memory in snapshot.memories(missing).items()}
            found |= read
            self._keep(snapshot, read)
        return {name: found[name] for name in wanted if name in found}

    def _follow(self, snapshot: Snapshot) -> None:
        """Move to the snapshot's state, unless a newer one is kept already."""
        state = snapshot.state
        if self._state is None or not (self._state.reaches(state) or state.reaches(self._state)):
            self._kept = {}
            self._state = state
        elif self._state != state and self._state.reaches(state):
            if self._kept:
                for name in snapshot.changes_since(self._state.generation).written:
                    self._kept.pop(name, None)
            self._state = state

    def _keep(self, snapshot: Snapshot, read: Mapping[str, Document]) -> None:
        with self._lock:
            if self._state != snapshot.state:
                return
            self._kept |= read
            for name in list(self._kept)[: max(0, len(self._kept) - KEPT_DOCUMENTS)]:
                del self._kept[name]
