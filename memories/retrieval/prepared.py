"""What retrieval keeps of one repository's memories between two questions."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from memories.repository import MemoryRepository
from memories.retrieval.document import DocumentCache
from memories.retrieval.held_words import WordIndex


@dataclass(frozen=True)
class Prepared:
    """The words of all memories, and those memories whole that came near an answer."""

    words: WordIndex = field(default_factory=WordIndex)
    documents: DocumentCache = field(default_factory=DocumentCache)


_prepared: WeakKeyDictionary[MemoryRepository, Prepared] = WeakKeyDictionary()
_lock = threading.Lock()


def prepared_for(repository: MemoryRepository) -> Prepared:
    """What belongs to a repository, for as long as the repository lives."""
    with _lock:
        return _prepared.setdefault(repository, Prepared())
