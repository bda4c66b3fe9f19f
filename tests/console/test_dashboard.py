"""The dashboard: its numbers are exact, and each leads to a list of as many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from console.pages_seen import Seen, seen
from console.samples import AUTHOR, payload

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository

NOW = datetime.now(UTC)


def opened(client_as: ClientAs, role: str = "viewer") -> Seen:
    answer = client_as(role).get("/dashboard/")
    assert answer.status_code == 200
    return seen(answer.content)


def total_of(client_as: ClientAs, address: str) -> int:
    said = seen(client_as("viewer").get(address).content).one(id="list-count").text
    return int(said.split()[0].replace(",", ""))


@pytest.fixture
def stored(repository: MemoryRepository) -> dict[str, str]:
    """Five memories of different kinds and ages; one recalled twice, another once, one pair in conflict."""
    ages = {"Tide": 0, "Pump": 3, "Tax": 40, "Gate": 50, "Gate_north": 90}
    changes: dict[str, dict[str, object]] = {
        "Tide": {"tags": ["tide", "api"]},
        "Pump": {"tier": 1, "category": "fact", "tags": ["tide"]},
        "Tax": {"quality": 0.2, "tags": ["tva"]},
        "Gate": {"facts": ["port=8080"]},
        "Gate_north": {"facts": ["port=9090"], "tier": 3},
    }
    ids = {
        name: repository.add(
            payload(name, **{"facts": [f"{name} says something"]} | changes[name]),
            AUTHOR,
            at=NOW - timedelta(days=age),
        ).memory_id
        for name, age in ages.items()
    }
    repository.update(ids["Gate_north"], {"subject": "Gate"}, AUTHOR, patch=True)
    repository.usage.record_recall([ids["Tide"], ids["Tax"]])
    repository.usage.record_recall([ids["Tax"]])
    return ids


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Memories", "5"),
        ("Added", "2"),
        ("Open conflicts", "1"),
        ("Recalled today", "2"),
        ("Never recalled", "3"),
    ],
)
def test_a_tile_says_a_number(client_as: ClientAs, stored: dict[str, str], label: str, number: str) -> None:
    tile = next(tile for tile in opened(client_as).all(having="m-stat") if tile.text.startswith(label))

    assert tile.text.removeprefix(label).startswith(number)


def test_each_number_leads_to_a_list_of_as_many(client_as: ClientAs, stored: dict[str, str]) -> None:
    page = opened(client_as)
    bars = [(bar.attributes["href"], bar.text) for bar in page.all("a", "m-num")]
    assert len(bars) == 13

    assert {address: total_of(client_as, address) for address, _ in bars} == {
        address: int(number) for address, number in bars
    }


def test_what_waits_leads_to_a_list_of_as_many(client_as: ClientAs, stored: dict[str, str]) -> None:
    page = opened(client_as)
    counts = {
        "Memories in conflict": 2,
        "Older than 30 days, never recalled": 2,
        "Quality 0.3 or less": 1,
    }

    assert {label: total_of(client_as, page.link(label)) for label in counts} == counts
    lines = [" ".join(line.text.split()) for line in page.all("li")]
    assert all(
        any(line.startswith(label) and line.endswith(str(n)) for line in lines) for label, n in counts.items()
    )


def test_the_most_recalled_come_first_and_no_other(client_as: ClientAs, stored: dict[str, str]) -> None:
    page = opened(client_as)

    assert [row.attributes["id"] for row in page.all("li", "m-row")] == [
        f"m-{stored['Tax']}",
        f"m-{stored['Tide']}",
    ]


def test_tags_lead_to_their_memories_most_used_first(client_as: ClientAs, stored: dict[str, str]) -> None:
    page = opened(client_as)
    chips = [chip for chip in page.all("a", "m-chip") if "tag=" in chip.attributes["href"]]
    first = next(chip for chip in chips if chip.text.startswith("tide "))

    assert first.text == "tide 4"
    assert total_of(client_as, first.attributes["href"]) == 4


def test_the_growth_is_told_in_a_table_too(client_as: ClientAs, stored: dict[str, str]) -> None:
    page = opened(client_as)

    assert page.one("caption").text == "Memories at the end of each week"
    assert page.all("td")[-1].text == "5"
    assert len(page.all("td")) == 12


def test_nothing_on_it_needs_an_inline_style(client_as: ClientAs, stored: dict[str, str]) -> None:
    assert not [element for element in opened(client_as).elements if "style" in element.attributes]


def test_the_first_day_says_what_fills_the_page(client_as: ClientAs, repository: MemoryRepository) -> None:
    page = opened(client_as)

    assert "No memories yet" in page.one(having="m-empty").text
    assert not page.all(having="m-plot")
    assert page.link("What is on this machine") == "/welcome/"


def test_only_who_may_add_is_offered_to(client_as: ClientAs, stored: dict[str, str]) -> None:
    def offered(role: str) -> list[str]:
        return [link.text for link in opened(client_as, role).all("a", "m-btn--primary")]

    assert offered("viewer") == []
    assert offered("curator") == ["Add a memory"]
