"""A secret that a model pastes into the wrong argument is repeated by no tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from screening.made_up import SECRETS

from hermes_plugin.provider import SuiteProvider
from tests.support.provider_calls import form

TOKEN = SECRETS["github classic"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("lancedb_add", form(tier=TOKEN)),
        ("lancedb_add", form(category=f"x {TOKEN}")),
        ("lancedb_add", {**form(), TOKEN: 1}),
        ("lancedb_add", form("gateway", f"key={TOKEN}")),
        ("lancedb_search", {"query": "x", "mode": TOKEN}),
        ("lancedb_get", {"memory_id": TOKEN}),
        ("lancedb_list", {"category": [TOKEN]}),
        ("lancedb_nothing", {"x": TOKEN}),
    ],
)
def test_an_answer_does_not_repeat_it(
    start: Callable[..., SuiteProvider], tool: str, arguments: dict[str, Any]
) -> None:
    answer = start().handle_tool_call(tool, arguments)
    assert '"success":false' in answer
    assert TOKEN not in answer
