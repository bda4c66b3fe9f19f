"""The contradiction ledger: what opens a row, what closes it, and who may reopen it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, Conflict, MemoryRepository, schema
from memories.repository.ledger import BOTH_STAND, HUMAN, RESOLVED
from memories.repository.records import now
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder


def _clash(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> tuple[str, str]:
    """Two memories of one subject that state different ports: an update makes the second so."""
    one = repository.add(payload("Gateway", "port=7777"), agent).memory_id
    two = repository.add(payload("Other", "port=8888"), agent).memory_id
    repository.update(two, {"subject": "Gateway"}, agent, patch=True)
    return one, two


def _decide(repository: MemoryRepository, resolution: str = BOTH_STAND) -> Conflict:
    """A person's decision, as the console will write it."""
    row = repository.conflicts(status="open")[0]
    decided = replace(
        row,
        status=RESOLVED,
        resolution_type=HUMAN,
        resolution=resolution,
        resolution_note="both are in use",
        resolved_by="ada",
        resolved_at=now(),
    )
    author = Author("console:ada", source="console")
    with repository._store.transaction(author, "resolve", wait=5) as transaction:
        transaction.replace(schema.CONFLICTS, decided.as_row())
    return decided


def test_an_update_that_makes_two_memories_disagree_opens_a_row(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one, two = _clash(repository, agent, payload)
    (row,) = repository.conflicts()
    assert (row.memory_a_id, row.memory_b_id) == (one, two)
    assert (row.claim_key, row.value_a, row.value_b, row.status) == ("port", "7777", "8888", "open")
    assert repository.snapshot().open_conflict_counts([one, two]) == {one: 1, two: 1}


def test_an_update_that_ends_the_clash_closes_the_row(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one, _ = _clash(repository, agent, payload)
    repository.update(one, {"facts": ["port=8888", "moved in May"]}, agent, patch=True)
    (row,) = repository.conflicts(status="resolved")
    assert (row.resolution_type, row.resolved_by) == ("auto", "system")


def test_a_deletion_closes_and_a_restore_opens_again(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one, _ = _clash(repository, agent, payload)
    assert repository.delete(one, agent).conflicts_closed == 1
    assert repository.conflicts(status="open") == []
    assert [row.status for row in repository.restore(one, agent).conflicts] == ["open"]


def test_a_human_decision_stays_until_a_value_changes(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one, two = _clash(repository, agent, payload)
    decided = _decide(repository)
    repository.update(one, {"tags": ["net"]}, agent, patch=True)
    repository.update(two, {"facts": ["port=8888", "still"]}, agent, patch=True)
    assert repository.conflicts(status="open") == []
    repository.update(two, {"facts": ["port=9999"]}, agent, patch=True)
    (row,) = repository.conflicts(status="open")
    assert (row.conflict_key, row.value_b) == (decided.conflict_key, "9999")


def test_accepted_values_no_longer_block_an_add(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    _clash(repository, agent, payload)
    _decide(repository)
    result = repository.add(payload("Gateway", "port=7777", "and more"), agent)
    assert result.status == "update_suggested"
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Gateway", "port=1111"), agent)
    assert refused.value.code is ErrorCode.CONFLICTING_CLAIMS


def test_a_decision_for_one_side_does_not_let_both_values_stand(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    _clash(repository, agent, payload)
    _decide(repository, "keep_a")
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Gateway", "port=8888", "again"), agent)
    assert refused.value.code is ErrorCode.CONFLICTING_CLAIMS


def test_resolved_rows_beyond_the_limit_move_to_the_archive_oldest_first(
    settings: Settings, fast_embedder: Embedder, agent: Author, payload: PayloadMaker
) -> None:
    repository = MemoryRepository.open(replace(settings, conflict_resolved_limit=1), fast_embedder)
    first = _clash(repository, agent, payload)
    repository.delete(first[0], agent)
    for name in ("Second", "Third"):
        one = repository.add(payload(name, "zone=north"), agent).memory_id
        two = repository.add(payload(f"{name}_other", "zone=south"), agent).memory_id
        repository.update(two, {"subject": name}, agent, patch=True)
        repository.delete(one, agent)
    assert len(repository.conflicts(status="resolved")) == 1
    archived = repository.conflicts(status="archived")
    assert [row.claim_key for row in archived] == ["zone", "port"]
    assert all(row.archived_at is not None for row in archived)


def test_an_archived_row_comes_back_when_its_clash_does(
    settings: Settings, fast_embedder: Embedder, agent: Author, payload: PayloadMaker
) -> None:
    repository = MemoryRepository.open(replace(settings, conflict_resolved_limit=0), fast_embedder)
    one, _ = _clash(repository, agent, payload)
    repository.delete(one, agent)
    assert len(repository.conflicts(status="archived")) == 1
    repository.restore(one, agent)
    assert repository.conflicts(status="archived") == []
    assert [row.status for row in repository.conflicts()] == ["open"]
