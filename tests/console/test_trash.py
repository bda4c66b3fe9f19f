"""The trash: what lies there, finding it, bringing it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.repository import Author, MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:trash")


@pytest.fixture
def deleted(repository: MemoryRepository) -> list[str]:
    """Three memories in the trash, taken there in this order by three actors; a fourth is stored."""
    names = ["Old_gateway", "Pump", "Essai"]
    ids = [repository.add(payload(name, facts=[f"{name} is gone"]), AUTHOR).memory_id for name in names]
    repository.add(payload("Kept", facts=["Stays"]), AUTHOR)
    for memory_id, actor in zip(ids, ("agent", "console:ingrid", "command"), strict=True):
        repository.delete(memory_id, Author(actor=actor), note=f"note of {actor}")
    return ids


def stored(repository: MemoryRepository) -> set[str]:
    return set(repository.catalogue().table["subject"].to_pylist())


def test_it_lists_what_was_deleted_last_first_with_who_and_why(
    deleted: list[str], client_as: ClientAs
) -> None:
    text = Page(client_as("viewer").get(URL)).text

    assert text.index("Essai") < text.index("Pump") < text.index("Old_gateway")
    assert "ingrid, console, just now" in text
    assert "note of console:ingrid" in text
    assert "Kept" not in text


def test_a_search_looks_in_subjects_and_facts(deleted: list[str], client_as: ClientAs) -> None:
    client = client_as("viewer")

    assert "Pump" in Page(client.get(URL, {"q": "PUMP is"})).text
    assert "Essai" not in Page(client.get(URL, {"q": "PUMP is"})).text
    assert "0 of 3 match" in Page(client.get(URL, {"q": "nowhere"})).text


def test_one_row_is_restored_whatever_else_is_ticked(
    repository: MemoryRepository, deleted: list[str], client_as: ClientAs
) -> None:
    curator = client_as("curator")
    form = {"of": "trash", "action": "restore", "only": deleted[0], "id": deleted[1:], "next": URL}

    preview = Page(curator.post(reverse("console:bulk"), form, follow=True))
    assert "Restore 1 memory from the trash" in preview.text
    assert "Added: Old_gateway is gone" in preview.text
    done = Page(press(curator, preview, "Restore 1 memory"))

    assert "Restored 1 memory from the trash" in done.text
    assert stored(repository) == {"Old_gateway", "Kept"}


def test_all_that_match_a_search_are_restored_and_that_undone(
    repository: MemoryRepository, deleted: list[str], client_as: ClientAs
) -> None:
    curator = client_as("curator")
    page = Page(curator.get(URL, {"q": "is gone"}))

    preview = Page(press(curator, page, "Select all 3 matching"))
    done = Page(press(curator, preview, "Restore 3 memories"))
    assert stored(repository) == {"Old_gateway", "Pump", "Essai", "Kept"}
    press(curator, done, "Undo")

    assert stored(repository) == {"Kept"}


def test_a_memory_restored_meanwhile_makes_the_set_another(
    repository: MemoryRepository, deleted: list[str], client_as: ClientAs
) -> None:
    curator = client_as("curator")
    form = {"of": "trash", "action": "restore", "everything": "1", "filter": "", "next": URL}
    preview = Page(curator.post(reverse("console:bulk"), form, follow=True))
    repository.restore(deleted[0], AUTHOR)

    refused = press(curator, preview, "Restore 3 memories")

    assert refused.status_code == 409
    assert "selection_changed" in Page(refused).text


def test_what_lies_in_the_trash_takes_no_other_change(deleted: list[str], client_as: ClientAs) -> None:
    form = {"of": "trash", "action": "add_tags", "value": "x", "id": deleted}

    assert client_as("curator").post(reverse("console:bulk"), form).status_code == 400


def test_a_viewer_sees_no_button_and_restores_nothing(
    repository: MemoryRepository, deleted: list[str], client_as: ClientAs
) -> None:
    viewer = client_as("viewer")

    assert not Page(viewer.get(URL)).has_button("Restore")
    answer = viewer.post(reverse("console:bulk"), {"of": "trash", "action": "restore", "id": deleted})
    assert answer.status_code == 403
    assert stored(repository) == {"Kept"}


def test_the_rail_counts_what_lies_there(
    repository: MemoryRepository, deleted: list[str], client_as: ClientAs
) -> None:
    repository.restore(deleted[0], AUTHOR)
    repository.delete(deleted[0], AUTHOR)
    repository.restore(deleted[1], AUTHOR)

    assert "Trash 2" in Page(client_as("viewer").get(URL)).text


def test_an_empty_trash_says_what_would_be_here(repository: MemoryRepository, client_as: ClientAs) -> None:
    assert "The trash is empty" in Page(client_as("viewer").get(URL)).text


def test_a_page_beyond_the_end_is_the_last_one(deleted: list[str], client_as: ClientAs) -> None:
    text = Page(client_as("viewer").get(URL, {"offset": "900", "size": "20"})).text

    assert "1 to 3 of 3" in text


def test_deleted_text_is_escaped(repository: MemoryRepository, client_as: ClientAs) -> None:
    name = repository.add(payload("Markup", facts=["<img src=x onerror=alert(1)>"]), AUTHOR).memory_id
    repository.delete(name, AUTHOR, note="<i>note</i>")

    content = client_as("viewer").get(URL).content

    assert b"<img src=x" not in content
    assert b"<i>note" not in content


def test_the_fragment_comes_without_the_frame(deleted: list[str], client_as: ClientAs) -> None:
    client: Client = client_as("viewer")

    content = client.get(URL, headers={"HX-Request": "true"}).content

    assert content.lstrip().startswith(b'<div class="m-stack" id="trash">')
