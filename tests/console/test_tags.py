"""The tags page: counts, and what it offers to do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:tags")


@pytest.fixture
def tagged(repository: MemoryRepository) -> MemoryRepository:
    held = [["backup", "api"], ["backup", "Backup-x"], ["backups"], ["Mer, et terre"], ["backup", "backups"]]
    for at, tags in enumerate(held):
        repository.add(payload(f"Subject_{at}", facts=[f"Fact {at}"], tags=tags), AUTHOR)
    return repository


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def counts(repository: MemoryRepository) -> dict[str, int]:
    return repository.catalogue().counts("tags")


def ticked(client: Client, tags: list[str], action: str, **fields: str) -> Page:
    form = {"of": "tags", "id": tags, "action": action, "next": URL, **fields}
    return Page(client.post(reverse("console:bulk"), form, follow=True))


def test_it_counts_the_memories_of_each_tag(tagged: MemoryRepository, curator: Client) -> None:
    text = Page(curator.get(URL)).text

    assert "5 tags on 5 memories" in text
    assert "backup 3 Havlys" in text
    assert text.index("backup 3") < text.index("backups 2") < text.index("api 1")


@pytest.mark.parametrize(
    ("query", "first", "second"), [("name", "api 1", "backup 3"), ("used", "backup 3", "api 1")]
)
def test_it_sorts_by_name_and_by_last_use(
    tagged: MemoryRepository, curator: Client, query: str, first: str, second: str
) -> None:
    text = Page(curator.get(URL, {"sort": query})).text

    assert text.index(first) < text.index(second)


def test_a_search_narrows_the_list(tagged: MemoryRepository, curator: Client) -> None:
    page = Page(curator.get(URL, {"q": "BACK"}, headers={"HX-Request": "true"}))

    assert "backups 2" in page.text
    assert "api" not in page.text


def test_several_tags_are_merged_into_one_and_that_undone(tagged: MemoryRepository, curator: Client) -> None:
    before = counts(tagged)
    choice = ticked(curator, ["backups", "Backup-x"], "merge_tags")

    preview = Page(press(curator, choice, "Preview", target="backup"))
    assert "Make the tags “backups”, “Backup-x” into “backup” on 3 memories" in preview.text
    assert "3 memories carry “backup” already" in preview.text
    done = Page(press(curator, preview, "Retag 3 memories"))

    assert counts(tagged) == {"backup": 4, "Mer, et terre": 1, "api": 1}
    press(curator, done, "Undo")
    assert counts(tagged) == before


def test_a_tag_is_renamed(tagged: MemoryRepository, curator: Client) -> None:
    page = Page(curator.get(URL))
    form = next(form for form in page.forms if ("target", "") in form.fields)
    preview = Page(
        curator.post(form.action, dict(form.fields) | {"tag": "api", "target": "interface"}, follow=True)
    )

    press(curator, preview, "Retag 1 memory")

    assert "api" not in counts(tagged)
    assert counts(tagged)["interface"] == 1


def test_only_the_case_of_a_tag_is_changed(tagged: MemoryRepository, curator: Client) -> None:
    press(curator, ticked(curator, ["api"], "merge_tags", target="API"), "Retag 1 memory")

    assert "API" in counts(tagged)
    assert "api" not in counts(tagged)


def test_a_tag_with_a_comma_is_one_tag(tagged: MemoryRepository, curator: Client) -> None:
    press(curator, ticked(curator, ["Mer, et terre"], "remove_tags"), "Untag 1 memory")

    assert "Mer, et terre" not in counts(tagged)


def test_a_deleted_tag_leaves_its_memories(tagged: MemoryRepository, curator: Client) -> None:
    preview = ticked(curator, ["backup", "api"], "remove_tags")
    assert "Remove the tags “backup”, “api” from 3 memories" in preview.text

    press(curator, preview, "Untag 3 memories")

    assert counts(tagged) == {"backups": 2, "Backup-x": 1, "Mer, et terre": 1}
    assert tagged.count() == 5


def test_a_memory_that_got_the_tag_meanwhile_makes_the_set_another(
    tagged: MemoryRepository, curator: Client
) -> None:
    preview = ticked(curator, ["api"], "remove_tags")
    tagged.add(payload("Late", facts=["Late"], tags=["api"]), AUTHOR)

    assert press(curator, preview, "Untag 1 memory").status_code == 409


def test_a_suggestion_leads_to_its_preview(tagged: MemoryRepository, curator: Client) -> None:
    page = Page(curator.get(URL))
    assert "plural, 2 memories" in page.text

    preview = Page(press(curator, page, "Preview"))

    assert "Make the tag “backups” into “backup” on 2 memories" in preview.text


def test_a_tag_that_nothing_carries_is_told(tagged: MemoryRepository, curator: Client) -> None:
    assert "No memory carries this tag" in ticked(curator, ["nowhere"], "merge_tags", target="x").text


def test_a_name_that_is_no_tag_is_refused(tagged: MemoryRepository, curator: Client) -> None:
    page = ticked(curator, ["api"], "merge_tags", target="x" * 81)

    assert "tag_too_long" in page.text


def test_entities_are_counted_and_only_read(tagged: MemoryRepository, curator: Client) -> None:
    page = Page(curator.get(URL, {"of": "entities"}))

    assert "No entities yet" in page.text
    assert not page.has_button("Merge")


def test_a_viewer_reads_and_changes_nothing(tagged: MemoryRepository, client_as: ClientAs) -> None:
    viewer = client_as("viewer")
    page = Page(viewer.get(URL))

    assert "backup 3" in page.text
    assert not any(page.has_button(button) for button in ("Merge", "Delete", "Preview"))
    form = {"of": "tags", "id": ["api"], "action": "remove_tags"}
    assert viewer.post(reverse("console:bulk"), form).status_code == 403


def test_who_may_change_memories_but_not_tags_merges_nothing(
    tagged: MemoryRepository, client_as: ClientAs, person: object
) -> None:
    from django.contrib.auth.models import Permission

    user = person("viewer")  # type: ignore[operator]
    user.user_permissions.add(Permission.objects.get(codename="change_memory"))
    form = {"of": "tags", "id": ["api"], "action": "remove_tags"}

    assert client_as("viewer").post(reverse("console:bulk"), form).status_code == 403


def test_no_tags_yet_says_so(repository: MemoryRepository, curator: Client) -> None:
    assert "No tags yet" in Page(curator.get(URL)).text
