from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_plugin.provider.answers import MAX_CHARACTERS, answer_text, error_text, unexpected_text
from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError


def rows(count: int, size: int = 300) -> list[dict[str, Any]]:
    return [{"id": f"m{number}", "content": "x" * size} for number in range(count)]


def page(count: int, size: int = 300) -> dict[str, Any]:
    return {"success": True, "total": 500, "count": count, "rows": rows(count, size)}


def test_a_short_answer_is_passed_on_whole() -> None:
    answer = json.loads(answer_text("lancedb_list", page(3)))
    assert [row["id"] for row in answer["rows"]] == ["m0", "m1", "m2"]
    assert "truncated" not in answer


def test_every_answer_carries_the_contract_version() -> None:
    assert json.loads(answer_text("lancedb_list", {"success": True}))["contract_version"] == CONTRACT_VERSION
    error = MemsuiteError(ErrorCode.MEMORY_NOT_FOUND, "memory_id", "no such memory")
    assert json.loads(error_text(error))["contract_version"] == CONTRACT_VERSION


def test_non_ascii_text_is_kept_readable() -> None:
    assert "blåbær 漢字" in answer_text("lancedb_get", {"success": True, "memory": "blåbær 漢字"})


def test_a_long_page_is_cut_at_a_whole_row_and_says_where_to_go_on() -> None:
    text = answer_text("lancedb_list", page(200), offset=100)
    answer = json.loads(text)
    shown = len(answer["rows"])
    assert len(text) <= MAX_CHARACTERS
    assert answer["truncated"] is True
    assert answer["count"] == shown
    assert answer["omitted"] == {"rows": 200 - shown}
    assert answer["how_to_go_on"] == f"ask again with offset={100 + shown}"
    assert all(len(row["content"]) == 300 for row in answer["rows"])


def test_a_cut_search_keeps_the_best_results() -> None:
    answer = json.loads(
        answer_text("lancedb_search", {"success": True, "count": 50, "results": rows(50, 1000)})
    )
    assert [row["id"] for row in answer["results"]] == [f"m{number}" for number in range(answer["count"])]


def test_diagnostics_go_before_any_result_does() -> None:
    body = {"success": True, "count": 5, "results": rows(5), "diagnostics": {"candidates": ["x" * 100] * 300}}
    answer = json.loads(answer_text("lancedb_search", body))
    assert len(answer["results"]) == 5
    assert answer["omitted"] == {"diagnostics": 1}


def test_one_memory_over_every_limit_is_shortened_rather_than_passed_on() -> None:
    text = answer_text("lancedb_get", {"success": True, "memory": {"id": "m1", "content": "x" * 50_000}})
    assert len(text) <= MAX_CHARACTERS
    assert json.loads(text)["memory"]["content"].endswith("…")


def test_a_graph_is_cut_without_edges_into_nothing() -> None:
    nodes = [{"id": f"m{number}", "content": "x" * 200} for number in range(200)]
    edges = [{"source_id": "m0", "target_id": f"m{number}", "type": "uses"} for number in range(1, 200)]
    answer = json.loads(answer_text("lancedb_graph", {"success": True, "nodes": nodes, "edges": edges}))
    known = {node["id"] for node in answer["nodes"]}
    assert "m0" in known
    assert len(answer["edges"]) > 10
    assert all(edge["target_id"] in known for edge in answer["edges"])


def test_an_unexpected_failure_names_its_kind_and_not_its_text() -> None:
    text = unexpected_text(RuntimeError("the memory said swordfish"))
    assert "RuntimeError" in text
    assert "swordfish" not in text


@given(
    st.sampled_from(["lancedb_search", "lancedb_list", "lancedb_get", "lancedb_conflicts"]),
    st.lists(st.text(max_size=3000), max_size=60),
)
def test_no_answer_is_longer_than_a_model_can_take(tool: str, texts: list[str]) -> None:
    key = {"lancedb_search": "results", "lancedb_list": "rows", "lancedb_get": "revisions"}.get(
        tool, "conflicts"
    )
    text = answer_text(tool, {"success": True, key: [{"content": content} for content in texts]})
    assert len(text) <= MAX_CHARACTERS
    assert json.loads(text)["success"] is True
