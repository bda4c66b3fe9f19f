"""Saved filters: each person's own, with the number they list now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_seen import Seen, seen
from console.samples import AUTHOR, payload

from memories.console.saved_filter_models import SavedFilter
from memories.console.saved_filters import MOST

if TYPE_CHECKING:
    from console.people import ClientAs, Person
    from django.http import HttpResponse

    from memories.repository import MemoryRepository


@pytest.fixture(autouse=True)
def two(repository: MemoryRepository) -> list[str]:
    return [
        repository.add(payload(name, facts=[f"{name} says something"], tier=tier), AUTHOR).memory_id
        for name, tier in (("Tide", 2), ("Pump", 1))
    ]


def saved_as(client_as: ClientAs, name: str, query: str, role: str = "viewer") -> HttpResponse:
    back = f"/memories/?{query}"
    return client_as(role).post("/saved-filters/", {"name": name, "filter": query, "next": back})


def listed(client_as: ClientAs, address: str = "/memories/", role: str = "viewer") -> Seen:
    return seen(client_as(role).get(address).content)


def test_saving_goes_back_to_the_list_which_shows_it_with_its_count(client_as: ClientAs) -> None:
    answer = saved_as(client_as, "  Critical   ones ", "tier=1")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/memories/?tier=1")

    page = listed(client_as)
    assert page.link("Critical ones 1") == "/memories/?tier=1"


def test_the_count_follows_what_is_stored(client_as: ClientAs, repository: MemoryRepository) -> None:
    saved_as(client_as, "Critical", "tier=1")
    assert listed(client_as).link("Critical 1")
    repository.add(payload("Mast", facts=["Stands"], tier=1), AUTHOR)

    assert listed(client_as).link("Critical 2")


def test_the_count_follows_what_is_recalled(
    client_as: ClientAs, repository: MemoryRepository, two: list[str]
) -> None:
    saved_as(client_as, "Unused", "never_recalled=1")
    assert listed(client_as).link("Unused 2")
    repository.usage.record_recall(two[:1])

    assert listed(client_as).link("Unused 1")


def test_the_one_that_is_shown_is_marked(client_as: ClientAs) -> None:
    saved_as(client_as, "Critical", "tier=1")
    page = listed(client_as, "/memories/?tier=1&size=20")

    assert [link.attributes.get("aria-current") for link in page.all("a") if "Critical" in link.text] == [
        "page"
    ]


def test_a_filter_is_its_owners_alone(client_as: ClientAs, person: Person) -> None:
    saved_as(client_as, "Critical", "tier=1")
    kept = SavedFilter.objects.get()

    assert not [link for link in listed(client_as, role="curator").all("a") if "Critical" in link.text]
    taken = client_as("curator").post(f"/saved-filters/{kept.pk}/", {"action": "delete"})
    assert taken.status_code == 404
    assert SavedFilter.objects.filter(owner=person("viewer")).count() == 1


def test_saving_under_the_same_name_replaces(client_as: ClientAs) -> None:
    saved_as(client_as, "Mine", "tier=1")
    saved_as(client_as, "Mine", "tier=2&tag=api")

    assert [kept.query for kept in SavedFilter.objects.all()] == ["tier=2&tag=api"]


@pytest.mark.parametrize(
    ("name", "query", "says"),
    [
        ("", "tier=1", "A name has 1 to 60 characters."),
        ("x" * 61, "tier=1", "A name has 1 to 60 characters."),
        ("Everything", "sort=oldest", "There is no filter to save"),
    ],
)
def test_what_cannot_be_saved_is_said_in_the_form(
    client_as: ClientAs, name: str, query: str, says: str
) -> None:
    answer = saved_as(client_as, name, query)
    page = seen(answer.content)

    assert answer.status_code == 422
    assert says in page.one(having="m-field__bad").text
    assert page.one("input", name="filter").attributes["value"] == query
    assert not SavedFilter.objects.exists()


def test_a_query_that_does_not_read_is_refused(client_as: ClientAs) -> None:
    assert saved_as(client_as, "Broken", "tier=nine").status_code == 422


def test_there_is_a_most(client_as: ClientAs) -> None:
    for number in range(MOST):
        saved_as(client_as, f"Number {number}", f"tag=t{number}")
    assert saved_as(client_as, "One more", "tier=1").status_code == 422

    assert SavedFilter.objects.count() == MOST
    assert saved_as(client_as, "Number 3", "tier=1").status_code == 302


def test_renaming_and_deleting(client_as: ClientAs) -> None:
    saved_as(client_as, "Critical", "tier=1")
    address = f"/saved-filters/{SavedFilter.objects.get().pk}/"

    client_as("viewer").post(address, {"action": "rename", "name": "Protected"})
    assert listed(client_as).link("Protected 1")
    answer = client_as("viewer").post(address, {"action": "delete"})
    assert answer.headers["Location"] == "/saved-filters/"
    assert not SavedFilter.objects.exists()


def test_a_name_that_another_one_has_is_refused_at_its_field(client_as: ClientAs) -> None:
    saved_as(client_as, "Critical", "tier=1")
    saved_as(client_as, "Other", "tier=2")
    kept = SavedFilter.objects.get(name="Other")
    answer = client_as("viewer").post(f"/saved-filters/{kept.pk}/", {"action": "rename", "name": "Critical"})

    assert answer.status_code == 422
    assert "Another saved filter is named Critical." in seen(answer.content).one(having="m-field__bad").text


def test_an_old_filter_that_no_longer_reads_is_shown_without_a_count(
    client_as: ClientAs, person: Person
) -> None:
    SavedFilter.objects.create(owner=person("viewer"), name="Old", query="category=no_longer")

    assert listed(client_as).link("Old") == "/memories/?category=no_longer"


def test_without_any_the_page_says_how_to_save_one(client_as: ClientAs) -> None:
    assert "No saved filters" in listed(client_as, "/saved-filters/").one(having="m-empty").text
