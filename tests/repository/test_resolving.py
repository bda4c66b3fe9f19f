"""What a person decides about a conflict, and taking that back."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, Conflict, Decision, MemoryRepository
from tests.repository.conftest import PayloadMaker


@pytest.fixture
def conflict(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> Conflict:
    """Two memories of one subject: a states port 7777, b states 8888."""
    repository.add(payload("Gateway", "listens on port=7777 behind the proxy"), agent)
    other = repository.add(payload("Other", "port=8888; zone=north"), agent).memory_id
    return repository.update(other, {"subject": "Gateway"}, agent, patch=True).conflicts[0]


def _facts(repository: MemoryRepository, memory_id: str) -> tuple[str, ...]:
    return repository.get(memory_id).memory.facts


def _row(repository: MemoryRepository) -> Conflict:
    (row,) = repository.conflicts()
    return row


def test_keeping_one_side_corrects_the_fact_of_the_other(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    decision = Decision.of("keep_a", "moved in May")
    result = repository.resolve_conflict(conflict.id, decision, person)
    assert _facts(repository, conflict.memory_b_id) == ("port=7777; zone=north",)
    row = _row(repository)
    assert (row.status, row.resolution_type, row.resolution) == ("resolved", "human", "keep_a")
    assert (row.resolved_by, row.resolution_note) == ("console:ada", "moved in May")
    assert result.conflict == row


def test_keeping_the_other_side_leaves_the_words_around_the_value(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("keep_b", "it moved"), person)
    assert _facts(repository, conflict.memory_a_id) == ("listens on port=8888 behind the proxy",)


def test_a_corrected_value_that_comes_back_opens_the_conflict_again(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("keep_a", "moved"), person)
    repository.update(conflict.memory_b_id, {"facts": ["port=8888"]}, person, patch=True)
    row = _row(repository)
    assert (row.status, row.value_a, row.value_b) == ("open", "7777", "8888")


def test_a_superseded_loser_keeps_its_words_and_the_winner_says_so(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("keep_a", "old", loser="superseded"), person)
    assert _facts(repository, conflict.memory_b_id) == ("port=8888; zone=north",)
    superseded = repository.snapshot().superseded_by([conflict.memory_b_id])
    assert superseded == {conflict.memory_b_id: conflict.memory_a_id}
    repository.update(conflict.memory_b_id, {"tags": ["still"]}, person, patch=True)
    assert _row(repository).status == "resolved"


def test_both_stand_until_a_value_changes(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("both_stand", "two listeners"), person)
    repository.update(conflict.memory_a_id, {"quality": 0.9}, person, patch=True)
    assert _row(repository).resolution == "both_stand"
    repository.update(conflict.memory_a_id, {"facts": ["port=9999"]}, person, patch=True)
    assert (_row(repository).status, _row(repository).value_a) == ("open", "9999")


def test_both_sides_can_be_edited_in_one_operation(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    edits = {"a": {"facts": ["port=7777 inside"]}, "b": {"facts": ["outside_port=8888", "zone=north"]}}
    generation = repository.snapshot().generation
    result = repository.resolve_conflict(conflict.id, Decision.of("edited", "two kinds", edits=edits), person)
    assert repository.snapshot().generation == generation + 1
    assert _facts(repository, conflict.memory_b_id) == ("outside_port=8888", "zone=north")
    assert _row(repository).resolution == "edited"
    assert repository.snapshot().lexical("outside", limit=5)[0][0] == conflict.memory_b_id
    assert set(repository.undo(result.operation_id, person).undone) == set(result.changed)
    assert _facts(repository, conflict.memory_b_id) == ("port=8888; zone=north",)


@pytest.mark.parametrize(
    "decision",
    [
        Decision.of("keep_a", "why"),
        Decision.of("keep_b", "why", loser="superseded"),
        Decision.of("both_stand", "why"),
    ],
    ids=["corrected", "superseded", "both_stand"],
)
def test_a_decision_is_undone_whole_and_that_is_undone_too(
    repository: MemoryRepository, person: Author, conflict: Conflict, decision: Decision
) -> None:
    result = repository.resolve_conflict(conflict.id, decision, person)
    decided = _row(repository)
    facts = {name: _facts(repository, name) for name in result.changed}

    undone = repository.undo(result.operation_id, person)

    row = _row(repository)
    assert set(undone.undone) == set(result.changed)
    assert (row.status, row.value_a, row.value_b) == ("open", "7777", "8888")
    assert repository.snapshot().superseded_by(result.changed) == {}

    repository.undo(undone.operation_id, person)
    assert _row(repository) == decided
    assert {name: _facts(repository, name) for name in result.changed} == facts


def test_the_history_of_both_memories_holds_the_decision(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    result = repository.resolve_conflict(conflict.id, Decision.of("both_stand", "two listeners"), person)
    for name in result.changed:
        newest = repository.revisions(name)[0]
        assert (newest.operation, newest.note) == ("resolve_conflict", "two listeners")
        assert [row.status for row in newest.ledger()] == ["open"]


def test_a_reopened_conflict_waits_again_and_reopening_is_undone_too(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("both_stand", "two listeners"), person)
    decided = _row(repository)
    result = repository.reopen_conflict(conflict.id, person, note="only one is left")
    assert _row(repository).status == result.conflict.status == "open"
    repository.undo(result.operation_id, person)
    assert _row(repository) == decided


def test_an_archived_decision_can_be_reopened(
    repository: MemoryRepository, person: Author, conflict: Conflict, payload: PayloadMaker
) -> None:
    object.__setattr__(repository._context, "conflict_limit", 0)
    repository.resolve_conflict(conflict.id, Decision.of("both_stand", "two listeners"), person)
    assert repository.conflicts() == []
    assert [row.id for row in repository.conflicts(status="archived")] == [conflict.id]
    repository.reopen_conflict(conflict.id, person, note="look again")
    assert _row(repository).status == "open"
    assert repository.conflicts(status="archived") == []


def test_what_no_longer_disagrees_is_not_reopened(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("keep_a", "moved"), person)
    with pytest.raises(MemsuiteError) as refused:
        repository.reopen_conflict(conflict.id, person, note="again")
    assert refused.value.code is ErrorCode.INVALID_PARAMETER


def test_only_an_open_conflict_is_decided(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    repository.resolve_conflict(conflict.id, Decision.of("both_stand", "why"), person)
    for name, code in (
        (conflict.id, ErrorCode.CONFLICT_NOT_OPEN),
        ("nobody", ErrorCode.CONFLICT_NOT_FOUND),
    ):
        with pytest.raises(MemsuiteError) as refused:
            repository.resolve_conflict(name, Decision.of("keep_a", "why"), person)
        assert refused.value.code is code


def test_edits_that_still_disagree_are_refused(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    decision = Decision.of("edited", "why", edits={"a": {"facts": ["port=1"]}})
    with pytest.raises(MemsuiteError) as refused:
        repository.resolve_conflict(conflict.id, decision, person)
    assert refused.value.code is ErrorCode.CONFLICTING_CLAIMS
    assert _row(repository) == conflict


def test_a_correction_that_would_only_repeat_the_other_memory_is_refused(
    repository: MemoryRepository, agent: Author, person: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("Gateway", "port=7777"), agent)
    other = repository.add(payload("Other", "port=8888"), agent).memory_id
    row = repository.update(other, {"subject": "Gateway"}, agent, patch=True).conflicts[0]
    with pytest.raises(MemsuiteError) as refused:
        repository.resolve_conflict(row.id, Decision.of("keep_a", "why"), person)
    assert refused.value.code is ErrorCode.DUPLICATE_MEMORY


def test_a_memory_changed_since_it_was_read_refuses_the_decision(
    repository: MemoryRepository, person: Author, conflict: Conflict
) -> None:
    seen = {conflict.memory_a_id: repository.get(conflict.memory_a_id).memory.revision}
    repository.update(conflict.memory_a_id, {"quality": 0.9}, person, patch=True)
    with pytest.raises(MemsuiteError) as refused:
        decision = Decision.of("both_stand", "why", revisions=seen)
        repository.resolve_conflict(conflict.id, decision, person)
    assert refused.value.code is ErrorCode.VERSION_CONFLICT


@pytest.mark.parametrize(
    ("resolution", "more", "code"),
    [
        ("keep_c", {"note": "why"}, ErrorCode.INVALID_PARAMETER),
        ("keep_a", {"note": " "}, ErrorCode.REQUIRED_FIELD),
        ("keep_a", {"note": "why", "loser": "deleted"}, ErrorCode.INVALID_PARAMETER),
        ("edited", {"note": "why"}, ErrorCode.INVALID_PARAMETER),
        ("both_stand", {"note": "why", "edits": {"a": {}}}, ErrorCode.INVALID_PARAMETER),
    ],
)
def test_a_decision_is_checked_before_anything_else(
    resolution: str, more: dict[str, object], code: ErrorCode
) -> None:
    with pytest.raises(MemsuiteError) as refused:
        Decision.of(resolution, **more)  # type: ignore[arg-type]
    assert refused.value.code is code
