"""Relations: labels that resolve by themselves, and ids that must exist."""

from __future__ import annotations

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker


def _uses(label: str) -> dict[str, object]:
    return {"relations": [{"type": "uses", "target": label}]}


@pytest.mark.parametrize("label", ["Orchard:Gateway", "orchard:gateway", "Gateway", "GATEWAY"])
def test_a_label_resolves_to_the_one_memory_it_names(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, label: str
) -> None:
    gateway = repository.add(payload("Gateway"), agent).memory_id
    client = repository.add(payload("Client") | _uses(label), agent).memory_id
    assert repository.get(client).edges_out[0].memory_id == gateway


def test_a_label_written_with_blanks_finds_the_subject_stored_with_underscores(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    client = repository.add(payload("Client") | _uses("Orchard:Api Gateway"), agent).memory_id
    gateway = repository.add(payload("Api Gateway"), agent).memory_id
    assert repository.get(client).edges_out[0].memory_id == gateway


def test_a_label_two_memories_match_stays_unresolved_until_one_of_them_goes(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    one = repository.add(payload("Gateway"), agent).memory_id
    two = repository.add(payload("Gateway") | {"domain": "Harbour"}, agent).memory_id
    client = repository.add(payload("Client") | _uses("Gateway"), agent).memory_id
    assert repository.get(client).edges_out[0].memory_id == ""
    repository.delete(two, agent)
    assert repository.get(client).edges_out[0].memory_id == one


def test_a_label_stays_where_it_points_when_the_subject_is_renamed(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    gateway = repository.add(payload("Gateway"), agent).memory_id
    client = repository.add(payload("Client") | _uses("Gateway"), agent).memory_id
    repository.update(gateway, {"subject": "Front_door"}, agent, patch=True)
    assert repository.get(client).edges_out[0].memory_id == gateway


def test_a_rename_resolves_the_labels_that_waited_for_the_new_name(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    client = repository.add(payload("Client") | _uses("Orchard:Straße"), agent).memory_id
    other = repository.add(payload("Other"), agent).memory_id
    repository.update(other, {"subject": "Straße"}, agent, patch=True)
    assert repository.get(client).edges_out[0].memory_id == other


def test_memories_of_one_batch_resolve_each_other(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add_many([payload("Client") | _uses("Gateway"), payload("Gateway")], agent)
    view = repository.graph_summary()
    assert (view.by_type, view.unresolved) == ({"uses": 1}, 0)


def test_an_id_nobody_has_is_refused(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Client") | {"relations": [{"type": "uses", "target_id": "nobody"}]}, agent)
    assert refused.value.code is ErrorCode.INVALID_RELATION_TARGET
    assert refused.value.field == "relations[0].target_id"
    assert repository.count() == 0


def test_the_repeat_of_a_memory_whose_label_has_resolved_is_idempotent(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("Client") | _uses("Gateway"), agent)
    repository.add(payload("Gateway"), agent)
    assert repository.add(payload("Client") | _uses("Gateway"), agent).status == "idempotent"


def test_the_graph_around_a_memory_goes_as_deep_as_asked(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    first = repository.add(payload("A"), agent).memory_id
    second = repository.add(payload("B") | {"relations": [{"type": "uses", "target_id": first}]}, agent)
    third = repository.add(
        payload("C") | {"relations": [{"type": "uses", "target_id": second.memory_id}]}, agent
    ).memory_id
    near = repository.graph(first, depth=1)
    far = repository.graph(first, depth=2)
    assert [memory.id for memory in near.nodes] == [first, second.memory_id]
    assert {memory.id for memory in far.nodes} == {first, second.memory_id, third}
    assert repository.graph(first, depth=2, limit=2).truncated
