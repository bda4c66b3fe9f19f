from __future__ import annotations

import json

import pytest

from memories.commands.terminal import columns_of
from memories.embedding import create_embedder
from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.settings import load_settings
from tests.support.commands import Run

MEMORIES = [
    {
        "domain": "Tidewater",
        "subject": subject,
        "facts": facts,
        "tier": 2,
        "category": category,
        "tags": [],
    }
    for subject, facts, category in (
        ("gateway", ["Caddy terminates TLS and forwards to the booking API", "port=8443"], "tech"),
        ("tide_service", ["Answers water level and current for three days", "port=7420"], "tech"),
        ("ines_preferences", ["Ines wants short answers first"], "user_pref"),
    )
]


@pytest.fixture
def stored(run: Run) -> Run:
    lines = "".join(json.dumps(memory) + "\n" for memory in MEMORIES)
    assert run("add_memory", "-", stdin=lines).exit == 0
    return run


def test_the_json_answer_is_exactly_retrievals_but_for_the_times(stored: Run) -> None:
    (answer,) = stored("search_memories", "Caddy TLS gateway", "--json").answers
    settings = load_settings()
    with MemoryRepository.open(settings, create_embedder(settings)) as repository:
        request = SearchRequest.from_arguments({"query": "Caddy TLS gateway"})
        expected = search(repository, request).as_answer()
    assert answer | {"timings": expected["timings"]} == json.loads(json.dumps(expected))
    assert answer["results"]


def test_a_person_sees_the_subject_and_the_text_in_eighty_columns(stored: Run) -> None:
    done = stored("search_memories", "Caddy TLS gateway")
    assert done.exit == 0
    assert "Tidewater:gateway" in done.out
    assert "port=8443" in done.out
    assert max(columns_of(line) for line in done.out.splitlines()) <= 80


def test_finding_nothing_is_an_answer_and_ends_with_zero(stored: Run) -> None:
    done = stored("search_memories", "quarterly insurance premium", "--json")
    (answer,) = done.answers
    assert (done.exit, answer["abstained"], answer["results"]) == (0, True, [])


def test_top_k_and_category_reach_the_search(stored: Run) -> None:
    (answer,) = stored(
        "search_memories", "port=8443", "--top-k", "1", "--category", "user_pref", "--json"
    ).answers
    assert answer["results"] == []
    (answer,) = stored("search_memories", "port=8443", "--top-k", "1", "--category", "tech", "--json").answers
    assert [row["subject"] for row in answer["results"]] == ["gateway"]


def test_diagnostics_come_with_the_json_and_below_the_results(stored: Run) -> None:
    (answer,) = stored("search_memories", "Caddy TLS", "--diagnostics", "--json").answers
    assert "threshold" in answer["diagnostics"]
    assert "Diagnostics" in stored("search_memories", "Caddy TLS", "--diagnostics").out


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--mode", "psychic", "invalid_parameter"),
        ("--top-k", "0", "invalid_parameter"),
        ("--category", "x", "invalid_category"),
    ],
)
def test_an_option_outside_its_range_ends_with_two(stored: Run, option: str, value: str, code: str) -> None:
    done = stored("search_memories", "port", option, value, "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (2, code)


def test_without_a_model_a_search_by_meaning_fails_and_one_by_words_does_not(
    stored: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:no-such-model")
    by_meaning = stored("search_memories", "who answers TLS", "--mode", "hybrid", "--json")
    assert (by_meaning.exit, by_meaning.answers[0]["degraded"]) == (1, True)
    by_words = stored("search_memories", "Caddy TLS gateway", "--mode", "lexical", "--json")
    assert (by_words.exit, by_words.answers[0]["degraded"]) == (0, False)
    assert by_words.answers[0]["results"]


def test_searching_from_the_command_line_counts_as_no_recall(stored: Run) -> None:
    (first,) = stored("search_memories", "Caddy TLS gateway", "--json").answers
    (again,) = stored("search_memories", "Caddy TLS gateway", "--json").answers
    assert again["results"] == first["results"]
