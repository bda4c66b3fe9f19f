"""The clusters page: what there is, and the memories behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:clusters")


@pytest.fixture
def viewer(client_as: ClientAs) -> Client:
    return client_as("viewer")


@pytest.fixture
def clustered(repository: MemoryRepository) -> MemoryRepository:
    for at, fact in enumerate(("The tide table", "Tide gauges measure the tide", "High tide at noon")):
        repository.add(payload(f"Tide_{at}", facts=[fact], tags=[]), AUTHOR)
    repository.add(
        payload("Giraffe", facts=["Giraffes sleep standing upright"], tags=[]) | {"domain": "Zoo"}, AUTHOR
    )
    return repository


def test_each_cluster_has_a_name_a_size_and_its_memories(clustered: MemoryRepository, viewer: Client) -> None:
    page = Page(viewer.get(URL))

    assert "Clusters 1" in page.text
    assert "Coverage 75 %" in page.text
    (address,) = [
        link for link in page.links if link.startswith(URL) and link not in (URL, f"{URL}isolated/")
    ]
    members = Page(viewer.get(address))
    assert "3 memories" in members.text
    assert "tide" in members.text
    assert "Giraffe" not in members.text


def test_what_is_in_none_is_listed_as_isolated(clustered: MemoryRepository, viewer: Client) -> None:
    assert "Giraffe" in Page(viewer.get(f"{URL}isolated/")).text


def test_an_unknown_cluster_is_not_found(clustered: MemoryRepository, viewer: Client) -> None:
    assert viewer.get(f"{URL}nobody/").status_code == 404


def test_an_empty_database_says_what_is_missing(repository: MemoryRepository, viewer: Client) -> None:
    assert "No clusters" in Page(viewer.get(URL)).text
