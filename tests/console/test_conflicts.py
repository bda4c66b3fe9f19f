"""Conflicts: both claims side by side, decided each way, undone and reopened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.console.curation_models import ConflictResolution
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Conflict, MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:conflicts")


@pytest.fixture
def disputed(repository: MemoryRepository) -> Conflict:
    """Two memories of one subject: A keeps tables for 900 seconds, B for 600."""
    repository.add(payload(facts=["Serves tide tables, cache_ttl=900", "port=8410"]), AUTHOR)
    other = repository.add(payload("Tides", facts=["Tide tables are cached, cache_ttl=600"]), AUTHOR)
    repository.update(other.memory_id, {"subject": "Tide_API"}, AUTHOR, patch=True)
    (conflict,) = repository.conflicts(status="open")
    return conflict


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def page_of(client: Client, conflict: Conflict) -> Page:
    return Page(client.get(reverse("console:conflict", args=[conflict.id])))


def decide(
    client: Client, conflict: Conflict, resolution: str, note: str = "Measured", **fields: str
) -> Page:
    page = page_of(client, conflict)
    return Page(press(client, page, "Decide", resolution=resolution, note=note, **fields))


def facts(repository: MemoryRepository, memory_id: str) -> tuple[str, ...]:
    return repository.get(memory_id).memory.facts


def agent_says(repository: MemoryRepository, value: str) -> str:
    """What becomes of the agent's next add on the subject: its status, or the code of its refusal."""
    try:
        return str(repository.add(payload(facts=[f"cache_ttl={value}", "Told again"]), AUTHOR).status)
    except MemsuiteError as error:
        return str(error.code)


def test_the_list_names_what_is_disputed(disputed: Conflict, curator: Client) -> None:
    page = Page(curator.get(URL))

    assert "Open 1 Resolved 0 Archived 0" in page.text
    assert "2 memories disagree about cache_ttl" in page.text
    assert "cache_ttl=900 or cache_ttl=600" in page.text
    assert reverse("console:conflict", args=[disputed.id]) in page.links


