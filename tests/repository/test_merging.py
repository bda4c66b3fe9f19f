"""Merging: one memory of several, with everything that hung on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker


@dataclass(frozen=True)
class Group:
    """A keeper, two memories that say much the same, and one that points at both of those."""

    keeper: str
    first: str
    second: str
    source: str

    @property
    def others(self) -> tuple[str, str]:
        return self.first, self.second


@pytest.fixture
def group(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> Group:
    def stored(subject: str, *facts: str, **more: Any) -> str:
        return repository.add(payload(subject, *facts, **more), agent).memory_id

    target = stored("Proxy")
    keeper = stored("Gateway", "listens on port=7777", tags=["Net"])
    first = stored(
        "Gateway_two", "zone=north", tags=["north"], relations=[{"type": "uses", "target_id": target}]
    )
    second = stored("Gateway_three", relations=[{"type": "depends", "target_id": first}])
    uses = [{"type": "uses", "target_id": first}, {"type": "uses", "target_id": second}]
    labelled = [{"type": "depends", "target": "Orchard:Gateway_three"}]
    source = stored("Client", relations=[*uses, *labelled])
    return Group(keeper, first, second, source)


def _merge(repository: MemoryRepository, group: Group, author: Author, **payload: Any) -> Any:
    return repository.merge(group.keeper, group.others, payload, author, note="said twice")


def _edges(repository: MemoryRepository, ids: Sequence[str]) -> set[tuple[str, str, str, str]]:
    return {
        (edge.source_id, edge.relation_type, edge.target_id, edge.target_label)
        for edge in repository.snapshot().edges_of(ids)
    }


FACTS = ["listens on port=7777", "zone=north"]


def test_the_keeper_takes_the_chosen_facts_and_the_others_go_to_the_trash(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    generation = repository.snapshot().generation
    result = _merge(repository, group, person, facts=FACTS)
    memory = repository.get(group.keeper).memory
    assert memory.facts == tuple(FACTS)
    assert (memory.revision, memory.operation_id) == (result.revision, result.operation_id)
    assert {entry.memory_id for entry in repository.trash()[1]} == set(group.others)
    assert repository.snapshot().generation == generation + 1


def test_the_chosen_facts_are_embedded_anew(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    _merge(repository, group, person, facts=FACTS)
    expected = repository.embedder.embed_documents(["Orchard Gateway: " + " ".join(FACTS)])[0]
    (found,) = repository.snapshot().vectors_of([group.keeper]).matrix
    assert found @ expected == pytest.approx(1.0, abs=1e-5)


def test_tags_are_united(repository: MemoryRepository, person: Author, group: Group) -> None:
    _merge(repository, group, person, facts=FACTS)
    assert {"Net", "north"} <= set(repository.get(group.keeper).memory.tags)


def test_relations_lead_to_the_keeper_once_and_never_to_itself(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    result = _merge(repository, group, person, facts=FACTS)
    assert result.repointed == (group.source,)
    edges = _edges(repository, [group.keeper, group.source, *group.others])
    assert {edge[:3] for edge in edges if edge[0] == group.source} == {
        (group.source, "uses", group.keeper),
        (group.source, "depends", group.keeper),
    }
    assert [edge[1] for edge in edges if edge[0] == group.keeper] == ["uses"]
    assert len(edges) == 3


def test_a_relation_declared_by_label_keeps_its_label(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    _merge(repository, group, person, facts=FACTS)
    labelled = {edge[2:] for edge in _edges(repository, [group.source]) if edge[1] == "depends"}
    assert labelled == {(group.keeper, "Orchard:Gateway_three")}


def test_one_undo_brings_everything_back(repository: MemoryRepository, person: Author, group: Group) -> None:
    everybody = [group.keeper, group.source, *group.others]
    edges = _edges(repository, everybody)
    before = {name: repository.get(name).memory.content for name in everybody}
    fingerprint = repository.get(group.source).memory.fingerprint
    result = _merge(repository, group, person, facts=FACTS)

    undone = repository.undo(result.operation_id, person)

    assert set(undone.undone) == set(everybody)
    assert {name: repository.get(name).memory.content for name in everybody} == before
    assert _edges(repository, everybody) == edges
    assert repository.get(group.source).memory.fingerprint == fingerprint


def test_a_disagreement_between_the_merged_is_closed(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    patch = {"subject": "Gateway", "facts": ["port=8888"]}
    repository.update(group.first, patch, person, patch=True)
    assert len(repository.conflicts(status="open")) == 1
    result = _merge(repository, group, person, facts=["port=8888"])
    assert result.conflicts_closed == 1
    assert repository.conflicts(status="open") == []
    repository.undo(result.operation_id, person)
    assert len(repository.conflicts(status="open")) == 1


def test_the_words_of_one_of_the_merged_are_no_duplicate(
    repository: MemoryRepository, agent: Author, person: Author, payload: PayloadMaker
) -> None:
    one = repository.add(payload("Gateway", "zone=north"), agent).memory_id
    two = repository.add(payload("Gate", "zone=south"), agent).memory_id
    result = repository.merge(one, [two], {"subject": "Gate", "facts": ["zone=south"]}, person)
    assert repository.get(one).memory.content == result.canonical_content


def test_without_a_choice_the_keeper_stays_as_it_says(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    repository.merge(group.keeper, group.others, {}, person)
    assert repository.get(group.keeper).memory.facts == ("listens on port=7777",)


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        ({"facts": ["two\nlines"]}, ErrorCode.MULTILINE_FACT),
        ({"facts": ["AKIA" + "Q3EGRIPTHC7ZNWLX" + " opens it"]}, ErrorCode.SECRET_DETECTED),
        ({"colour": "blue"}, ErrorCode.UNKNOWN_FIELD),
    ],
    ids=lambda value: str(value) if isinstance(value, ErrorCode) else "",
)
def test_what_is_refused_changes_nothing(
    repository: MemoryRepository, person: Author, group: Group, chosen: dict[str, Any], code: ErrorCode
) -> None:
    generation = repository.snapshot().generation
    with pytest.raises(MemsuiteError) as refused:
        repository.merge(group.keeper, group.others, chosen, person)
    assert refused.value.code is code
    assert repository.snapshot().generation == generation


def test_a_memory_changed_since_it_was_read_refuses_the_merge(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    seen = {name: repository.get(name).memory.revision for name in (group.keeper, *group.others)}
    repository.update(group.second, {"quality": 0.9}, person, patch=True)
    with pytest.raises(MemsuiteError) as refused:
        repository.merge(group.keeper, group.others, {}, person, revisions=seen)
    assert refused.value.code is ErrorCode.VERSION_CONFLICT
    assert repository.count() == 5


def test_more_tags_than_a_memory_holds_are_for_the_person_to_choose(
    repository: MemoryRepository, person: Author, group: Group
) -> None:
    for name, letter in zip((group.keeper, group.first), "ab", strict=True):
        tags = [f"{letter}{number}" for number in range(15)]
        repository.update(name, {"tags": tags}, person, patch=True)
    with pytest.raises(MemsuiteError) as refused:
        _merge(repository, group, person, facts=FACTS)
    assert refused.value.code is ErrorCode.TOO_MANY_TAGS
    _merge(repository, group, person, facts=FACTS, tags=["chosen"])
    assert repository.get(group.keeper).memory.tags == ("chosen",)


def test_a_merge_of_one_is_none(repository: MemoryRepository, person: Author, group: Group) -> None:
    with pytest.raises(MemsuiteError) as refused:
        repository.merge(group.keeper, [group.keeper], {}, person)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
