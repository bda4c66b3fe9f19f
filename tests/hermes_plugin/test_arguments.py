from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_plugin.provider.arguments import checked
from hermes_plugin.provider.identity import TOOL_NAMES
from memories.contract import ErrorCode, MemsuiteError


def refusal(tool: str, arguments: object) -> tuple[ErrorCode, str]:
    with pytest.raises(MemsuiteError) as caught:
        checked(tool, arguments)
    return caught.value.code, caught.value.field


def test_defaults_are_filled_in() -> None:
    assert checked("lancedb_list", {}) == {"limit": 50, "offset": 0, "order": "newest"}


def test_given_values_win_over_defaults() -> None:
    assert checked("lancedb_search", {"query": "tea", "top_k": 3})["top_k"] == 3


def test_an_absent_optional_argument_without_default_stays_absent() -> None:
    assert "memory_id" not in checked("lancedb_graph", {})


def test_an_add_is_not_given_defaults_that_the_contract_owns() -> None:
    form = {"domain": "a", "subject": "b", "facts": ["c"], "tier": 1, "category": "fact"}
    assert checked("lancedb_add", form) == form


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "field"),
    [
        ("lancedb_remember", {}, ErrorCode.NOT_FOUND, "tool"),
        ("lancedb_search", ["tea"], ErrorCode.INVALID_TYPE, ""),
        ("lancedb_search", None, ErrorCode.INVALID_TYPE, ""),
        ("lancedb_search", {}, ErrorCode.REQUIRED_FIELD, "query"),
        ("lancedb_search", {"query": 5}, ErrorCode.INVALID_TYPE, "query"),
        ("lancedb_search", {"query": "a", "limit": 5}, ErrorCode.UNKNOWN_FIELD, "limit"),
        ("lancedb_search", {"query": "a", "top_k": 0}, ErrorCode.INVALID_PARAMETER, "top_k"),
        ("lancedb_search", {"query": "a", "top_k": 51}, ErrorCode.INVALID_PARAMETER, "top_k"),
        ("lancedb_search", {"query": "a", "top_k": "5"}, ErrorCode.INVALID_TYPE, "top_k"),
        ("lancedb_search", {"query": "a", "top_k": True}, ErrorCode.INVALID_TYPE, "top_k"),
        ("lancedb_search", {"query": "a", "top_k": 5.0}, ErrorCode.INVALID_TYPE, "top_k"),
        ("lancedb_search", {"query": "a", "top_k": None}, ErrorCode.INVALID_TYPE, "top_k"),
        ("lancedb_search", {"query": "a", "mode": "fuzzy"}, ErrorCode.INVALID_PARAMETER, "mode"),
        ("lancedb_search", {"query": "a", "scope": "files"}, ErrorCode.INVALID_PARAMETER, "scope"),
        ("lancedb_search", {"query": "a", "category": "misc"}, ErrorCode.INVALID_CATEGORY, "category"),
        ("lancedb_search", {"query": "a", "diagnostics": 1}, ErrorCode.INVALID_TYPE, "diagnostics"),
        (
            "lancedb_search",
            {"query": "a", "relation_depth": 2},
            ErrorCode.INVALID_PARAMETER,
            "relation_depth",
        ),
        ("lancedb_get", {"memory_id": " "}, ErrorCode.INVALID_PARAMETER, "memory_id"),
        ("lancedb_list", {"limit": 201}, ErrorCode.INVALID_PARAMETER, "limit"),
        ("lancedb_list", {"offset": -1}, ErrorCode.INVALID_PARAMETER, "offset"),
        ("lancedb_list", {"quality_min": float("nan")}, ErrorCode.INVALID_PARAMETER, "quality_min"),
        ("lancedb_graph", {"depth": 3}, ErrorCode.INVALID_PARAMETER, "depth"),
        ("lancedb_conflicts", {"limit": 501}, ErrorCode.INVALID_PARAMETER, "limit"),
        ("lancedb_add", {"domain": "a", "quality": 1}, ErrorCode.UNKNOWN_FIELD, "quality"),
        ("lancedb_update", {"memory_id": "a"}, ErrorCode.REQUIRED_FIELD, "domain"),
    ],
)
def test_refused_by_its_code_and_place(tool: str, arguments: object, code: ErrorCode, field: str) -> None:
    assert refusal(tool, arguments) == (code, field)


@pytest.mark.parametrize("tool", [name for name in TOOL_NAMES if name != "lancedb_search"])
def test_the_arguments_of_a_search_are_refused_by_every_other_tool(tool: str) -> None:
    """The host runs a misspelt tool name as the nearest one; it must not be half obeyed."""
    assert refusal(tool, {"query": "tea", "top_k": 3})[0] is ErrorCode.UNKNOWN_FIELD


@given(
    st.sampled_from([*TOOL_NAMES, "lancedb_extra"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["query", "memory_id", "limit", "tier", "facts", "mode"]) | st.text(), inner
            )
        ),
    ),
)
def test_no_input_raises_anything_but_our_own_errors(tool: str, arguments: Any) -> None:
    try:
        assert isinstance(checked(tool, arguments), dict)
    except MemsuiteError as error:
        assert error.code in ErrorCode