def test_the_list_of_one_memory_leaves_others_out(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    other = repository.add(payload("Gauges"), AUTHOR)

    mine = Page(curator.get(URL, {"memory": disputed.memory_a_id}))
    others = Page(curator.get(URL, {"memory": other.memory_id}))

    assert "2 memories disagree" in mine.text
    assert "No open conflict of this memory" in others.text


def test_both_claims_are_shown_with_source_and_dates(disputed: Conflict, curator: Client) -> None:
    text = page_of(curator, disputed).text

    assert "cache_ttl= 900 number" in text
    assert "cache_ttl= 600 number" in text
    assert text.count("Source agent Session s-1") == 2
    assert "Fact 1 of B becomes cache_ttl=900" in text
    assert "Fact 1 of A becomes cache_ttl=600" in text


def test_a_value_is_dated_by_the_revision_that_brought_it(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    changed = {"facts": ["Serves tide tables, cache_ttl=800", "port=8410"]}
    repository.update(disputed.memory_a_id, changed, AUTHOR, patch=True)
    repository.update(disputed.memory_a_id, {"quality": 0.7}, AUTHOR, patch=True)

    text = page_of(curator, disputed).text

    assert ", revision 2 Recalled" in text  # A: the value came second, the quality third
    assert ", revision 1 Recalled" in text  # B: the subject came second, the value was there


@pytest.mark.parametrize(
    ("kept", "lost_fact", "agrees", "differs"),
    [
        ("keep_a", "Tide tables are cached, cache_ttl=900", "900", "600"),
        ("keep_b", "Serves tide tables, cache_ttl=600", "600", "900"),
    ],
)
def test_keeping_a_side_corrects_the_other(
    disputed: Conflict, repository: MemoryRepository, curator: Client, kept: str, lost_fact: str, agrees: str,
    differs: str,
) -> None:  # fmt: skip
    done = decide(curator, disputed, kept)

    lost = disputed.memory_b_id if kept == "keep_a" else disputed.memory_a_id
    assert lost_fact in facts(repository, lost)
    assert "Kept A for cache_ttl" in done.text or "Kept B for cache_ttl" in done.text
    assert agent_says(repository, agrees) == "update_suggested"
    assert agent_says(repository, differs) == ErrorCode.CONFLICTING_CLAIMS


def test_a_kept_side_can_supersede_the_other(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    decide(curator, disputed, "keep_a", loser="superseded")

    assert facts(repository, disputed.memory_b_id) == ("Tide tables are cached, cache_ttl=600",)
    superseding = repository.snapshot().superseded_by([disputed.memory_b_id])
    assert superseding == {disputed.memory_b_id: disputed.memory_a_id}


def test_where_both_stand_either_value_may_be_told(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    decide(curator, disputed, "both_stand", note="Two caches")

    assert agent_says(repository, "900") == agent_says(repository, "600") == "update_suggested"
    assert agent_says(repository, "300") == ErrorCode.CONFLICTING_CLAIMS


def test_an_edit_of_both_is_stored(disputed: Conflict, repository: MemoryRepository, curator: Client) -> None:
    decide(
        curator,
        disputed,
        "edited",
        facts_a="Serves tide tables, cache_ttl=700\nport=8410",
        facts_b="Tide tables are cached, cache_ttl=700",
    )

    assert facts(repository, disputed.memory_a_id) == ("Serves tide tables, cache_ttl=700", "port=8410")
    assert agent_says(repository, "700") == "update_suggested"


def test_a_decision_without_a_reason_is_refused_and_keeps_what_was_typed(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    address = reverse("console:conflict", args=[disputed.id])
    answer = curator.post(address, {"resolution": "keep_b", "note": "  "})

    page = Page(answer)
    assert answer.status_code == 400
    assert "Nothing was decided A reason is required. required_field" in page.text
    assert ("resolution", "keep_b") in page.form("Decide").fields
    assert repository.conflicts(status="open")


def test_an_edit_that_still_disagrees_is_refused(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    page = decide(curator, disputed, "edited", facts_b="Tide tables are cached, cache_ttl=650")

    assert "The two memories would still disagree" in page.text
    assert repository.conflicts(status="open")


def test_a_memory_that_changed_meanwhile_is_not_decided_about(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    page = page_of(curator, disputed)
    repository.update(disputed.memory_b_id, {"quality": 0.9}, AUTHOR, patch=True)

    refused = Page(press(curator, page, "Decide", resolution="keep_a", note="Late"))

    assert "version_conflict" in refused.text
    assert "Show it as it is now" in refused.text
    assert repository.conflicts(status="open")


def test_undo_takes_a_decision_back(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    done = decide(curator, disputed, "keep_a")

    press(curator, done, "Undo")

    assert facts(repository, disputed.memory_b_id) == ("Tide tables are cached, cache_ttl=600",)
    assert [row.id for row in repository.conflicts(status="open")] == [disputed.id]


def test_a_decision_can_be_reopened_with_a_reason(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    decide(curator, disputed, "both_stand")
    page = page_of(curator, disputed)

    again = Page(press(curator, page, "Reopen the conflict", note="Only one cache after all"))

    assert "Reopened the conflict about cache_ttl" in again.text
    assert [row.id for row in repository.conflicts(status="open")] == [disputed.id]
    assert "Only one cache after all" in again.text


def test_what_no_longer_differs_cannot_be_reopened(disputed: Conflict, curator: Client) -> None:
    decide(curator, disputed, "keep_a")

    refused = Page(press(curator, page_of(curator, disputed), "Reopen the conflict", note="Why not"))

    assert "The two memories no longer disagree" in refused.text


def test_both_claims_are_kept_as_they_stood(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    decide(curator, disputed, "keep_a", note="Raised in spring")

    kept = ConflictResolution.objects.get()
    assert (kept.resolution, kept.loser, kept.actor) == ("keep_a", "corrected", "console:curator")
    assert kept.claims["a"]["value"] == "900"
    assert kept.claims["b"]["value"] == "600"
    assert "cache_ttl=600" in kept.claims["b"]["content"]
    page = page_of(curator, disputed)
    assert "Raised in spring Stood then: A cache_ttl=900 from agent, B cache_ttl=600 from agent" in page.text


def test_the_history_tells_of_a_decision(disputed: Conflict, curator: Client) -> None:
    decide(curator, disputed, "keep_a", note="Raised in spring")

    text = Page(curator.get(reverse("console:audit"))).text

    assert "resolve" in text.lower()


def test_the_next_open_conflict_follows(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    other = repository.add(payload("Port", facts=["port=1"]), AUTHOR)
    rival = repository.add(payload("Port_too", facts=["port=2"]), AUTHOR)
    repository.update(rival.memory_id, {"subject": "Port"}, AUTHOR, patch=True)
    assert other.memory_id
    newest, oldest = repository.conflicts(status="open")

    following = decide(curator, newest, "both_stand")

    assert oldest.id == disputed.id
    assert "2 memories disagree about cache_ttl" in following.text


def test_a_viewer_reads_and_decides_nothing(disputed: Conflict, client_as: ClientAs) -> None:
    viewer = client_as("viewer")

    assert not page_of(viewer, disputed).has_button("Decide")
    address = reverse("console:conflict", args=[disputed.id])
    assert viewer.post(address, {"resolution": "keep_a", "note": "x"}).status_code == 403


def test_the_conflict_of_a_trashed_memory_is_shown_and_not_decided(
    disputed: Conflict, repository: MemoryRepository, curator: Client
) -> None:
    repository.delete(disputed.memory_b_id, AUTHOR)

    page = page_of(curator, disputed)

    assert "No longer stored" in page.text
    assert not page.has_button("Decide")
    assert not page.has_button("Reopen the conflict")
