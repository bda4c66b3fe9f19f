"""Strict checks of what a model passes to a tool; the host itself checks nothing.

Order as in the contract: shape, unknown fields, required fields, then values in the schema's order.
Memory fields of an add or update (domain … tags) are only checked for presence here: the contract
owns their rules and gives the precise code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

from .tools import Schema, parameters_of

_CONTRACT_FIELDS = frozenset(
    {
        "domain",
        "subject",
        "facts",
        "tier",
        "category",
        "relations",
        "tags",
        "quality",
        "type",
        "write_mode",
        "base_revision",
    }
)
_WRITE_TOOLS = frozenset({"lancedb_add", "lancedb_update"})
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def checked(tool: str, arguments: object) -> dict[str, Any]:
    """The arguments of one call, defaults filled in, or `MemsuiteError` for the first thing wrong.

    Raises not_found (no such tool), invalid_type (not an object, or a value of another kind),
    unknown_field, required_field, invalid_parameter (outside its range or set).
    """
    schema = parameters_of(tool)
    if schema is None:
        raise MemsuiteError(ErrorCode.NOT_FOUND, "tool", f"there is no tool named {tool!r}", received=tool)
    if not isinstance(arguments, Mapping):
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE,
            "",
            "the arguments must be one JSON object",
            received=type(arguments).__name__,
            expected="object",
        )
    properties: dict[str, Schema] = schema["properties"]
    _refuse_unknown(tool, arguments, properties)
    _demand_required(tool, arguments, schema["required"])
    owned_by_contract = _CONTRACT_FIELDS if tool in _WRITE_TOOLS else frozenset()
    for name, rule in properties.items():
        if name in arguments and name not in owned_by_contract:
            _check_value(name, arguments[name], rule)
    defaults = {
        name: rule["default"]
        for name, rule in properties.items()
        if "default" in rule and name not in owned_by_contract
    }
    return {**defaults, **arguments}


def _refuse_unknown(tool: str, arguments: Mapping[Any, Any], properties: Mapping[str, Schema]) -> None:
    unknown = sorted(str(name) for name in arguments if name not in properties)
    if unknown:
        raise MemsuiteError(
            ErrorCode.UNKNOWN_FIELD,
            unknown[0],
            f"{tool} takes no argument named {unknown[0]!r}",
            received=unknown,
            expected=sorted(properties),
        )


def _demand_required(tool: str, arguments: Mapping[Any, Any], required: list[str]) -> None:
    for name in required:
        if name not in arguments:
            raise MemsuiteError(
                ErrorCode.REQUIRED_FIELD, name, f"{tool} needs {name!r}", expected=list(required)
            )


def _check_value(name: str, value: object, rule: Schema) -> None:
    # bool is a subclass of int: without this, true would pass as the number 1.
    if not isinstance(value, _KINDS[rule["type"]]) or (isinstance(value, bool) and rule["type"] != "boolean"):
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE,
            name,
            f"{name} must be of type {rule['type']}",
            received=value,
            expected=rule["type"],
        )
    if "enum" in rule and value not in rule["enum"]:
        code = ErrorCode.INVALID_CATEGORY if name == "category" else ErrorCode.INVALID_PARAMETER
        raise MemsuiteError(
            code, name, f"{name} must be one of the supported values", received=value, expected=rule["enum"]
        )
    if isinstance(value, str):
        _check_length(name, value, rule)
    elif not isinstance(value, bool):
        _check_range(name, value, rule)


def _check_length(name: str, value: str, rule: Schema) -> None:
    if not value.strip() and rule.get("minLength"):
        raise MemsuiteError(ErrorCode.INVALID_PARAMETER, name, f"{name} must not be empty", received=value)


def _check_range(name: str, value: object, rule: Schema) -> None:
    low, high = rule.get("minimum"), rule.get("maximum")
    # Written so that NaN, which compares false with everything, is refused too.
    inside = (low is None or value >= low) and (high is None or value <= high)
    if not inside:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            name,
            f"{name} is outside its range",
            received=value,
            expected={"minimum": low, "maximum": high},
        )
