"""One change of many memories: one commit, one operation, one undo."""

from __future__ import annotations

import os

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, BulkChange, MemoryRepository
from tests.repository.conftest import PayloadMaker

MANY = int(os.environ.get("TEST_MANY", "100"))
"""Memories of the largest change in the suite; the closing proof is run with 10000."""


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    names = [payload(f"Subject_{number}", tags=["Old"]) for number in range(5)]
    results = repository.add_many(names, agent)
    return [result.memory_id for result in results if not isinstance(result, MemsuiteError)]


def _tags(repository: MemoryRepository, memory_id: str) -> set[str]:
    return set(repository.get(memory_id).memory.tags)


def test_tags_are_added_in_one_commit_and_taken_back_in_one_undo(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    generation = repository.snapshot().generation
    result = repository.apply(BulkChange.of("add_tags", ["new", "OLD"]), ids, person, note="tidying")
    assert set(result.changed) == set(ids)
    assert repository.snapshot().generation == generation + 1
    assert all({"Old", "new"} <= _tags(repository, name) for name in ids)
    assert all("OLD" not in _tags(repository, name) for name in ids)
    assert repository.revisions(ids[0])[0].note == "tidying"
    assert set(repository.undo(result.operation_id, person).undone) == set(ids)
    assert all("new" not in _tags(repository, name) for name in ids)


def test_an_undo_leaves_what_was_changed_meanwhile(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    result = repository.apply(BulkChange.of("add_tags", ["new"]), ids, person)
    for name in ids[:2]:
        repository.update(name, {"quality": 0.9}, person, patch=True)
    undone = repository.undo(result.operation_id, person)
    assert set(undone.skipped) == set(ids[:2])
    assert "new" in _tags(repository, ids[0])
    assert "new" not in _tags(repository, ids[4])


def test_an_undo_of_many_names_the_two_that_were_changed_meanwhile(
    repository: MemoryRepository, person: Author, payload: PayloadMaker
) -> None:
    results = repository.add_many([payload(f"Many_{number}") for number in range(MANY)], person)
    ids = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    generation = repository.snapshot().generation
    result = repository.apply(BulkChange.of("add_tags", ["checked"]), ids, person)
    assert (len(result.changed), repository.snapshot().generation) == (MANY, generation + 1)
    repository.update(ids[17], {"quality": 0.9}, person, patch=True)
    repository.delete(ids[MANY // 2], person)
    undone = repository.undo(result.operation_id, person)
    assert set(undone.skipped) == {ids[17], ids[MANY // 2]}
    assert len(undone.undone) == MANY - 2
    assert repository.catalogue().counts("tags")["checked"] == 1


def test_a_new_tag_is_searchable(repository: MemoryRepository, person: Author, ids: list[str]) -> None:
    repository.apply(BulkChange.of("add_tags", ["zebrafish"]), ids[:1], person)
    assert [name for name, _ in repository.snapshot().lexical("zebrafish", limit=5)] == ids[:1]


def test_several_tags_become_one(repository: MemoryRepository, person: Author, ids: list[str]) -> None:
    repository.apply(BulkChange.of("add_tags", ["olds"]), ids, person)
    repository.apply(BulkChange.of("merge_tags", ["old", "olds"], target="Elder"), ids, person)
    assert {"Elder"} == {tag for tag in _tags(repository, ids[0]) if tag.lower() in ("old", "olds", "elder")}


def test_removing_a_tag_leaves_the_others(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    before = _tags(repository, ids[0])
    repository.apply(BulkChange.of("remove_tags", ["old"]), ids, person)
    assert _tags(repository, ids[0]) == before - {"Old"}


def test_a_tier_is_rendered_into_the_canonical_text(
    repository: MemoryRepository, person: Author, payload: PayloadMaker, ids: list[str]
) -> None:
    repository.apply(BulkChange.of("set_tier", 1), ids[:1], person)
    assert repository.get(ids[0]).memory.content.endswith("[Tier=1]")
    again = repository.add(payload("Subject_0", tags=["Old"]) | {"tier": 1}, person)
    assert again.status == "idempotent"


def test_a_type_that_echoed_the_category_follows_it(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    repository.apply(BulkChange.of("set_type", "runbook"), ids[:1], person)
    repository.apply(BulkChange.of("set_category", "tech"), ids[:2], person)
    types = [repository.get(name).memory.type for name in ids[:2]]
    assert types == ["runbook", "tech"]


def test_what_is_so_already_is_not_written(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    generation = repository.snapshot().generation
    result = repository.apply(BulkChange.of("set_quality", 0.5), ids, person)
    assert (result.changed, set(result.unchanged), result.operation_id) == ((), set(ids), "")
    assert repository.snapshot().generation == generation


def test_each_memory_that_cannot_be_changed_is_named(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    many = [f"tag {number}" for number in range(18)]
    repository.apply(BulkChange.of("add_tags", many), ids[:1], person)
    result = repository.apply(BulkChange.of("add_tags", ["a", "b", "c"]), [*ids[:2], "nobody"], person)
    assert result.changed == (ids[1],)
    assert {name: error.code for name, error in result.refused.items()} == {
        ids[0]: ErrorCode.TOO_MANY_TAGS,
        "nobody": ErrorCode.MEMORY_NOT_FOUND,
    }


def test_many_go_to_the_trash_and_come_back(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    repository.apply(BulkChange.of("trash"), ids, person)
    assert (repository.count(), repository.trash()[0]) == (0, 5)
    result = repository.apply(BulkChange.of("restore"), [*ids, "nobody"], person)
    assert set(result.changed) == set(ids)
    assert set(result.refused) == {"nobody"}
    assert (repository.count(), repository.trash()[0]) == (5, 0)


def test_a_reviewed_memory_names_its_reviewer(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    repository.apply(BulkChange.of("mark_reviewed"), ids[:1], person)
    memory = repository.get(ids[0]).memory
    assert memory.approved_by == "console:ada"
    assert memory.reviewed_at is not None


@pytest.mark.parametrize(
    ("action", "value", "code"),
    [
        ("explode", None, ErrorCode.INVALID_PARAMETER),
        ("set_tier", 7, ErrorCode.INVALID_TIER),
        ("set_category", "poem", ErrorCode.INVALID_CATEGORY),
        ("set_quality", 2, ErrorCode.INVALID_QUALITY),
        ("add_tags", "text", ErrorCode.INVALID_TYPE),
    ],
)
def test_a_value_is_checked_before_anything_else(action: str, value: object, code: ErrorCode) -> None:
    with pytest.raises(MemsuiteError) as refused:
        BulkChange.of(action, value)
    assert refused.value.code is code


def test_progress_is_told_up_to_the_last(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    told: list[tuple[int, int]] = []
    repository.apply(BulkChange.of("set_quality", 0.9), ids, person, progress=lambda *at: told.append(at))
    assert told[-1] == (5, 5)


def test_one_memory_supersedes_many_in_one_operation(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    change = BulkChange.of("supersede", ids[0])
    result = repository.apply(change, [*ids[1:3], ids[0], "nobody"], person)
    assert set(result.changed) == set(ids[1:3])
    assert {name: error.code for name, error in result.refused.items()} == {
        ids[0]: ErrorCode.INVALID_RELATION_TARGET,
        "nobody": ErrorCode.MEMORY_NOT_FOUND,
    }
    assert repository.snapshot().superseded_by(ids) == {ids[1]: ids[0], ids[2]: ids[0]}
    again = repository.apply(change, ids[1:4], person)
    assert (again.changed, set(again.unchanged)) == ((ids[3],), set(ids[1:3]))
    assert repository.undo(again.operation_id, person).undone == (ids[0],)
    assert repository.snapshot().superseded_by(ids) == {ids[1]: ids[0], ids[2]: ids[0]}


def test_a_memory_is_not_superseded_by_the_one_it_supersedes(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    repository.apply(BulkChange.of("supersede", ids[0]), ids[1:2], person)
    result = repository.apply(BulkChange.of("supersede", ids[1]), [ids[0], ids[2]], person)
    assert (result.changed, set(result.refused)) == ((ids[2],), {ids[0]})


def test_superseding_needs_a_memory_that_is_stored(
    repository: MemoryRepository, person: Author, ids: list[str]
) -> None:
    with pytest.raises(MemsuiteError) as refused:
        repository.apply(BulkChange.of("supersede", "nobody"), ids, person)
    assert refused.value.code is ErrorCode.MEMORY_NOT_FOUND
