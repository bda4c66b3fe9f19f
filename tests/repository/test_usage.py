"""The usage side store: counts that rank nothing and whose loss loses nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memories.repository import Author, MemoryRepository, Usage
from tests.repository.conftest import PayloadMaker


@pytest.fixture
def stored(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> str:
    return repository.add(payload(), agent).memory_id


def test_recalls_add_up(repository: MemoryRepository, stored: str) -> None:
    repository.usage.record_recall([stored, stored])
    repository.usage.record_recall([stored])
    usage = repository.usage.of([stored])[stored]
    assert usage.recalls == 2
    assert usage.last_recalled_at is not None


def test_browsing_counts_nothing(repository: MemoryRepository, stored: str) -> None:
    repository.get(stored)
    repository.list_memories()
    assert repository.usage.of([stored]) == {}


def test_a_broken_side_store_reaches_nobody(repository: MemoryRepository, stored: str) -> None:
    (repository.path / ".memsuite" / "usage.db").write_bytes(b"not a database, not at all" * 50)
    repository.usage.record_recall([stored])
    assert repository.usage.of([stored]) == {}
    assert repository.get(stored).as_answer()["memory"]["access_count"] == 0


def test_freshness_falls_from_the_last_recall_or_else_from_creation(
    repository: MemoryRepository, stored: str
) -> None:
    memory = repository.get(stored).memory
    later = memory.created_at + timedelta(days=10)
    assert Usage().signals(memory, memory.created_at).freshness == 1.0
    assert Usage().signals(memory, later).freshness == round(0.985**10, 4)
    recalled = Usage(recalls=1, last_recalled_at=later - timedelta(days=1))
    assert recalled.signals(memory, later).freshness == 0.985


def test_trust_grows_with_confirmations_and_is_full_where_a_person_approved(
    repository: MemoryRepository, stored: str
) -> None:
    memory = repository.get(stored).memory
    assert [Usage(confirmations=count).signals(memory).trust for count in (0, 1, 2)] == [0.5, 0.6, 0.68]
    assert Usage().signals(replace(memory, approved_by="ada")).trust == 1.0


def test_tier_one_is_protected(repository: MemoryRepository, stored: str) -> None:
    memory = replace(repository.get(stored).memory, tier=1, quality=0.1)
    signals = Usage().signals(memory)
    assert (signals.protected, signals.quality, signals.persisted_quality) == (True, 0.5, 0.1)
    assert Usage().signals(replace(memory, tier=2)).quality == 0.1
