"""The numbers of the rail over a large database: never waited for, brought when they are counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload

from memories.console import rail_counts
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client


@pytest.fixture
def viewer(client_as: ClientAs, repository: MemoryRepository, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Over a database whose numbers are not counted at once."""
    monkeypatch.setattr(rail_counts, "AT_ONCE", 0)
    repository.add(payload("One", tags=["api", "tide"]), AUTHOR)
    return client_as("viewer")


def numbers(content: str) -> dict[str, str]:
    """The numbers of the rail by the page they are of."""
    return dict(re.findall(r'id="n-(\w+)"[^>]*>([\d,]*)<', content))


def asks(content: str) -> bool:
    return 'hx-get="/rail/"' in content


def test_a_page_comes_without_the_numbers_that_must_be_counted(viewer: Client) -> None:
    content = viewer.get("/jobs/").content.decode()

    assert asks(content)
    shown = numbers(content)
    assert (shown["memories"], shown["jobs"]) == ("1", "0")
    assert (shown["tags"], shown["trash"], shown["stale"]) == ("", "", "")


def test_they_are_brought_and_then_come_with_every_page(viewer: Client) -> None:
    brought = viewer.get("/rail/", headers={"HX-Request": "true"}).content.decode()
    assert numbers(brought)["tags"] == "2"
    assert "<nav" not in brought

    content = viewer.get("/jobs/").content.decode()
    assert not asks(content)
    assert numbers(content) == numbers(brought)


def test_a_change_makes_them_due_again(repository: MemoryRepository, viewer: Client) -> None:
    viewer.get("/rail/")
    repository.add(payload("Two", facts=["Two"], tags=["pier"]), AUTHOR)

    assert asks(viewer.get("/jobs/").content.decode())
    assert numbers(viewer.get("/rail/").content.decode())["tags"] == "3"


def test_over_a_small_database_they_come_at_once(client_as: ClientAs, repository: MemoryRepository) -> None:
    repository.add(payload("One", tags=["api"]), AUTHOR)
    content = client_as("viewer").get("/jobs/").content.decode()

    assert not asks(content)
    assert numbers(content)["tags"] == "1"


def test_the_dashboard_waits_for_none_of_them_either(viewer: Client) -> None:
    before = viewer.get("/dashboard/").content.decode()
    viewer.get("/rail/")
    after = viewer.get("/dashboard/").content.decode()

    assert "being counted" in before
    assert "being counted" not in after
