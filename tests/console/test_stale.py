"""Stale memories: shown by bounds, touched, raised or trashed through the flow for many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client


@pytest.fixture
def ids(repository: MemoryRepository) -> dict[str, str]:
    old = datetime.now(UTC) - timedelta(days=200)
    given = {
        "Poor": {"quality": 0.1},
        "Weak": {"quality": 0.3},
        "Fair": {"quality": 0.6},
        "Protected": {"quality": 0.1, "tier": 1},
    }
    return {
        name: repository.add(payload(name, facts=[f"About {name}"], **more), AUTHOR, at=old).memory_id
        for name, more in given.items()
    }


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def shown(client: Client, **query: str) -> Page:
    return Page(client.get("/stale/", query))


def test_low_quality_long_unheard_of_is_listed(curator: Client, ids: dict[str, str]) -> None:
    page = shown(curator)

    assert "2 of 4 memories" in page.text
    assert "Havlys: Poor" in page.text and "Havlys: Weak" in page.text
    assert "Fair" not in page.text and "Protected" not in page.text


def test_bounds_widen_and_narrow_the_list(curator: Client, ids: dict[str, str]) -> None:
    assert "3 of 4 memories" in shown(curator, quality="0.6").text
    assert "1 of 4 memories" in shown(curator, quality="0,2").text
    assert "Nothing is stale" in shown(curator, days="300").text


@pytest.mark.parametrize("query", [{"days": "0"}, {"days": "soon"}, {"quality": "nan"}, {"quality": "2"}])
def test_bounds_that_are_none_are_named(curator: Client, ids: dict[str, str], query: dict[str, str]) -> None:
    answer = curator.get("/stale/", query)

    assert answer.status_code == 400
    assert "invalid_parameter" in Page(answer).text


def test_a_recalled_memory_is_not_stale(
    repository: MemoryRepository, curator: Client, ids: dict[str, str]
) -> None:
    repository.usage.record_recall([ids["Poor"]])

    assert "1 of 4 memories" in shown(curator).text


def test_touching_takes_a_memory_off_the_list(
    repository: MemoryRepository, curator: Client, ids: dict[str, str]
) -> None:
    preview = Page(press(curator, shown(curator), "Touch", id=ids["Poor"]))
    press(curator, preview, "Mark 1 memory")

    assert "1 of 4 memories" in shown(curator).text
    assert repository.get(ids["Poor"]).memory.approved_by == "console:curator"


def test_raising_the_quality_does_too(
    repository: MemoryRepository, curator: Client, ids: dict[str, str]
) -> None:
    chooser = Page(press(curator, shown(curator), "Raise quality", id=ids["Weak"]))
    form = next(form for form in chooser.forms if ("action", "set_quality") in form.fields)
    preview = Page(curator.get(form.action, {"action": "set_quality", "value": "0.7"}))
    press(curator, preview, "Change 1 memory")

    assert "1 of 4 memories" in shown(curator).text


def test_all_that_are_stale_are_selected_by_the_bounds_and_recounted(
    repository: MemoryRepository, curator: Client, ids: dict[str, str]
) -> None:
    everything = {"of": "stale", "everything": "1", "filter": "days=90&quality=0.3", "action": "trash"}
    preview = Page(curator.post("/bulk/", everything, follow=True))
    assert "Move 2 memories to the trash" in preview.text
    repository.usage.record_recall([ids["Poor"]])

    refused = press(curator, preview, "Trash 2 memories")

    assert refused.status_code == 409
    assert repository.count() == 4


def test_a_viewer_sees_the_list_and_no_button(client_as: ClientAs, ids: dict[str, str]) -> None:
    page = shown(client_as("viewer"))

    assert "2 of 4 memories" in page.text
    assert not page.has_button("Move to trash")


def test_an_empty_database_says_so(client_as: ClientAs, repository: MemoryRepository) -> None:
    assert "No memories yet" in shown(client_as("viewer")).text
