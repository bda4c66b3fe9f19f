from __future__ import annotations

import json

import pytest

from hermes_plugin.provider.identity import TOOL_NAMES
from hermes_plugin.provider.tools import parameters_of, tool_schemas


def test_eight_tools_in_the_order_of_their_names() -> None:
    assert tuple(schema["name"] for schema in tool_schemas()) == TOOL_NAMES


@pytest.mark.parametrize("schema", tool_schemas(), ids=lambda schema: schema["name"])
def test_every_schema_is_closed_and_requires_only_what_it_describes(schema: dict) -> None:
    parameters = schema["parameters"]
    assert parameters["additionalProperties"] is False
    assert set(parameters["required"]) <= set(parameters["properties"])
    assert schema["description"]


def test_a_host_that_changes_its_copy_changes_nothing_here() -> None:
    tool_schemas()[0]["parameters"]["properties"].clear()
    assert "query" in tool_schemas()[0]["parameters"]["properties"]


def test_all_schemas_together_cost_a_model_less_than_ten_thousand_characters() -> None:
    assert len(json.dumps(tool_schemas())) < 10_000


def test_defaults_lie_within_their_own_limits() -> None:
    for name in TOOL_NAMES:
        parameters = parameters_of(name)
        assert parameters is not None
        for rule in parameters["properties"].values():
            if "default" in rule and rule["type"] == "integer":
                assert rule["minimum"] <= rule["default"] <= rule.get("maximum", rule["default"])
            if "default" in rule and "enum" in rule:
                assert rule["default"] in rule["enum"]
