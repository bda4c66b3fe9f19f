"""The graph page: every memory, three kinds of edges, and the same as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload
from console.test_map import unpacked
from django.test import Client

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs


@pytest.fixture
def viewer(client_as: ClientAs) -> Client:
    return client_as("viewer")


@pytest.fixture
def ids(repository: MemoryRepository) -> list[str]:
    """A service, a copy of it in other words, and something that depends on the service."""
    service = repository.add(
        payload("Tide_API", facts=["Serves tide tables per harbour on port 8410"]), AUTHOR
    )
    copy = repository.add(
        payload("Tide_tables", facts=["Serves tide tables per harbour on port 8411"], tier=1), AUTHOR
    )
    relations = [{"type": "requires", "target_id": service.memory_id}]
    other = repository.add(
        payload("Kettle", facts=["The kettle in the kitchen is blue"], relations=relations, category="fact"),
        AUTHOR,
    )
    return [service.memory_id, copy.memory_id, other.memory_id]


def test_every_memory_is_drawn_with_what_ties_it(viewer: Client, ids: list[str]) -> None:
    *_, names = unpacked(viewer.get("/graph/points/"))
    edges = viewer.get("/graph/edges/", {"threshold": "0.6"}).json()

    assert names == sorted(ids)
    assert [edge[:2] for edge in edges["likeness"]] == [sorted(ids[:2])]
    assert edges["declared"] == [[ids[2], ids[0], "requires"]]
    assert [(hub["name"], hub["members"]) for hub in edges["hubs"]] == [("Havlys", sorted(ids))]


def test_likeness_below_the_threshold_is_not_drawn(viewer: Client, ids: list[str]) -> None:
    assert viewer.get("/graph/edges/", {"threshold": "1"}).json()["likeness"] == []


def test_hubs_follow_the_choice(viewer: Client, ids: list[str]) -> None:
    found = viewer.get("/graph/edges/", {"group": "category"}).json()["hubs"]

    assert [hub["name"] for hub in found] == ["tech"]
    assert viewer.get("/graph/edges/", {"group": "none"}).json()["hubs"] == []


def test_a_tier_and_a_neighbourhood_narrow_it(viewer: Client, ids: list[str]) -> None:
    *_, tier = unpacked(viewer.get("/graph/points/", {"tier": "1"}))
    *_, around = unpacked(viewer.get("/graph/points/", {"memory": ids[2]}))

    assert tier == [ids[1]]
    assert around == sorted([ids[2], ids[0]])


def test_the_edges_are_a_table_too(viewer: Client, ids: list[str]) -> None:
    page = viewer.get("/graph/").content.decode()

    assert "requires" in page
    assert "Kettle" in page


@pytest.mark.parametrize("query", ["group=moon", "threshold=much", "threshold=7", "tier=9", "threshold=nan"])
def test_a_choice_that_cannot_be_is_refused(viewer: Client, ids: list[str], query: str) -> None:
    assert viewer.get(f"/graph/?{query}").status_code == 400
