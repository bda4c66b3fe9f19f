"""The map page, its points, its panel, and the layout as a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from console.samples import AUTHOR, payload
from django.http import HttpResponse
from django.test import Client

from memories.console.job_models import Job
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs


@pytest.fixture
def viewer(client_as: ClientAs) -> Client:
    return client_as("viewer")


@pytest.fixture
def ids(repository: MemoryRepository) -> list[str]:
    forms = [payload(f"Tide_{at}", facts=[f"Serves table {at}"], tier=1 + at % 3) for at in range(6)]
    added = [result.memory_id for result in repository.add_many(forms, AUTHOR)]  # type: ignore[union-attr]
    return sorted(added)


def unpacked(answer: HttpResponse) -> tuple[dict[str, object], np.ndarray, bytes, bytes, list[str]]:
    """Header, places, categories, tiers and ids of the packed points."""
    header, _, body = answer.content.partition(b"\n")
    told = json.loads(header)
    n = told["count"]
    xy = np.frombuffer(body[: 8 * n], "<f4").reshape(n, 2)
    names = body[12 * n :].decode().split("\n")
    return told, xy, body[8 * n : 9 * n], body[9 * n : 10 * n], names


def test_the_page_lists_categories_with_links(viewer: Client, ids: list[str]) -> None:
    page = viewer.get("/map/").content.decode()

    assert "/memories/?category=tech" in page
    assert "6 memories" in page


def test_an_empty_database_says_so(viewer: Client) -> None:
    page = viewer.get("/map/").content.decode()

    assert "No memories yet" in page
    assert "sigma" not in page


def test_every_memory_is_a_point(viewer: Client, ids: list[str]) -> None:
    told, xy, categories, tiers, names = unpacked(viewer.get("/map/points/"))

    assert names == ids
    assert (told["method"], told["total"], told["sample"]) == ("components", 6, False)
    assert xy.shape == (6, 2)
    assert np.isfinite(xy).all()
    assert {told["categories"][at] for at in categories} == {"tech"}  # type: ignore[index]
    assert sorted(tiers) == [1, 1, 2, 2, 3, 3]


def test_what_holds_some_words_is_found(viewer: Client, ids: list[str]) -> None:
    answer = viewer.get("/map/found/", {"q": "table 3", "how": "contains"})

    assert len(answer.content.decode().split("\n")) == 1


def test_the_panel_shows_a_memory_and_its_nearest(viewer: Client, ids: list[str]) -> None:
    answer = viewer.get(f"/map/memory/{ids[0]}/", headers={"HX-Request": "true"})

    assert answer.content.decode().count("/memories/0") >= 6


def test_the_panel_of_a_memory_that_is_gone_says_so(viewer: Client, ids: list[str]) -> None:
    assert viewer.get("/map/memory/0198/").status_code == 404


def test_health_counts_what_has_a_vector(viewer: Client, ids: list[str]) -> None:
    assert "6 of 6" in viewer.get("/map/health/").content.decode()


def test_a_viewer_lays_nothing_out(viewer: Client, ids: list[str]) -> None:
    assert viewer.post("/map/layout/").status_code == 403


def test_one_layout_at_a_time(client_as: ClientAs, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # Queued and not started: the job itself is tested with the others that run in a process of their own.
    monkeypatch.setattr("memories.console.jobs.start_waiting", lambda: None)
    curator = client_as("curator")

    first, second = curator.post("/map/layout/"), curator.post("/map/layout/")

    assert first["Location"] == second["Location"]
    assert Job.objects.count() == 1
