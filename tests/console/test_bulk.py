"""The one flow for every change of many, as a person without a script walks it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memories.console.audit_models import AuditEvent, Result
from memories.console.selection_models import Selection
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

BACK = "/tags/"
"""A page to come back to that is there without the list of memories."""


@pytest.fixture
def ids(repository: MemoryRepository) -> list[str]:
    """Four memories; the third carries 20 tags, the fourth the tag production already."""
    many = [f"t{number}" for number in range(20)]
    tags = [["api"], ["api", "tide"], many, ["production"]]
    given = [payload(f"Subject_{at}", facts=[f"Fact {at}"], tags=held) for at, held in enumerate(tags)]
    return [repository.add(one, AUTHOR).memory_id for one in given]


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def selected(client: Client, **fields: object) -> HttpResponse:
    return client.post(reverse("console:bulk"), {"next": BACK, **fields}, follow=True)


def tags_of(repository: MemoryRepository, ids: Sequence[str]) -> list[list[str]]:
    found = repository.snapshot().memories(ids)
    return [list(found[name].tags) for name in ids]


def test_ticked_rows_are_previewed_confirmed_and_undone(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    before = tags_of(repository, ids)
    preview = Page(selected(curator, ids=ids[:2], action="add_tags", value="production, mer"))
    assert "Add the tags “production”, “mer” to 2 memories" in preview.text
    assert "Added: tag mer" in preview.text
    assert tags_of(repository, ids) == before

    done = Page(press(curator, preview, "Tag 2 memories", note="as agreed"))

    assert "Added the tags “production”, “mer” to 2 memories" in done.text
    assert tags_of(repository, ids[:2]) == [
        ["api", "production", "mer"],
        ["api", "tide", "production", "mer"],
    ]
    undone = Page(press(curator, done, "Undo"))
    assert "Undone, 2 memories as before" in undone.text
    assert tags_of(repository, ids) == before


def test_all_that_match_a_filter_are_selected_on_the_server(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    preview = selected(curator, everything="1", filter="tag=api", action="set_tier", value="1")

    assert "Set tier 1 for 2 memories" in Page(preview).text
    assert all(memory_id not in preview.request["QUERY_STRING"] for memory_id in ids)
    press(curator, Page(preview), "Change 2 memories")
    found = repository.snapshot().memories(ids)
    assert [found[name].tier for name in ids] == [1, 1, 2, 2]


def test_without_an_action_the_person_chooses_one(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    choice = Page(selected(curator, everything="1", filter=""))
    assert "Change 4 memories" in choice.text

    form = next(form for form in choice.forms if ("action", "set_category") in form.fields)
    preview = curator.get(form.action, {"action": "set_category", "value": "decision"})
    press(curator, Page(preview), "Change 4 memories")

    assert {memory.category for memory in repository.snapshot().memories(ids).values()} == {"decision"}


def test_the_preview_says_who_is_left_alone_and_who_is_so_already(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids, action="add_tags", value="production"))

    assert "Selected 4 Will change 2 Already so 1 Left alone 1" in preview.text
    assert "1 memory left alone, would have more than 20 tags: Havlys:Subject_2." in preview.text
    assert "2 samples of 2" in preview.text


def test_the_message_counts_what_was_left_alone(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids, action="add_tags", value="production"))

    done = Page(press(curator, preview, "Tag 2 memories"))

    assert "Added the tag “production” to 2 memories, 1 was so already, 1 left alone" in done.text


def test_one_memory_found_by_name_comes_to_supersede_the_ticked_ones(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    chooser = Page(selected(curator, ids=ids[:2], action="supersede"))
    found = Page(press(curator, chooser, "Find", find="Havlys:Subject_3"))
    preview = Page(curator.get(next(link for link in found.links if f"value={ids[3]}" in link)))
    assert "Supersede 2 memories" in preview.text
    assert "Havlys:Subject_3 supersedes them" in preview.text

    done = Page(press(curator, preview, "Supersede 2 memories"))

    assert repository.snapshot().superseded_by(ids) == dict.fromkeys(ids[:2], ids[3])
    press(curator, done, "Undo")
    assert repository.snapshot().superseded_by(ids) == {}


def test_where_nothing_would_change_there_is_nothing_to_confirm(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids[3:], action="add_tags", value="production"))

    assert "Nothing would change" in preview.text
    assert not any(form.fields and ("confirm", "1") in form.buttons.values() for form in preview.forms)


def test_a_value_the_contract_refuses_is_told_with_its_code(ids: list[str], curator: Client) -> None:
    refused = selected(curator, ids=ids, action="set_quality", value="7")

    assert refused.status_code == 422
    assert "invalid_quality" in Page(refused).text


def test_a_value_of_the_wrong_kind_is_told_too(ids: list[str], curator: Client) -> None:
    refused = selected(curator, ids=ids, action="set_tier", value="high")

    assert refused.status_code == 400
    assert "invalid_type" in Page(refused).text


@pytest.mark.parametrize(
    ("action", "value"),
    [("restore", ""), ("merge_tags", ""), ("no_such_thing", ""), ("purge", "")],
)
def test_an_action_that_is_not_for_these_rows_is_refused(
    ids: list[str], curator: Client, action: str, value: str
) -> None:
    answer = selected(curator, ids=ids, action=action, value=value, target="x")

    assert answer.status_code == 400
    assert "invalid_parameter" in Page(answer).text


def test_a_set_that_has_grown_is_refused_and_previewed_anew(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    preview = Page(selected(curator, everything="1", filter="tag=api", action="trash"))
    late = repository.add(payload("Late", facts=["A late fact"], tags=["api"]), AUTHOR).memory_id

    refused = press(curator, preview, "Trash 2 memories")

    assert refused.status_code == 409
    page = Page(refused)
    assert "selection_changed" in page.text
    assert "1 joined and 0 left" in page.text
    assert "Havlys:Late" in page.text
    assert late in repository.snapshot().memories([late])
    again = Page(press(curator, page, "Show a new preview"))
    press(curator, again, "Trash 3 memories")
    assert repository.snapshot().memories([late, *ids[:2]]) == {}


def test_a_ticked_row_that_is_gone_is_refused_too(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    preview = Page(selected(curator, ids=ids[:2], action="set_tier", value="1"))
    repository.delete(ids[0], AUTHOR)

    refused = press(curator, preview, "Change 2 memories")

    assert refused.status_code == 409
    assert "0 joined and 1 left" in Page(refused).text
    assert repository.get(ids[1]).memory.tier == 2


def test_a_change_is_confirmed_once(repository: MemoryRepository, ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids[:1], action="set_tier", value="1"))
    press(curator, preview, "Change 1 memory")
    generation = repository.snapshot().generation

    again = press(curator, preview, "Change 1 memory")

    assert again.status_code == 409
    assert "confirmed already" in Page(again).text
    assert repository.snapshot().generation == generation


def test_an_old_selection_is_not_trusted(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids[:1], action="set_tier", value="1"))
    Selection.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    late = press(curator, preview, "Change 1 memory")

    assert late.status_code == 409
    assert "more than an hour old" in Page(late).text


def test_another_persons_selection_is_not_found(
    repository: MemoryRepository, ids: list[str], curator: Client, client_as: ClientAs
) -> None:
    preview = selected(curator, ids=ids[:1], action="trash")
    path = preview.request["PATH_INFO"]
    other = client_as("administrator")

    assert other.get(path).status_code == 404
    assert other.post(path, {"action": "trash", "confirm": "1"}).status_code == 404
    assert other.post(reverse("console:bulk"), {"again": path.split("/")[-2]}).status_code == 404
    assert ids[0] in repository.snapshot().memories(ids)


@pytest.mark.parametrize("action", ["add_tags", "trash", "mark_reviewed", ""])
def test_a_viewer_changes_nothing(
    ids: list[str], client_as: ClientAs, repository: MemoryRepository, action: str
) -> None:
    generation = repository.snapshot().generation

    answer = client_as("viewer").post(reverse("console:bulk"), {"ids": ids, "action": action, "value": "x"})

    assert answer.status_code == 403
    assert repository.snapshot().generation == generation
    assert not Selection.objects.exists()


def test_who_may_change_but_not_delete_moves_nothing_to_the_trash(
    ids: list[str], client_as: ClientAs, person: object
) -> None:
    from django.contrib.auth.models import Permission

    client = client_as("viewer")
    user = person("viewer")  # type: ignore[operator]
    user.user_permissions.add(Permission.objects.get(codename="change_memory"))

    assert selected(client, ids=ids, action="add_tags", value="x").status_code == 200
    assert selected(client, ids=ids, action="trash").status_code == 403
    assert not Page(selected(client, ids=ids)).has_button("Move to trash")


def test_looking_at_a_preview_writes_nothing(
    ids: list[str], curator: Client, repository: MemoryRepository
) -> None:
    preview = selected(curator, ids=ids, action="trash")
    path = f"{preview.request['PATH_INFO']}?{preview.request['QUERY_STRING']}"
    generation = repository.snapshot().generation

    with CaptureQueriesContext(connection) as queries:
        curator.get(path)

    changes = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert [sql for sql in changes if "django_session" not in sql] == []
    assert repository.snapshot().generation == generation


def test_nothing_selected_says_so(repository: MemoryRepository, curator: Client) -> None:
    assert "Nothing is selected" in Page(selected(curator, action="trash")).text


def test_everything_needs_its_filter(ids: list[str], curator: Client) -> None:
    answer = selected(curator, everything="1", action="trash")

    assert answer.status_code == 400
    assert "required_field" in Page(answer).text


def test_more_ticked_rows_than_a_form_may_name_are_refused(ids: list[str], curator: Client) -> None:
    body = "&".join(f"ids={number}" for number in range(1_001))

    answer = curator.post(
        reverse("console:bulk"), body, content_type="application/x-www-form-urlencoded", follow=True
    )

    assert answer.status_code == 400


def test_the_way_back_stays_on_this_site(ids: list[str], curator: Client) -> None:
    preview = Page(
        selected(curator, ids=ids[:1], action="set_tier", value="1", next="https://elsewhere.example/")
    )

    answer = press(curator, preview, "Change 1 memory")

    assert all("elsewhere" not in url for url, _ in answer.redirect_chain)


def test_a_change_is_in_the_history_with_its_note(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids[:2], action="set_tier", value="1"))
    press(curator, preview, "Change 2 memories", note="weighty")

    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.ids_total) == ("set_tier", "console:curator", 2)
    assert all(name in event.ids for name in ids[:2])
    assert (event.completion.result, event.completion.changed) == (Result.DONE, 2)
    assert "weighty" in event.payloads.get(part="text").body


def test_undo_names_what_has_changed_meanwhile(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    preview = Page(selected(curator, ids=ids[:2], action="set_tier", value="1"))
    done = Page(press(curator, preview, "Change 2 memories"))
    repository.update(ids[0], {"tier": 3}, AUTHOR, patch=True)

    undone = Page(press(curator, done, "Undo"))

    assert "Undone for 1 of 2. Havlys:Subject_0 has changed since" in undone.text
    found = repository.snapshot().memories(ids)
    assert [found[name].tier for name in ids[:2]] == [3, 2]


def test_an_undo_is_in_the_history_as_one(ids: list[str], curator: Client) -> None:
    preview = Page(selected(curator, ids=ids[:1], action="set_tier", value="1"))
    press(curator, Page(press(curator, preview, "Change 1 memory")), "Undo")

    first, second = AuditEvent.objects.order_by("position")

    assert (second.action, second.undoes, second.completion.changed) == ("undo", first.operation_id, 1)


def test_undo_of_an_unknown_operation_is_not_found(repository: MemoryRepository, curator: Client) -> None:
    assert curator.post(reverse("console:undo", args=["no-such-operation"])).status_code == 404


def test_marking_reviewed_names_the_person(
    repository: MemoryRepository, ids: list[str], curator: Client
) -> None:
    preview = Page(selected(curator, ids=ids[:1], action="mark_reviewed"))
    press(curator, preview, "Mark 1 memory")

    memory = repository.get(ids[0]).memory
    assert memory.approved_by == "console:curator"
    assert memory.reviewed_at is not None


def test_memory_text_is_escaped_in_the_preview(repository: MemoryRepository, curator: Client) -> None:
    tag = "<b>x</b>"
    name = repository.add(
        payload("Markup", facts=["<script>alert(1)</script>"], tags=[tag]), AUTHOR
    ).memory_id

    preview = selected(curator, ids=[name], action="remove_tags", value=tag)

    assert preview.status_code == 200
    assert b"<script>alert" not in preview.content
    assert b"<b>x" not in preview.content
