"""Two people edit one memory at once: nothing is lost, and the second one is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.memory_forms import Element, Screen, post, screen
from console.samples import AUTHOR, payload

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client

PORT, TABLES = "port=8410 host=tide.havlys.internal", "Serves tide tables per harbour"


@pytest.fixture
def stored(repository: MemoryRepository) -> str:
    return repository.add(payload(), AUTHOR).memory_id


@pytest.fixture
def first(client_as: ClientAs) -> Client:
    return client_as("operator")


@pytest.fixture
def second(client_as: ClientAs) -> Client:
    return client_as("curator")


@pytest.fixture
def form(second: Client, stored: str) -> Screen:
    """The form as the second person opened it, before the first one saved."""
    return screen(second.get(f"/memories/{stored}/"))


@pytest.fixture
def saved_by_the_first(first: Client, form: Screen, stored: str) -> None:
    post(first, f"/memories/{stored}/", form, fact=["port=8411 host=tide.havlys.internal", TABLES])


def asked(client: Client, memory_id: str, form: Screen, **typed: object) -> Screen:
    answer = post(client, f"/memories/{memory_id}/", form, **typed)
    assert answer.status_code == 409
    return screen(answer)


def carried(shown: Screen) -> Screen:
    """The page of the two versions as a form to send: what it holds is all hidden."""
    hidden = [e.attributes for e in shown.elements if e.attributes.get("type") == "hidden"]
    fields = [(e["name"], e["value"]) for e in hidden if e["name"] != "csrfmiddlewaretoken"]
    return Screen(shown.status, fields=fields)


def cells(shown: Screen, label: str) -> list[str]:
    found: list[Element] = [e for e in shown.elements if e.attributes.get("data-l") == label]
    return [" ".join(e.text.split()) for e in found]


@pytest.mark.usefixtures("saved_by_the_first")
class TestAfterTheFirstSaved:
    def test_both_versions_stand_side_by_side(self, second: Client, stored: str, form: Screen) -> None:
        shown = asked(second, stored, form, fact=["port=8412 host=tide.havlys.internal", TABLES, "New"])

        assert cells(shown, "Theirs") == ["port=8411 host=tide.havlys.internal", TABLES, "no such fact"]
        assert cells(shown, "Yours") == ["port=8412 host=tide.havlys.internal", TABLES, "New"]
        assert "Theirs, revision 2" in shown.words
        assert "operator, console" in shown.words

    def test_nothing_is_written_by_being_asked(
        self, second: Client, stored: str, form: Screen, repository: MemoryRepository
    ) -> None:
        asked(second, stored, form, fact=["port=8412"])

        assert repository.get(stored).memory.revision == 2

    def test_keeping_mine_stores_it_over_theirs_which_stays_in_the_history(
        self, second: Client, stored: str, form: Screen, repository: MemoryRepository
    ) -> None:
        shown = asked(second, stored, form, fact=["port=8412"])

        assert post(second, f"/memories/{stored}/", carried(shown)).status_code == 302
        assert repository.get(stored).memory.facts == ("port=8412",)
        kept = repository.revisions(stored)[0].memory()
        assert kept is not None
        assert kept["facts"] == ["port=8411 host=tide.havlys.internal", TABLES]

    def test_keeping_mine_takes_back_nothing_i_did_not_touch(
        self, second: Client, stored: str, form: Screen, repository: MemoryRepository
    ) -> None:
        shown = asked(second, stored, form, quality="0.9", new_tag="sea")

        post(second, f"/memories/{stored}/", carried(shown))
        memory = repository.get(stored).memory
        assert memory.facts == ("port=8411 host=tide.havlys.internal", TABLES)
        assert round(memory.quality, 3) == 0.9
        assert "sea" in memory.tags

    def test_keeping_theirs_is_a_link_to_what_is_stored(
        self, second: Client, stored: str, form: Screen
    ) -> None:
        shown = asked(second, stored, form, fact=["port=8412"])

        link = next(e for e in shown.elements if e.text == "Keep theirs")
        assert screen(second.get(link.attributes["href"])).values("fact")[0].startswith("port=8411")

    def test_editing_goes_on_with_mine_over_the_newer_revision(
        self, second: Client, stored: str, form: Screen, repository: MemoryRepository
    ) -> None:
        shown = asked(second, stored, form, fact=["port=8412"])

        again = screen(post(second, f"/memories/{stored}/", carried(shown), edit="rebase"))
        assert again.values("fact") == ["port=8412"]
        assert again.values("base_revision") == ["2"]
        assert post(second, f"/memories/{stored}/", again, fact=["port=8413"]).status_code == 302
        assert repository.get(stored).memory.facts == ("port=8413",)

    def test_a_third_change_meanwhile_asks_again(
        self, first: Client, second: Client, stored: str, form: Screen
    ) -> None:
        shown = asked(second, stored, form, fact=["port=8412"])
        post(first, f"/memories/{stored}/", screen(first.get(f"/memories/{stored}/")), fact=["port=8499"])

        assert cells(asked(second, stored, carried(shown)), "Theirs") == ["port=8499"]

    def test_the_same_change_by_both_needs_no_decision(
        self, second: Client, stored: str, form: Screen, repository: MemoryRepository
    ) -> None:
        answer = post(
            second, f"/memories/{stored}/", form, fact=["port=8411 host=tide.havlys.internal", TABLES]
        )

        assert answer.status_code == 302
        assert repository.get(stored).memory.revision == 2

    def test_half_typed_relations_are_carried_along(self, second: Client, stored: str, form: Screen) -> None:
        shown = asked(second, stored, form, fact=["port=8412"], new_relation="Havlys:Half", new_tag="sea")

        again = screen(post(second, f"/memories/{stored}/", carried(shown), edit="rebase"))
        assert again.values("new_relation") == ["Havlys:Half"]
        assert "sea" in again.values("tag")

    def test_one_is_told_while_typing(self, second: Client, stored: str, form: Screen) -> None:
        previewed = screen(post(second, f"/memories/{stored}/preview/", form))
        redrawn = screen(post(second, f"/memories/{stored}/", form, edit="fact_add"))

        for shown in (previewed, redrawn):
            assert "changed meanwhile, it is at revision 2 now" in shown.with_id("form-notices").text


def test_a_form_without_its_revision_is_taken_for_an_old_one(
    second: Client, stored: str, form: Screen, repository: MemoryRepository
) -> None:
    asked(second, stored, form, base_revision="", fact=["port=1"])

    assert repository.get(stored).memory.revision == 1
