"""The list of memories as a person sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_seen import Seen, seen
from console.samples import AUTHOR, payload
from django.http import HttpResponse

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding.base import EmbedderState, Readiness

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository

HTMX = {"HX-Request": "true"}


def store(repository: MemoryRepository, *subjects: str, **changes: object) -> list[str]:
    return [
        repository.add(payload(name, facts=[f"{name} says something"], **changes), AUTHOR).memory_id
        for name in subjects
    ]


def opened(client_as: ClientAs, address: str = "/memories/", role: str = "viewer", **headers: str) -> Seen:
    answer = client_as(role).get(address, headers=headers)
    assert answer.status_code == 200
    return seen(answer.content)


def subjects(page: Seen) -> list[str]:
    return [link.text.removeprefix("Havlys:") for link in page.all("a", "m-row__subject")]


def moved_to(answer: HttpResponse) -> str:
    assert answer.status_code == 302
    return answer.headers["Location"]


@pytest.fixture
def three(repository: MemoryRepository) -> list[str]:
    return store(repository, "Tide", "Pump", "Tax")


def test_the_newest_comes_first_and_the_total_is_said(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as)

    assert subjects(page) == ["Tax", "Pump", "Tide"]
    assert page.one(id="list-count").text == "3 memories"
    assert "1 to 3 of 3" in page.one("nav", "m-pager").text


def test_a_row_shows_fact_category_tier_tags_and_when_it_was_recalled(
    client_as: ClientAs, repository: MemoryRepository, three: list[str]
) -> None:
    repository.usage.record_recall([three[0]])
    row = next(row for row in opened(client_as).all("li", "m-row") if row.attributes["id"] == f"m-{three[0]}")

    for shown in ("Tide says something", "tech", "Tier 2", "api", "now · 1×"):
        assert shown in row.text


def test_an_open_conflict_marks_both_rows(client_as: ClientAs, repository: MemoryRepository) -> None:
    repository.add(payload("Gate", facts=["port=8080"]), AUTHOR)
    other = repository.add(payload("Gate_north", facts=["port=9090"]), AUTHOR).memory_id
    repository.update(other, {"subject": "Gate"}, AUTHOR, patch=True)
    store(repository, "Alone")

    assert len(opened(client_as).all(having="m-mark", title="1 open conflict")) == 2


def test_filters_are_pills_that_can_be_removed_one_by_one(
    client_as: ClientAs, repository: MemoryRepository, three: list[str]
) -> None:
    store(repository, "Mast", tier=3, tags=["mast"])
    page = opened(client_as, "/memories/?tier=3&tag=mast&size=20")

    assert subjects(page) == ["Mast"]
    assert page.one(id="list-count").text == "1 of 4 match"
    removed = {link.attributes["aria-label"]: link.attributes["href"] for link in page.all("a", "m-chip__x")}
    assert removed == {
        "Remove filter tier 3": "/memories/?tag=mast&size=20",
        "Remove filter tag mast": "/memories/?tier=3&size=20",
    }
    assert page.link("Clear") == "/memories/?size=20"


def test_what_is_filtered_stands_in_the_fields(client_as: ClientAs, three: list[str]) -> None:
    page = opened(
        client_as, "/memories/?tier=2&tag=api&quality_min=0.25&created_from=2020-03-01&never_recalled=1"
    )
    values = {
        element.attributes["name"]: element.attributes.get("value")
        for element in page.all("input", "m-input")
    }

    assert values["tag"] == "api"
    assert values["quality_min"] == "0.25"
    assert values["created_from"] == "2020-03-01"
    assert "checked" in page.one("input", "m-box", name="never_recalled").attributes
    assert [option.text for option in page.all("option", selected="")] == ["2", "Newest first", "50"]


def test_pages_are_cut_and_keep_the_filter(client_as: ClientAs, repository: MemoryRepository) -> None:
    store(repository, *(f"Buoy_{number:02}" for number in range(45)))
    page = opened(client_as, "/memories/?tag=api&sort=subject&size=20&offset=20")

    assert subjects(page) == [f"Buoy_{number}" for number in range(20, 40)]
    assert "21 to 40 of 45" in page.one("nav", "m-pager").text
    assert page.link("Next") == "/memories/?tag=api&sort=subject&size=20&offset=40"
    assert page.link("Previous") == "/memories/?tag=api&sort=subject&size=20&offset=0"


def test_an_offset_past_the_end_shows_the_last_page(
    client_as: ClientAs, repository: MemoryRepository
) -> None:
    store(repository, *(f"Buoy_{number:02}" for number in range(45)))

    assert len(subjects(opened(client_as, "/memories/?size=20&offset=900"))) == 5


@pytest.mark.parametrize("query", ["offset=-1", "offset=many", "size=x", "tier=9", "sort=random"])
def test_a_value_that_cannot_be_read_is_refused(
    client_as: ClientAs, repository: MemoryRepository, query: str
) -> None:
    answer = client_as("viewer").get(f"/memories/?{query}")

    assert 400 <= answer.status_code < 500
    assert query.partition("=")[0] in answer.content.decode()


def test_empty_fields_of_the_form_leave_the_address(client_as: ClientAs, three: list[str]) -> None:
    answer = client_as("viewer").get("/memories/?q=&category=&tier=2&tag=&quality_min=&size=20")

    assert moved_to(answer) == "/memories/?tier=2&size=20"


def test_htmx_gets_rows_and_pills_together_with_the_count_and_the_address(
    client_as: ClientAs, three: list[str]
) -> None:
    answer = client_as("viewer").get("/memories/?q=&tier=2&sort=oldest", headers=HTMX)
    part = seen(answer.content)

    assert part.elements[0].attributes["id"] == "list"
    assert part.all("span", "m-pill")
    assert subjects(part) == ["Tide", "Pump", "Tax"]
    assert part.one(id="list-count").attributes["hx-swap-oob"] == "true"
    assert answer.headers["HX-Push-Url"] == "/memories/?tier=2&sort=oldest"
    assert not part.all("html")


def test_columns_order_the_list_and_say_which_does(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?sort=subject&tag=api")
    head = page.all("li", "m-list__head")[0]

    assert "Subject ↑" in head.text
    assert page.link("Recalled") == "/memories/?tag=api&sort=recalled"
    assert subjects(page) == ["Pump", "Tax", "Tide"]


# --- search --------------------------------------------------------------------------


def test_the_search_is_the_agents(
    client_as: ClientAs, repository: MemoryRepository, three: list[str]
) -> None:
    page = opened(client_as, "/memories/?q=what+does+Pump+say")

    assert subjects(page) == ["Pump"]
    assert "1 found as the agent would find it" in page.one(having="m-searched").text
    assert page.link("Search as plain text instead") == "/memories/?q=what+does+Pump+say&how=contains"


def test_an_abstention_is_said_and_plain_text_offered(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?q=zebra+quantum&tag=api&size=20")

    assert subjects(page) == []
    assert "The agent would find nothing for this" in page.one(having="m-note").text
    assert (
        page.link("Search as plain text instead") == "/memories/?q=zebra+quantum&how=contains&tag=api&size=20"
    )


def test_found_but_filtered_out_is_not_called_an_abstention(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?q=what+does+Pump+say&source=console")

    assert "Nothing here passes the other filters" in page.one(having="m-note").text
    assert page.link("Clear filters") == "/memories/"


def test_plain_text_finds_a_part_of_a_word(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?q=um&how=contains")

    assert subjects(page) == ["Pump"]
    assert page.link("Search as the agent does") == "/memories/?q=um"


def test_a_model_that_is_down_is_said_and_nothing_else_breaks(
    client_as: ClientAs, repository: MemoryRepository, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(text: str) -> None:
        raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embedder", "The host does not answer.")

    monkeypatch.setattr(repository.embedder, "embed_query", down)
    monkeypatch.setattr(
        repository.embedder, "state", lambda: EmbedderState(Readiness.FAILING, "The host does not answer.")
    )
    page = opened(client_as, "/memories/?q=what+does+Pump+say")

    note = page.one(having="m-note").text
    assert "The search could not be made" in note
    assert "The host does not answer." in note
    assert page.link("Search as plain text instead")


# --- empty ---------------------------------------------------------------------------


def test_without_any_memory_the_page_says_how_to_add(
    client_as: ClientAs, repository: MemoryRepository
) -> None:
    page = opened(client_as, role="curator")

    assert "No memories yet" in page.one(having="m-empty").text
    assert page.link("Add a memory") == "/memories/add/"
    assert not page.all(having="m-filter")
    assert "Add a memory" not in opened(client_as, role="viewer").one(having="m-empty").text


def test_where_nothing_matches_the_filters_can_be_cleared(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?tag=nowhere&sort=oldest")

    assert "None of the 3 memories passes all of these filters." in page.one(having="m-empty").text
    assert page.link("Clear filters") == "/memories/?sort=oldest"


# --- what one may do -----------------------------------------------------------------


def test_a_viewer_is_offered_no_change(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as)

    assert not page.all("input", "m-row__pick")
    assert not page.all(having="m-bulk")
    assert not [link for link in page.all("a") if link.text == "Add a memory"]


def test_a_curator_can_pick_rows_and_the_filter_goes_along(client_as: ClientAs, three: list[str]) -> None:
    page = opened(client_as, "/memories/?tier=2&tag=api", role="curator")

    picked = [
        box.attributes["value"] for box in page.all("input", "m-row__pick") if "value" in box.attributes
    ]
    assert picked == three[::-1]
    filters = [box.attributes["value"] for box in page.all("input", name="filter")]
    assert set(filters) == {"tier=2&tag=api"}
    offered = {button.attributes["value"] for button in page.all("button", name="action")}
    assert {"add_tags", "set_tier", "trash"} <= offered


def test_memory_text_stays_text(client_as: ClientAs, repository: MemoryRepository) -> None:
    repository.add(
        payload("Odd", facts=["<script>alert(1)</script> is what it says"], tags=["<b>x</b>"]), AUTHOR
    )
    page = opened(client_as)

    assert "<script>alert(1)</script>" in page.one("li", "m-row").text
    assert not [script for script in page.all("script") if "alert" in script.text]
