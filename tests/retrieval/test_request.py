from __future__ import annotations

import pytest

from memories.contract import Category, MemsuiteError, Tier
from memories.repository import Filter
from memories.retrieval import Mode, SearchRequest


def test_what_is_left_out_has_its_default() -> None:
    assert SearchRequest.from_arguments({"query": "port"}) == SearchRequest("port")


def test_everything_given_is_kept() -> None:
    request = SearchRequest.from_arguments(
        {
            "query": "port",
            "top_k": 3,
            "category": "tech",
            "tier": 1,
            "tag": " blue  proxy ",
            "mode": "graph",
            "relation_depth": 0,
            "neighbor_budget": 2,
            "diagnostics": True,
        }
    )
    assert request == SearchRequest(
        "port", 3, Category.TECH, Tier.CRITICAL, "blue proxy", Mode.GRAPH, 0, 2, True
    )
    assert request.filter == Filter(category="tech", tier=1, tag="blue proxy")


def test_no_filter_where_nothing_narrows() -> None:
    assert SearchRequest("port").filter is None


@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({"query": "a", "limit": 3}, "unknown_field", "limit"),
        ({}, "required_field", "query"),
        ({"query": None}, "required_field", "query"),
        ({"query": 7}, "invalid_type", "query"),
        ({"query": "  "}, "invalid_parameter", "query"),
        ({"query": "a", "top_k": 0}, "invalid_parameter", "top_k"),
        ({"query": "a", "top_k": 51}, "invalid_parameter", "top_k"),
        ({"query": "a", "top_k": True}, "invalid_type", "top_k"),
        ({"query": "a", "top_k": 2.0}, "invalid_type", "top_k"),
        ({"query": "a", "category": "Tech"}, "invalid_category", "category"),
        ({"query": "a", "tier": 4}, "invalid_tier", "tier"),
        ({"query": "a", "mode": "fuzzy"}, "invalid_parameter", "mode"),
        ({"query": "a", "mode": None}, "invalid_type", "mode"),
        ({"query": "a", "tag": ""}, "invalid_parameter", "tag"),
        ({"query": "a", "tag": "x" * 81}, "invalid_parameter", "tag"),
        ({"query": "a", "relation_depth": 2}, "invalid_parameter", "relation_depth"),
        ({"query": "a", "neighbor_budget": 6}, "invalid_parameter", "neighbor_budget"),
        ({"query": "a", "diagnostics": 1}, "invalid_type", "diagnostics"),
    ],
)
def test_the_first_fault_is_named(arguments: dict[str, object], code: str, field: str) -> None:
    with pytest.raises(MemsuiteError) as caught:
        SearchRequest.from_arguments(arguments)
    assert (caught.value.code, caught.value.field) == (code, field)
