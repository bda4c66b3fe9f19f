"""Duplicates: groups at a threshold, facts chosen one by one, merged and undone, or told apart for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.console.curation_models import NotDuplicates
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:duplicates")

KEEPER = ["The tide API serves tables per harbour, cache_ttl=900", "Returns 204 when a harbour has no gauge"]
OTHER = ["Serves tables per harbour, the tide API", "Times are UTC"]


def add(repository: MemoryRepository, subject: str, facts: list[str], **more: object) -> str:
    return repository.add(payload(subject, facts=facts, **more), AUTHOR).memory_id


@pytest.fixture
def pair(repository: MemoryRepository) -> tuple[str, str]:
    """A better and a worse memory of one thing."""
    keeper = add(repository, "Tide_API", ["port=8410 tide tables per harbour", "Replies in UTC"], quality=0.9)
    other = add(
        repository,
        "Tide_tables",
        ["port=8410 tide tables per harbour", "The old path ends in June"],
        tags=["gauges"],
    )
    return keeper, other


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def shown(client: Client, **query: str) -> Page:
    return Page(client.get(URL, {"threshold": "0.80"} | query))


def merge(client: Client, page: Page, **fields: str) -> Page:
    return Page(press(client, page, "Merge 2 memories M", **fields))


def test_without_duplicates_it_says_so(repository: MemoryRepository, curator: Client) -> None:
    add(repository, "Tide_API", ["port=8410"])

    assert "At 0.92 no two memories say the same" in Page(curator.get(URL)).text


def test_a_group_is_shown_fact_by_fact(pair: tuple[str, str], curator: Client) -> None:
    text = shown(curator).text

    assert "1 group, 2 memories at 0.80" in text
    assert "3 facts, 3 kept" in text
    assert "port=8410 tide tables per harbour Same in A and B has it has it" in text
    assert "Replies in UTC Only in A has it Keep Drop" in text
    assert "The old path ends in June Only in B has it Keep Drop" in text


def test_the_better_memory_is_proposed_to_be_kept(pair: tuple[str, str], curator: Client) -> None:
    assert ("keep", pair[0]) in shown(curator).form("Merge 2 memories M").fields


def test_the_merged_memory_is_shown_before(pair: tuple[str, str], curator: Client) -> None:
    text = shown(curator).text

    assert (
        "Havlys:Tide_API port=8410 tide tables per harbour. Replies in UTC. The old path ends in June."
        in text
    )
    assert "api tide gauges" in text


def test_a_preview_follows_the_choices_and_writes_nothing(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    before = repository.snapshot().generation

    page = Page(press(curator, shown(curator), "Preview", fact_2="drop", keep=pair[1]))

    assert (
        "Havlys:Tide_tables port=8410 tide tables per harbour. The old path ends in June. [Tier=2]"
        in page.text
    )
    assert ("fact_2", "drop") in page.form("Merge 2 memories M").fields
    assert repository.snapshot().generation == before


def test_a_merge_keeps_the_chosen_facts_and_unites_the_tags(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    keeper, other = pair
    page = shown(curator)
    previewed = Page(press(curator, page, "Preview", fact_2="drop")).text

    done = merge(curator, page, fact_2="drop")

    assert "Merged 2 memories into Havlys:Tide_API" in done.text
    merged = repository.get(keeper).memory
    assert merged.facts == ("port=8410 tide tables per harbour", "The old path ends in June")
    assert set(merged.tags) >= {"api", "tide", "gauges"}
    assert f"{' '.join(merged.tags)} " in previewed
    assert [revision.memory_id for revision in repository.trash()[1]] == [other]


def test_undo_brings_both_back(pair: tuple[str, str], repository: MemoryRepository, curator: Client) -> None:
    before = {name: repository.get(name).memory.facts for name in pair}
    done = merge(curator, shown(curator))

    press(curator, done, "Undo")

    assert {name: repository.get(name).memory.facts for name in pair} == before


def test_relations_to_the_merged_one_lead_to_the_keeper(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    keeper, other = pair
    user = add(repository, "Map", ["Draws the harbour"], relations=[{"type": "uses", "target_id": other}])
    page = shown(curator)
    assert "1 edge re-pointed" in page.text

    merge(curator, page)

    assert [edge.memory_id for edge in repository.get(user).edges_out] == [keeper]


def test_a_memory_that_changed_meanwhile_is_not_merged(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    page = shown(curator)
    repository.update(pair[1], {"quality": 0.1}, AUTHOR, patch=True)

    refused = merge(curator, page)

    assert "Nothing was merged" in refused.text
    assert "version_conflict" in refused.text
    assert repository.count() == 2


def test_facts_that_are_too_many_together_are_refused_with_the_choices_kept(
    repository: MemoryRepository, curator: Client
) -> None:
    """Seven facts of either with three in common are eleven: one more than fits when a twelfth is kept."""
    common = ["port=8410 host=tide.havlys.internal", "Serves tide tables per harbour", "Replies in UTC"]
    for subject, words in (("Tide_API", "red blue green pink"), ("Tide_tables", "oak elm ash fir birch yew")):
        add(repository, subject, [*common, *(f"The {word} lamp is lit" for word in words.split())])

    page = shown(curator)

    assert "13 facts, 13 kept" in page.text
    assert "too_many_facts" in page.text
    refused = Page(press(curator, page, "Merge 2 memories M", fact_12="drop", fact_13="keep"))
    assert "Merged 2 memories into" in refused.text


def test_what_is_contained_is_marked_and_dropped(repository: MemoryRepository, curator: Client) -> None:
    add(repository, "Tide_API", ["Returns 204 with no body when a harbour has no gauge"])
    long = [
        "Serves tide tables",
        "Returns 204 with no body when a harbour has no gauge at all",
        "Times are UTC",
    ]
    add(repository, "Tide_service", long, quality=0.9)

    text = shown(curator).text

    assert "contained in B" in text
    assert "Contained in fact 2" in text
    assert "4 facts, 3 kept" in text


def test_one_of_three_can_be_left_out(repository: MemoryRepository, curator: Client) -> None:
    fact = "Tide tables per harbour, port=8410"
    ids = [
        add(repository, f"Tide{more}", [fact], quality=q)
        for more, q in (("", 0.9), ("_API", 0.5), ("_service", 0.4))
    ]
    page = shown(curator)

    press(curator, page, "Merge 3 memories M", member=ids[:2])

    assert repository.count() == 2
    assert repository.get(ids[2]).memory.facts == (fact,)


def test_not_duplicates_is_remembered_until_one_says_something_else(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    done = Page(press(curator, shown(curator), "Not duplicates X"))
    assert "Not duplicates: 2 memories" in done.text
    assert "no two memories say the same" in shown(curator).text

    repository.update(pair[1], {"tags": ["moved"]}, AUTHOR, patch=True)
    assert "no two memories say the same" in shown(curator).text

    facts = ["port=8410 tide tables per harbour", "The old path ends in July"]
    repository.update(pair[1], {"facts": facts}, AUTHOR, patch=True)
    assert "1 group, 2 memories" in shown(curator).text


def test_not_duplicates_can_be_undone(pair: tuple[str, str], curator: Client) -> None:
    done = Page(press(curator, shown(curator), "Not duplicates X"))

    press(curator, done, "Undo")

    assert NotDuplicates.objects.count() == 0
    assert "1 group, 2 memories" in shown(curator).text


def test_the_threshold_is_part_of_the_address(pair: tuple[str, str], curator: Client) -> None:
    assert "at 0.99" in shown(curator, threshold="0.99").text
    assert "at 0.92" in shown(curator, threshold="nonsense").text
    assert "at 0.92" in shown(curator, threshold="0.10").text


def test_a_viewer_compares_and_merges_nothing(
    pair: tuple[str, str], repository: MemoryRepository, client_as: ClientAs
) -> None:
    viewer = client_as("viewer")

    page = shown(viewer)

    assert "3 facts" in page.text
    assert not page.has_button("Merge 2 memories M")
    assert viewer.post(reverse("console:duplicates_merge"), {"id": list(pair)}).status_code == 403
    assert viewer.post(reverse("console:duplicates_apart"), {"id": list(pair)}).status_code == 403


def test_a_group_that_is_gone_is_refused(
    pair: tuple[str, str], repository: MemoryRepository, curator: Client
) -> None:
    page = shown(curator)
    repository.delete(pair[1], AUTHOR)

    refused = merge(curator, page)

    assert "selection_changed" in refused.text


def test_the_rail_counts_the_groups(pair: tuple[str, str], curator: Client) -> None:
    threshold_is_passed = "1 group" in shown(curator, threshold="0.92").text
    text = Page(curator.get(reverse("console:memories"))).text

    assert ("Duplicates 1" in text) == threshold_is_passed
