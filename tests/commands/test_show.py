from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.commands.show import (
    add_lines,
    age,
    conflict_lines,
    diagnostics_lines,
    error_lines,
    search_lines,
)
from memories.commands.terminal import Screen
from memories.contract import ErrorCode, MemsuiteError

SCREEN = Screen(width=80)
RESULT: dict[str, Any] = {
    "id": "01a22e06-de4b-7000-b12d-767c0ae11b6b",
    "content": "Tidewater:gateway Caddy terminates TLS. port=8443. [Tier=2]",
    "domain": "Tidewater",
    "subject": "gateway",
    "tier": 2,
    "category": "tech",
    "created_at": None,
    "score": 0.834,
    "evidence": 0.9,
    "match_type": "hybrid",
    "conflicts_open": 0,
    "superseded_by": None,
}
FOUND: dict[str, Any] = {
    "success": True,
    "count": 1,
    "results": [RESULT],
    "engine": {"calibrated": True},
    "route": "hybrid",
    "degraded": False,
    "abstained": False,
    "timings": {"embedding_ms": 4.2, "search_ms": 9.7},
}
ABSTAINED: dict[str, Any] = {
    **FOUND,
    "results": [],
    "abstained": True,
    "abstention_reason": "below_evidence",
    "message": "Nothing is stored about this.",
}


def found(**changes: Any) -> str:
    return "\n".join(search_lines({**FOUND, "results": [RESULT | changes]}, SCREEN))


def test_a_result_shows_its_subject_its_text_and_why_it_is_there() -> None:
    assert found().splitlines() == [
        "1 memory",
        "",
        "  1  Tidewater:gateway                                             tech · tier 2",
        "     Caddy terminates TLS. port=8443.",
        "     hybrid · score 0.83 · evidence 0.90 · …0ae11b6b",
        "",
        "route hybrid · embedding 4 ms · search 10 ms",
    ]


def test_a_replaced_memory_says_by_which_one() -> None:
    assert "replaced by …e9ead000" in found(superseded_by="01a22e06-de4b-7001-894c-5bfb1e9ead000")


def test_open_conflicts_are_counted() -> None:
    assert "2 open conflicts" in found(conflicts_open=2)


@pytest.mark.parametrize(
    ("relation", "direction", "sentence"),
    [
        ("part_of", "in", "is part of Tidewater:gateway"),
        ("depends", "out", "Tidewater:gateway depends on this"),
        ("runs_on", "out", "Tidewater:gateway runs on this"),
    ],
)
def test_a_neighbour_says_what_is_declared_and_has_no_score(
    relation: str, direction: str, sentence: str
) -> None:
    neighbour = RESULT | {
        "id": "01a22e06-de4b-7001-894c-5bfb1e9ead00",
        "subject": "api",
        "match_type": "declared_relation",
        "relation_type": relation,
        "direction": direction,
        "seed_id": RESULT["id"],
        "score": None,
        "evidence": None,
    }
    lines = search_lines({**FOUND, "results": [RESULT, neighbour]}, SCREEN)
    assert lines[-3] == f"     {sentence} · …1e9ead00"


def test_an_abstention_says_what_it_means_and_its_reason() -> None:
    assert search_lines(ABSTAINED, SCREEN) == [
        "Nothing to show",
        "  Nothing is stored about this.",
        "  below_evidence",
    ]


def test_a_degraded_search_says_why() -> None:
    answer = {**ABSTAINED, "degraded": True, "degraded_reason": "embedding_unavailable"}
    assert "  Degraded: embedding_unavailable" in search_lines(answer, SCREEN)


def test_uncalibrated_search_is_named_as_such() -> None:
    answer = {**FOUND, "engine": {"calibrated": False}}
    assert search_lines(answer, SCREEN)[-1].endswith("uncalibrated")


def test_diagnostics_are_shown_as_names_and_values_with_one_row_a_line() -> None:
    answer = {
        "diagnostics": {"weights": {"lexical": 0.7}, "threshold": 0.41, "lexical": [["a", 3.25], ["b", 1]]}
    }
    assert diagnostics_lines(answer, SCREEN) == [
        "",
        "Diagnostics",
        "  weights",
        "    lexical: 0.7",
        "  threshold: 0.41",
        "  lexical:",
        "    a, 3.25",
        "    b, 1",
    ]


def test_an_error_shows_code_place_message_and_what_was_expected() -> None:
    error = MemsuiteError(
        ErrorCode.INVALID_TIER, "tier", "The tier is 1, 2 or 3.", received=5, expected=[1, 2, 3]
    )
    assert error_lines(error.as_answer(), SCREEN) == [
        "invalid_tier (tier)",
        "  The tier is 1, 2 or 3.",
        "  received: 5",
        "  expected: 1, 2, 3",
    ]


def test_a_retryable_error_says_that_trying_again_may_help() -> None:
    error = MemsuiteError(ErrorCode.STORE_BUSY, "db_path", "Another process is writing.")
    assert error_lines(error.as_answer(), SCREEN)[-1] == "  Trying again may help."


def test_a_created_memory_shows_its_whole_id_and_its_text() -> None:
    answer = {
        "success": True,
        "status": "created",
        "memory_id": RESULT["id"],
        "canonical_content": RESULT["content"],
        "warnings": [{"code": "overly_broad_subject", "field": "subject", "message": "Too broad."}],
    }
    assert add_lines(answer, SCREEN) == [
        f"created  {RESULT['id']}",
        f"  {RESULT['content']}",
        "  note: Too broad.",
    ]


def test_a_conflict_shows_both_values_and_both_texts() -> None:
    conflict = {
        "subject": "tidewater:gateway",
        "status": "open",
        "claim_key": "port",
        "value_a": "8443",
        "value_b": "9443",
        "memory_a_id": "aaaaaaaa-1",
        "memory_b_id": "bbbbbbbb-2",
    }
    contents = {"aaaaaaaa-1": "Tidewater:gateway port=8443. [Tier=2]", "bbbbbbbb-2": "(the other)"}
    lines = conflict_lines(conflict, contents, SCREEN)
    assert lines[1] == "  2 memories disagree about port"
    assert lines[2].startswith("  port=8443") and lines[4].startswith("  port=9443")
    assert lines[3] == "    Tidewater:gateway port=8443. [Tier=2]"


NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "today"), (1, "1 day ago"), (29, "29 days ago"), (61, "2 months ago"), (800, "2 years ago")],
)
def test_age_is_told_in_the_largest_unit_that_fits(days: int, words: str) -> None:
    assert age((NOW - timedelta(days=days)).isoformat(), NOW) == words


def test_a_moment_without_zone_is_taken_as_utc() -> None:
    assert age("2026-02-27T00:00:00", NOW) == "2 days ago"


def test_no_moment_is_no_age() -> None:
    assert age(None, NOW) == ""
