"""The public corpus in a database of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from maintenance.bench.asking import LastQuery
from maintenance.bench.corpus import CorpusMemory, payload_with_ids
from maintenance.bench.operation import BENCH
from maintenance.bench.workspace import settings_in
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from memories.embedding import Embedder

TODAY = datetime(2026, 11, 30, tzinfo=UTC)
"""The corpus' "today", from which its memories count their days."""


@contextmanager
def database(directory: Path, embedder: Embedder) -> Iterator[MemoryRepository]:
    """An empty database, closed at the end."""
    with MemoryRepository.open(settings_in(directory, fsync=False), LastQuery(embedder)) as repository:
        yield repository


def put(repository: MemoryRepository, memories: Iterable[CorpusMemory]) -> dict[str, str]:
    """Store memories and give their ids by key. A relation to a memory that is not among them is left
    out, so that a part of the corpus can be stored. Those that relate to nothing stored yet come first,
    each wave in one commit."""
    ids: dict[str, str] = {}
    waiting = {memory.key: memory for memory in memories}
    while waiting:
        wave = [memory for memory in waiting.values() if not waiting.keys() & _targets(memory)]
        payloads = [payload_with_ids(_without_strangers(memory, ids), ids) for memory in wave]
        days = [TODAY + timedelta(days=memory.created_day) for memory in wave]
        for memory, result in zip(wave, repository.add_many(payloads, BENCH, at=days), strict=True):
            if isinstance(result, MemsuiteError):
                raise result
            ids[memory.key] = result.memory_id
            del waiting[memory.key]
    return ids


def _targets(memory: CorpusMemory) -> set[str]:
    return {one["target_id"] for one in memory.payload.get("relations", []) if "target_id" in one}


def _without_strangers(memory: CorpusMemory, known: Collection[str]) -> CorpusMemory:
    relations = memory.payload.get("relations", [])
    kept = [one for one in relations if one.get("target_id", "") in known or "target_id" not in one]
    return replace(memory, payload={**memory.payload, "relations": kept})
