"""The page of a memory: what it shows, and saving what was edited. No script runs in these tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console.memory_forms import Screen, post, screen
from console.samples import AUTHOR, payload

from memories.console.repository_access import using
from memories.embedding.factory import create_embedder
from memories.repository import MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client

PORT, TABLES = "port=8410 host=tide.havlys.internal", "Serves tide tables per harbour"


@pytest.fixture
def stored(repository: MemoryRepository) -> str:
    return repository.add(payload(), AUTHOR).memory_id


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


def address(memory_id: str, act: str = "") -> str:
    return f"/memories/{memory_id}/" + (f"{act}/" if act else "")


def opened(client: Client, memory_id: str) -> Screen:
    return screen(client.get(address(memory_id)))


# -- reading ------------------------------------------------------------------------------


def test_a_viewer_reads_the_facts_and_gets_no_form(client_as: ClientAs, stored: str) -> None:
    shown = opened(client_as("viewer"), stored)

    assert TABLES in shown.words
    assert not shown.has_id("memory-form")
    assert not [e for e in shown.elements if e.tag == "button" and "trash" in e.text]


def test_the_whole_id_is_there_to_be_copied(curator: Client, stored: str) -> None:
    button = next(e for e in opened(curator, stored).elements if e.attributes.get("data-do") == "copy")

    assert button.attributes["value"] == stored


def test_edges_lead_both_ways(curator: Client, repository: MemoryRepository, stored: str) -> None:
    relations = [{"type": "runs_on", "target": "Havlys:Tide_API"}, {"type": "uses", "target": "Elsewhere"}]
    other = repository.add(payload("Varsling", relations=relations), AUTHOR).memory_id

    assert opened(curator, stored).links(address(other))
    shown = opened(curator, other)
    assert shown.links(address(stored))
    assert "no such memory yet" in shown.words


def test_an_open_conflict_is_told_in_words(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    other = repository.add(payload("Other", facts=["port=9000"]), AUTHOR).memory_id
    repository.update(other, {"subject": "Tide_API"}, AUTHOR, patch=True)

    shown = opened(curator, stored)

    assert "2 memories disagree about port" in shown.words
    assert "here port=8410, there port=9000" in shown.words
    assert shown.links(address(other))


def test_recalls_and_confirmations_are_counted(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    repository.usage.record_recall([stored])
    repository.usage.record_recall([stored])
    repository.usage.record_confirmation(stored)

    shown = opened(curator, stored)

    assert "Recalled 2 times" in shown.words
    assert "Confirmed 1 time" in shown.words


def test_similar_memories_come_from_stored_vectors_without_the_embedder(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    near = repository.add(payload("Tide_service", facts=["Serves tide tables per harbour"]), AUTHOR)

    with without_embedder(repository):
        shown = opened(curator, stored)

    assert shown.links(address(near.memory_id))


def test_a_memory_in_the_trash_is_shown_as_such(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    repository.delete(stored, AUTHOR)

    answer = curator.get(address(stored))

    assert answer.status_code == 404
    assert "In the trash since" in screen(answer).words
    curator.post(address(stored, "restore"))
    assert repository.get(stored).memory.facts == (PORT, TABLES)


def test_an_id_nobody_has_is_not_found(curator: Client, repository: MemoryRepository) -> None:
    assert curator.get(address("nobody")).status_code == 404


# -- rows of the form ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("button", "rows", "focus"),
    [
        ("fact_add", [PORT, TABLES, ""], "f-fact-2"),
        ("fact_add:0", [PORT, "", TABLES], "f-fact-1"),
        ("fact_up:1", [TABLES, PORT], "f-fact-0"),
        ("fact_down:0", [TABLES, PORT], "f-fact-1"),
        ("fact_remove:0", [TABLES], "f-fact-0"),
        ("fact_up:0", [PORT, TABLES], "f-fact-0"),
        ("fact_remove:7", [PORT, TABLES], ""),
        ("no_such_button:1", [PORT, TABLES], ""),
    ],
)
def test_fact_rows_come_go_and_move(
    curator: Client, stored: str, button: str, rows: list[str], focus: str
) -> None:
    shown = screen(post(curator, address(stored), opened(curator, stored), edit=button))

    assert shown.values("fact") == rows
    assert shown.focused == focus


def test_buttons_of_the_form_store_nothing(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    form = opened(curator, stored)
    for button in ("fact_remove:0", "tag_remove:0", "tag_add", "relation_add", "relation_find"):
        post(curator, address(stored), form, edit=button, new_tag="sea", new_relation="Havlys:Sea")

    assert repository.get(stored).memory.revision == 1


def test_tags_are_added_and_removed(curator: Client, stored: str) -> None:
    form = opened(curator, stored)
    kept = form.values("tag")

    added = screen(post(curator, address(stored), form, edit="tag_add", new_tag="sea, deep water"))
    assert added.values("tag") == [*kept, "sea", "deep water"]
    removed = screen(post(curator, address(stored), added, edit="tag_remove:0"))
    assert removed.values("tag") == [*kept[1:], "sea", "deep water"]


def test_tags_in_use_are_offered(curator: Client, repository: MemoryRepository, stored: str) -> None:
    repository.add(payload("Varsling", tags=["production", "alert"]), AUTHOR)

    shown = screen(
        post(curator, address(stored), opened(curator, stored), edit="relation_find", new_tag="prod")
    )

    assert [e.attributes["value"] for e in shown.elements if e.tag == "option" and "value" in e.attributes][
        -1
    ] == "production"


def test_a_target_is_searched_and_taken_by_its_id(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    other = repository.add(payload("Gauge_relay", facts=["Relays the gauges"]), AUTHOR).memory_id
    form = opened(curator, stored)

    found = screen(post(curator, address(stored), form, edit="relation_find", new_relation="gauge"))
    choices = [e for e in found.elements if e.attributes.get("value") == f"relation_add_id:{other}"]
    assert len(choices) == 1
    taken = screen(post(curator, address(stored), found, edit=f"relation_add_id:{other}"))
    answer = post(curator, address(stored), taken)

    assert answer.status_code == 302
    assert [(e.relation_type, e.memory_id) for e in repository.get(stored).edges_out] == [("depends", other)]


def test_a_typed_id_points_at_its_memory_and_other_text_is_a_label(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    other = repository.add(payload("Gauge_relay"), AUTHOR).memory_id
    form = opened(curator, stored)

    form = screen(post(curator, address(stored), form, edit="relation_add", new_relation=other))
    form = screen(
        post(
            curator,
            address(stored),
            form,
            edit="relation_add",
            new_relation="Havlys:Later",
            new_relation_type="uses",
        )
    )

    assert list(zip(form.values("relation_id"), form.values("relation_label"), strict=True)) == [
        (other, ""),
        ("", "Havlys:Later"),
    ]


# -- the preview --------------------------------------------------------------------------


def test_the_preview_marks_changed_words_and_writes_nothing(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    answer = post(
        curator, address(stored, "preview"), opened(curator, stored), fact=["port=8420 host=x", TABLES]
    )
    shown = screen(answer)

    assert [e.text for e in shown.elements if e.tag == "ins"] == ["8420", "x"]
    assert "8410" in [e.text for e in shown.elements if e.tag == "del"]
    assert repository.get(stored).memory.revision == 1


def test_the_preview_says_every_problem_at_its_field(curator: Client, stored: str) -> None:
    shown = screen(
        post(
            curator,
            address(stored, "preview"),
            opened(curator, stored),
            domain="a:b",
            subject="s" * 81,
            fact=["", "two\nlines", "fine", "port=1 [Tier=2]"],
            quality="2",
            new_tag="x" * 81,
        )
    )

    assert "colon" in shown.problem("domain")
    assert "At most 80 characters, not 81" in shown.problem("subject")
    assert shown.problem("fact-0") == shown.problem("fact-2") == ""
    assert "one line" in shown.problem("fact-1")
    assert "tier marker" in shown.problem("fact-3")
    assert "between 0 and 1" in shown.problem("quality")
    assert "Tag " in shown.problem("tags")
    assert shown.with_id("form-says").text == "6 things to correct before it can be saved."


def test_the_preview_warns_of_a_disagreement_it_would_open(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    other = repository.add(payload("Varsling", facts=["port=1"]), AUTHOR).memory_id

    shown = screen(post(curator, address(other, "preview"), opened(curator, other), subject="Tide_API"))

    assert "Another memory of this subject disagrees about port." in shown.words
    assert shown.links(address(stored))


def test_a_generic_subject_is_warned_of_at_the_subject(curator: Client, stored: str) -> None:
    shown = screen(post(curator, address(stored, "preview"), opened(curator, stored), subject="config"))

    assert "narrower" in shown.with_id("w-subject").text


# -- saving -------------------------------------------------------------------------------


def test_saving_stores_the_form_and_offers_undo(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    answer = post(
        curator, address(stored), opened(curator, stored), fact=["port=8420", ""], tier="1", quality="0,9"
    )

    assert answer.status_code == 302
    memory = repository.get(stored).memory
    assert (memory.facts, memory.tier, round(memory.quality, 3)) == (("port=8420",), 1, 0.9)
    undo = f"/operations/{memory.operation_id}/undo/"
    assert undo in curator.get(answer["Location"]).content.decode()


def test_saving_keeps_automatic_tags_automatic(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    post(curator, address(stored), opened(curator, stored), fact=["Answers with GraphQL"])

    memory = repository.get(stored).memory
    assert not memory.tags_manual
    assert "GraphQL" in memory.tags


def test_a_type_that_follows_the_category_goes_on_doing_so(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    post(curator, address(stored), opened(curator, stored), category="decision")

    assert repository.get(stored).memory.type == "decision"


def test_nothing_changed_is_nothing_saved(curator: Client, repository: MemoryRepository, stored: str) -> None:
    answer = post(curator, address(stored), opened(curator, stored))

    assert answer.status_code == 302
    assert repository.get(stored).memory.revision == 1


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ({"domain": ""}, "domain"),
        ({"fact": ["port=1", "x ::fact:: y"]}, "fact-1"),
        ({"fact": [""]}, "facts"),
        ({"fact": ["f"] * 13}, "facts"),
        ({"category": "none"}, "category"),
        ({"type": "t" * 81}, "type"),
        ({"quality": "much"}, "quality"),
        ({"new_relation": "Havlys:Half_typed"}, "relations"),
        ({"relation_type": "hates", "relation_id": "", "relation_label": "X"}, "relations"),
        ({"relation_type": "uses", "relation_id": "nobody", "relation_label": ""}, "relations"),
    ],
)
def test_what_is_refused_is_said_at_its_field_and_kept(
    curator: Client, repository: MemoryRepository, stored: str, typed: dict[str, object], place: str
) -> None:
    answer = post(curator, address(stored), opened(curator, stored), **typed)
    shown = screen(answer)

    assert answer.status_code == 422
    assert shown.problem(place)
    for name, value in typed.items():
        assert shown.values(name) == (value if isinstance(value, list) else [value])
    assert repository.get(stored).memory.revision == 1


def test_a_tier_that_does_not_exist_is_refused(curator: Client, stored: str) -> None:
    answer = post(curator, address(stored), opened(curator, stored), tier="4")

    assert answer.status_code == 422
    assert screen(answer).problem("tier")


def test_a_secret_is_refused_with_its_place(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    answer = post(curator, address(stored), opened(curator, stored), fact=[TABLES, f"token={secret}"])

    assert answer.status_code == 422
    assert "GitHub token" in screen(answer).problem("fact-1")
    assert repository.get(stored).memory.revision == 1


def test_an_exact_repeat_of_another_memory_is_refused_with_a_link(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    other = repository.add(payload("Varsling"), AUTHOR).memory_id

    answer = post(curator, address(other), opened(curator, other), subject="Tide_API")

    assert answer.status_code == 409
    assert "Exactly this is stored already." in screen(answer).words
    assert screen(answer).links(address(stored))


def test_with_the_embedder_down_the_form_keeps_everything(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    form = opened(curator, stored)
    with without_embedder(repository):
        answer = post(curator, address(stored), form, fact=["port=8420"], new_tag="sea")
        shown = screen(answer)

        assert answer.status_code == 503
        assert int(answer["Retry-After"]) > 0
        assert "The embedder does not answer" in shown.words
        assert shown.values("fact") == ["port=8420"]
        assert shown.values("new_tag") == ["sea"]
    assert repository.get(stored).memory.revision == 1


def test_a_memory_trashed_meanwhile_leaves_the_text_in_the_form_of_a_new_one(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    form = opened(curator, stored)
    repository.delete(stored, AUTHOR)

    answer = post(curator, address(stored), form, fact=["port=8420"])
    shown = screen(answer)

    assert answer.status_code == 404
    assert "moved to the trash meanwhile" in shown.words
    assert shown.values("fact") == ["port=8420"]
    assert post(curator, "/memories/add/", shown).status_code == 302


# -- the other buttons --------------------------------------------------------------------


def test_moving_to_the_trash_can_be_undone(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    answer = curator.post(address(stored, "trash"), follow=True)

    assert repository.count() == 0
    assert "Moved Havlys:Tide_API to the trash" in screen(answer).words
    undo = next(
        e.attributes["action"]
        for e in screen(answer).elements
        if e.tag == "form" and "undo" in e.attributes.get("action", "")
    )
    curator.post(undo)
    assert repository.count() == 1


def test_marking_as_reviewed_names_who_did(
    curator: Client, repository: MemoryRepository, stored: str
) -> None:
    curator.post(address(stored, "reviewed"))

    assert repository.get(stored).memory.approved_by == "console:curator"
    assert "Reviewed by curator, console" in opened(curator, stored).words


@pytest.mark.parametrize("act", ["", "preview", "restore", "reviewed", "trash"])
def test_a_viewer_changes_nothing(
    client_as: ClientAs, repository: MemoryRepository, stored: str, act: str
) -> None:
    assert client_as("viewer").post(address(stored, act), {"fact": ["x"]}).status_code == 403
    assert repository.get(stored).memory.revision == 1


def test_every_write_is_in_the_audit(curator: Client, repository: MemoryRepository, stored: str) -> None:
    from memories.console.audit_models import AuditEvent

    post(curator, address(stored), opened(curator, stored), quality="0.9")
    curator.post(address(stored, "reviewed"))
    curator.post(address(stored, "restore"), {"revision": "1"})
    curator.post(address(stored, "trash"))

    seen = list(AuditEvent.objects.order_by("pk").values_list("action", "actor"))
    assert seen == [
        (action, "console:curator") for action in ("update", "mark_reviewed", "restore", "delete")
    ]
    made = {revision.operation_id for revision in repository.revisions(stored)}
    assert made == set(AuditEvent.objects.values_list("operation_id", flat=True))


# -- with htmx ----------------------------------------------------------------------------


def test_htmx_gets_the_form_alone(curator: Client, stored: str) -> None:
    form = opened(curator, stored)
    sent = dict(form.fields) | {"edit": "fact_add"}
    answer = curator.post(address(stored), sent, headers={"HX-Request": "true"})

    assert screen(answer).has_id("memory-form")
    assert not screen(answer).has_id("container")


def without_embedder(repository: MemoryRepository) -> using:  # type: ignore[valid-type]
    """The same database with a model server that nobody runs."""
    home = Path(repository.settings.hermes_home)
    settings = load_settings(hermes_home=home, embed_model="nomic", environ={"OLLAMA_HOST": "127.0.0.1:9"})
    return using(MemoryRepository(settings, create_embedder(settings), lock_wait=1.0))
