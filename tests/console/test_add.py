"""Adding a memory by hand. No script runs in these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from console.memory_forms import Screen, post, screen
from console.samples import AUTHOR, payload
from console.test_memory import without_embedder

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.http import HttpResponse
    from django.test import Client

ADD = "/memories/add/"
TYPED: dict[str, Any] = {
    "domain": "Havlys",
    "subject": "Tide API",
    "fact": ["port = 8410", "", "Serves tide tables per harbour"],
    "category": "tech",
}


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


@pytest.fixture
def form(curator: Client) -> Screen:
    return screen(curator.get(ADD))


def added(client: Client, form: Screen, **typed: Any) -> HttpResponse:
    return post(client, ADD, form, **(TYPED | typed))


def checked(client: Client, form: Screen, **typed: Any) -> Screen:
    return screen(post(client, ADD, form, edit="check", **(TYPED | typed)))


def live(client: Client, form: Screen, **typed: Any) -> Screen:
    return screen(post(client, f"{ADD}preview/", form, **typed))


def test_a_new_memory_is_stored_as_typed(curator: Client, form: Screen, repository: MemoryRepository) -> None:
    answer = added(curator, form, new_tag="sea", tier="1")

    (memory,) = repository.list_memories().rows
    assert answer["Location"] == f"/memories/{memory.id}/"
    assert memory.content == "Havlys:Tide_API port=8410. Serves tide tables per harbour. [Tier=1]"
    assert memory.tags == ("sea",)
    assert memory.source == "console"
    assert "Added Havlys:Tide API" in screen(curator.get(answer["Location"])).words


def test_a_new_memory_can_be_undone(curator: Client, form: Screen, repository: MemoryRepository) -> None:
    added(curator, form)
    (memory,) = repository.list_memories().rows

    curator.post(f"/operations/{memory.operation_id}/undo/")

    assert repository.count() == 0


def test_an_empty_form_says_what_is_needed(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    answer = post(curator, ADD, form)
    shown = screen(answer)

    assert answer.status_code == 422
    for place in ("domain", "subject", "facts", "category"):
        assert "needed" in shown.problem(place)
    assert shown.focused == "f-domain"
    assert repository.count() == 0


def test_nothing_is_said_of_fields_not_reached_yet(curator: Client, form: Screen) -> None:
    shown = live(curator, form, domain="Havlys")

    assert shown.with_id("form-says").text == ""
    assert not any(shown.problem(place) for place in ("subject", "facts", "category"))


def test_the_check_says_new(curator: Client, form: Screen, repository: MemoryRepository) -> None:
    shown = checked(curator, form)

    assert "New. Nothing stored has this subject." in shown.words
    assert repository.count() == 0


def test_the_check_says_an_exact_repeat(curator: Client, form: Screen, repository: MemoryRepository) -> None:
    added(curator, form)
    (memory,) = repository.list_memories().rows

    shown = checked(curator, form)

    assert "Exactly this is stored already." in shown.words
    assert shown.links(f"/memories/{memory.id}/")


def test_saving_an_exact_repeat_counts_as_a_confirmation(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    added(curator, form)
    added(curator, form)

    (memory,) = repository.list_memories().rows
    assert repository.usage.of([memory.id])[memory.id].confirmations == 1


def test_the_same_subject_is_refused_and_its_memory_offered(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    added(curator, form)
    (memory,) = repository.list_memories().rows

    answer = added(curator, form, fact=["Answers 204 without a gauge"])
    shown = screen(answer)

    assert answer.status_code == 409
    assert "This subject is stored already, in 1 memory." in shown.words
    assert shown.values("fact") == ["Answers 204 without a gauge"]
    offered = [e for e in shown.elements if e.attributes.get("value") == "adopt"]
    assert [e.attributes["formaction"] for e in offered] == [f"/memories/{memory.id}/"]


def test_the_text_can_be_taken_to_the_memory_of_its_subject(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    first = repository.add(payload(), AUTHOR).memory_id
    typed = TYPED | {"fact": ["port=8420 host=tide.havlys.internal", "Answers in French"], "new_tag": "sea"}

    shown = screen(post(curator, f"/memories/{first}/", form, edit="adopt", **typed))
    assert shown.values("fact") == [
        "port=8420 host=tide.havlys.internal",
        "Serves tide tables per harbour",
        "Answers in French",
    ]
    assert set(shown.values("tag")) >= {"api", "tide", "sea"}
    assert post(curator, f"/memories/{first}/", shown).status_code == 302
    assert "port=8420" in repository.get(first).memory.content


def test_conflicting_claims_are_listed_and_nothing_is_stored(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    first = repository.add(payload(), AUTHOR).memory_id

    answer = added(curator, form, fact=["port=1 host=elsewhere"])
    shown = screen(answer)

    assert answer.status_code == 409
    assert "disagrees about host and port" in shown.words
    assert "here port=1, there port=8410" in shown.words
    assert shown.links(f"/memories/{first}/")
    assert repository.count() == 1


def test_a_secret_is_refused_with_its_place(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    answer = added(curator, form, fact=["port=1", "token=ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"])

    assert answer.status_code == 422
    assert "secret" in screen(answer).problem("fact-1")
    assert repository.count() == 0


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ({"domain": "Two words: one"}, "domain"),
        ({"fact": ["Havlys:Tide_API port=1"]}, "fact-0"),
        ({"fact": ["ok", "bell\x07"]}, "fact-1"),
        ({"fact": ["x" * 1000, "y" * 1000, "z"]}, "facts"),
        ({"quality": "-1"}, "quality"),
        ({"new_tag": ",".join(f"t{n}" for n in range(21))}, "tags"),
    ],
)
def test_what_is_refused_is_said_at_its_field_and_kept(
    curator: Client, form: Screen, repository: MemoryRepository, typed: dict[str, Any], place: str
) -> None:
    answer = added(curator, form, **typed)
    shown = screen(answer)

    assert answer.status_code == 422
    assert shown.problem(place)
    for name, value in (TYPED | typed).items():
        assert shown.values(name) == (value if isinstance(value, list) else [value])
    assert repository.count() == 0


def test_with_the_embedder_down_the_form_keeps_everything(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    with without_embedder(repository):
        answer = added(curator, form)
        shown = screen(answer)

        assert answer.status_code == 503
        assert int(answer["Retry-After"]) > 0
        assert "Everything you typed is still here." in shown.words
        assert shown.values("fact") == TYPED["fact"]
        assert shown.values("domain") == ["Havlys"]
    assert repository.count() == 0
    assert added(curator, shown).status_code == 302


def test_the_preview_shows_the_text_as_it_will_be_stored(
    curator: Client, form: Screen, repository: MemoryRepository
) -> None:
    shown = live(curator, form, **TYPED)

    assert "Havlys:Tide_API port = 8410. Serves tide tables per harbour. [Tier=2]" in shown.words
    assert "Spelling tidied for storing: subject, facts." in shown.words
    assert repository.count() == 0


def test_a_viewer_may_not_add(client_as: ClientAs, repository: MemoryRepository) -> None:
    viewer = client_as("viewer")

    assert viewer.get(ADD).status_code == 403
    assert viewer.post(ADD, TYPED).status_code == 403
    assert repository.count() == 0


def test_the_add_is_in_the_audit(curator: Client, form: Screen, repository: MemoryRepository) -> None:
    from memories.console.audit_models import AuditEvent

    added(curator, form)

    (memory,) = repository.list_memories().rows
    event = AuditEvent.objects.get()
    assert (event.action, event.operation_id) == ("add", memory.operation_id)
