"""Stores the invented memories through the repository, as any other writer would. Twice adds nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeGuard

from memories.contract import MemoryForm, MemsuiteError, validate_add
from memories.demo.records import DemoMemory, demo_memories

if TYPE_CHECKING:
    from memories.repository import AddResult, MemoryRepository

# Memories in one commit: few enough for a progress line to move, enough for a commit to be worth its cost.
_COMMIT = 12


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """`added` were stored now; `kept` were there already, or have been changed by someone since."""

    added: int
    kept: int


def load_demo(
    repository: MemoryRepository, now: datetime, progress: Callable[[int], None] | None = None
) -> DemoOutcome:
    """Store those of the invented memories that are not there; `progress` hears how many are dealt with.

    Raises `MemsuiteError` as any write does. What was stored before then stays, and the next call goes on.
    """
    present = _contents(repository)
    missing = [memory for memory in demo_memories() if _form(memory).content not in present]
    added = 0
    for start in range(0, len(missing), _COMMIT):
        batch = missing[start : start + _COMMIT]
        added += _store(repository, batch, now)
        if progress is not None:
            progress(len(demo_memories()) - len(missing) + start + len(batch))
    return DemoOutcome(added=added, kept=len(demo_memories()) - added)


def is_somebodys(repository: MemoryRepository) -> bool:
    """Whether this database holds memories, and none of them is invented: then it is no sample."""
    return repository.count() > 0 and not _contents(repository)


def _contents(repository: MemoryRepository) -> set[str]:
    """The texts stored under the subjects of the invented memories."""
    keys = [_form(memory).subject_key for memory in demo_memories()]
    stored = repository.read(lambda snapshot: snapshot.same_subject(keys))
    return {memory.content for same_subject in stored.values() for memory in same_subject}


def _form(memory: DemoMemory) -> MemoryForm:
    return validate_add(memory.payload).form


def _store(repository: MemoryRepository, batch: Sequence[DemoMemory], now: datetime) -> int:
    """How many of the batch are new; a subject whose memory somebody has changed is left to them."""
    from memories.repository import Author

    author = Author(actor="import:demo", source="import:demo")
    payloads = [memory.first_payload for memory in batch]
    results = repository.add_many(payloads, author, at=[now - memory.age for memory in batch])
    stored = [
        (memory, result.memory_id) for memory, result in zip(batch, results, strict=True) if _took(result)
    ]
    for memory, memory_id in stored:
        if memory.first_filed_under:
            repository.update(memory_id, memory.payload, author)
    return len(stored)


def _took(result: AddResult | MemsuiteError) -> TypeGuard[AddResult]:
    return not isinstance(result, MemsuiteError) and result.status.success
