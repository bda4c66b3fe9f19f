"""Relations of what comes back: none points nowhere, none that was withdrawn meanwhile returns."""

from __future__ import annotations

import pytest

from memories.repository import Author, BulkChange, MemoryRepository
from tests.repository.conftest import PayloadMaker

RESTORE = BulkChange.of("restore")


@pytest.fixture
def gateway(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> str:
    return repository.add(payload("Gateway"), agent).memory_id


@pytest.fixture
def client(repository: MemoryRepository, agent: Author, payload: PayloadMaker, gateway: str) -> str:
    """A memory that uses the gateway, said by label, and depends on it, said by id."""
    relations = [
        {"type": "uses", "target": "Orchard:Gateway"},
        {"type": "depends", "target_id": gateway},
    ]
    return repository.add(payload("Client", relations=relations), agent).memory_id


def _out(repository: MemoryRepository, memory_id: str) -> set[tuple[str, str]]:
    edges = repository.get(memory_id).edges_out
    found = {(edge.relation_type, edge.memory_id) for edge in edges}
    assert len(found) == len(edges)
    return found


def test_a_restored_memory_does_not_point_at_one_that_went_meanwhile(
    repository: MemoryRepository, agent: Author, gateway: str, client: str
) -> None:
    repository.delete(client, agent)
    repository.delete(gateway, agent)
    repository.restore(client, agent)
    assert _out(repository, client) == {("uses", "")}


def test_its_label_finds_a_successor(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, gateway: str, client: str
) -> None:
    repository.delete(client, agent)
    repository.delete(gateway, agent)
    successor = repository.add(payload("Gateway", "a new one"), agent).memory_id
    repository.restore(client, agent)
    assert _out(repository, client) == {("uses", successor)}


def test_both_ends_restored_together_keep_their_relations(
    repository: MemoryRepository, agent: Author, gateway: str, client: str
) -> None:
    repository.apply(BulkChange.of("trash"), [gateway, client], agent)
    repository.apply(RESTORE, [gateway, client], agent)
    assert _out(repository, client) == {("uses", gateway), ("depends", gateway)}


def test_a_restored_target_leaves_a_label_where_it_points_now(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, gateway: str, client: str
) -> None:
    repository.delete(gateway, agent)
    successor = repository.add(payload("Gateway", "a new one"), agent).memory_id
    repository.restore(gateway, agent)
    assert _out(repository, client) == {("uses", successor), ("depends", gateway)}


def test_a_restored_target_brings_back_no_label_that_was_withdrawn(
    repository: MemoryRepository, agent: Author, gateway: str, client: str
) -> None:
    repository.delete(gateway, agent)
    repository.update(client, {"relations": [{"type": "uses", "target": "Orchard:Proxy"}]}, agent, patch=True)
    repository.restore(gateway, agent)
    assert ("uses", gateway) not in _out(repository, client)


def test_undoing_an_update_of_the_target_brings_back_no_relation_withdrawn_since(
    repository: MemoryRepository, agent: Author, gateway: str, client: str
) -> None:
    changed = repository.update(gateway, {"facts": ["port=2"]}, agent, patch=True)
    repository.update(client, {"relations": []}, agent, patch=True)
    repository.undo(changed.operation_id, agent)
    assert _out(repository, client) == set()
