"""The search lab: the same answer as the agent's, with everything behind it told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page
from console.samples import AUTHOR, payload

from memories.console.gate_words import LABELS, parts_of, why_dropped, why_passed
from memories.console.search_trial import Outcome, trial
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.retrieval.evidence import AGAINST, FEATURES

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.test import Client

QUERY = "which port does the Tide_API of Havlys use"


@pytest.fixture
def ids(repository: MemoryRepository) -> dict[str, str]:
    given = {
        "Tide_API": ["port=8410 host=tide.havlys.internal", "Serves tide tables per harbour"],
        "Gauge": ["Reads the gauges every ten minutes"],
        "Codes": ["Harbour codes are four letters"],
    }
    return {
        name: repository.add(payload(name, facts=facts, tags=[name.lower()]), AUTHOR).memory_id
        for name, facts in given.items()
    }


@pytest.fixture
def viewer(client_as: ClientAs) -> Client:
    return client_as("viewer")


def lab(client: Client, **query: str) -> Page:
    return Page(client.get("/search-lab/", query, follow=True))


def test_it_answers_as_the_agent_is_answered(repository: MemoryRepository, ids: dict[str, str]) -> None:
    request = SearchRequest(QUERY, diagnostics=True)
    found = trial(repository, request)

    agents = [result.id for result in search(repository, SearchRequest(QUERY)).results]
    returned = [row.id for row in found.fused if row.outcome is Outcome.RETURNED]
    assert agents == returned == [ids["Tide_API"]]


def test_every_candidate_has_its_verdict_and_its_reason(
    repository: MemoryRepository, ids: dict[str, str]
) -> None:
    found = trial(repository, SearchRequest(QUERY, diagnostics=True))

    assert {row.id for row in found.fused} == set(ids.values())
    assert found.passed + sum(row.outcome is Outcome.DROPPED for row in found.fused) == found.distinct
    for row in found.fused:
        assert (row.evidence >= found.threshold) == row.passed
        assert row.why


def test_the_page_tells_route_lists_order_and_times(viewer: Client, ids: dict[str, str]) -> None:
    page = lab(viewer, q=QUERY)

    assert "Past the gate 1 of 3" in page.text
    assert "Returned 1" in page.text
    assert "embedding" in page.text and "search" in page.text
    assert "Fused order 3 of 3" in page.text
    assert "By words" in page.text and "By meaning" in page.text
    assert page.text.count("Havlys: Tide_API") == 3 or page.text.count("Havlys:Tide_API") == 3


def test_without_a_query_it_says_what_to_do(viewer: Client, ids: dict[str, str]) -> None:
    assert "Try a query" in lab(viewer).text


def test_over_an_empty_database_there_is_nothing_to_try(viewer: Client) -> None:
    assert "Nothing to search yet" in lab(viewer).text


def test_an_abstention_says_how_near_the_best_came(viewer: Client, ids: dict[str, str]) -> None:
    page = lab(viewer, q="phone number of the dentist in Lyon")

    assert "Abstained: nothing is returned" in page.text
    assert "below_evidence" in page.text
    assert "the threshold is" in page.text


def test_a_query_of_function_words_is_answered_by_a_reason(viewer: Client, ids: dict[str, str]) -> None:
    assert "no_search_words" in lab(viewer, q="which of the").text


def test_an_id_needs_no_gate(viewer: Client, ids: dict[str, str]) -> None:
    page = lab(viewer, q=ids["Gauge"])

    assert "Route exact_id the query is an id" in page.text
    assert "the query is its id" in page.text


def test_options_narrow_what_is_looked_at(viewer: Client, ids: dict[str, str]) -> None:
    assert "Past the gate 0 of 1" in lab(viewer, q=QUERY, tag="gauge").text
    assert "Not asked: mode lexical looks at words alone." in lab(viewer, q=QUERY, mode="lexical").text


def test_a_box_that_is_not_ticked_follows_no_relation(
    repository: MemoryRepository, viewer: Client, ids: dict[str, str]
) -> None:
    declared = [{"type": "depends", "target_id": ids["Codes"]}]
    repository.update(ids["Tide_API"], {"relations": declared}, AUTHOR, patch=True)

    assert "Returned without a rank" in lab(viewer, q=QUERY, options="1", relations="1").text
    assert "Returned without a rank" not in lab(viewer, q=QUERY, options="1").text


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("mode", "vector", "invalid_parameter"),
        ("top_k", "many", "invalid_type"),
        ("tier", "9", "invalid_tier"),
    ],
)
def test_an_option_that_cannot_be_is_named(
    viewer: Client, ids: dict[str, str], option: str, value: str, code: str
) -> None:
    answer = viewer.get("/search-lab/", {"q": QUERY, option: value})

    assert 400 <= answer.status_code < 500
    assert code in Page(answer).text


def test_a_model_that_is_down_leaves_words_alone(
    repository: MemoryRepository, viewer: Client, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(text: str) -> None:
        raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "query", "The model does not answer.")

    monkeypatch.setattr(repository.embedder, "embed_query", down)
    page = lab(viewer, q=QUERY)

    assert "This search was not made" in page.text
    assert "embedding_unavailable" in page.text
    assert any("mode=lexical" in link for link in page.links)
    assert "Returned 1" in lab(viewer, q=QUERY, mode="lexical").text


def test_the_address_holds_what_differs_from_the_usual(viewer: Client, ids: dict[str, str]) -> None:
    sent = {"q": QUERY, "options": "1", "mode": "lexical", "top_k": "10", "tag": "", "tier": ""}
    address = viewer.get("/search-lab/", sent).headers["Location"]

    assert address == "/search-lab/?q=which+port+does+the+Tide_API+of+Havlys+use&mode=lexical&relations=0"
    brought = viewer.get("/search-lab/", sent, headers={"HX-Request": "true"})
    assert brought.headers["HX-Push-Url"] == address


def test_trying_a_query_is_no_recall(
    repository: MemoryRepository, viewer: Client, ids: dict[str, str]
) -> None:
    lab(viewer, q=QUERY)

    assert repository.usage.of(list(ids.values())) == {}


def test_every_kind_of_evidence_has_its_words() -> None:
    assert LABELS.keys() >= set(FEATURES)
    row = dict.fromkeys(FEATURES, 0.0)
    for name in FEATURES:
        said = why_dropped if name in AGAINST else why_passed
        assert said(row | {name: 1.0}, {name: 1.0}) not in ("enough evidence", "not enough evidence"), name


def test_the_heaviest_reason_comes_first_and_each_is_said_once() -> None:
    row = dict.fromkeys(FEATURES, 0.0) | {"about": 1.0}
    weights = {"about": 9.0, "coverage": 1.0, "both": 2.0, "topic_both": 3.0}

    assert why_dropped(row, weights) == (
        "lacks 100% of the names and exact parts, words and meaning disagree"
    )
    assert why_passed(row | {"coverage": 0.5, "both": 0.4}, weights) == (
        "words and meaning agree, holds 50% of the words"
    )
    heaviest = parts_of(row, weights)[0]
    assert (heaviest.name, heaviest.adds) == ("about", -9.0)
