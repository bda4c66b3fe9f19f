"""Bodies of requests: JSON objects, and the JSON schemas that describe them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from memories.contract import Category, ErrorCode, MemsuiteError, RelationType, Tier
from memories.contract.fields import refuse_unknown

DEPTH_MAX = 32
"""Nesting that a body may have; the contract's own objects need four."""

TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
NUMBER = {"type": "number", "minimum": 0, "maximum": 1}

FORM: dict[str, Any] = {
    "domain": TEXT,
    "subject": TEXT,
    "facts": TEXTS,
    "tier": {"type": "integer", "enum": [int(tier) for tier in Tier]},
    "category": {"type": "string", "enum": [str(category) for category in Category]},
    "relations": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": [str(kind) for kind in RelationType]},
                "target_id": TEXT,
                "target": TEXT,
            },
            "required": ["type"],
        },
    },
    "tags": TEXTS,
    "quality": NUMBER,
    "type": TEXT,
}
"""The fields of a memory, as docs/memory-writing.md describes them."""

REQUIRED = ("domain", "subject", "facts", "tier", "category")


def described(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The JSON schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def body_of(request: HttpRequest) -> dict[str, Any]:
    """The object that was sent; an empty body is an empty object.

    Raises ``invalid_type`` for what is no JSON object, and for numbers that JSON does not have.
    """
    try:
        text = request.body.decode("utf-8")
        found = json.loads(text, parse_constant=_no_constant) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error
    if not isinstance(found, dict) or _depth(found) > DEPTH_MAX:
        raise _unreadable()
    return found


def only(body: Mapping[str, Any], *names: str) -> None:
    """Raises ``unknown_field`` for a field that is not one of ``names``."""
    refuse_unknown(body, names)


def text_of(body: Mapping[str, Any], name: str, *, most: int = 500, default: str | None = None) -> str:
    """A text field. Raises ``required_field``, ``invalid_type`` and ``invalid_parameter``."""
    if name not in body:
        if default is None:
            raise MemsuiteError(ErrorCode.REQUIRED_FIELD, name, f"{name} is missing.")
        return default
    value = body[name]
    if not isinstance(value, str):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, name, f"{name} is a text.", received=value)
    if len(value) > most or "\x00" in value:
        raise MemsuiteError(ErrorCode.INVALID_PARAMETER, name, f"{name} has at most {most} characters.")
    return value


def texts_of(body: Mapping[str, Any], name: str, *, most: int) -> tuple[str, ...]:
    """A list of texts, none by default. Raises ``invalid_type`` and ``too_many_ids``."""
    value = body.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, name, f"{name} is a list of texts.", received=value)
    if len(value) > most:
        raise MemsuiteError(
            ErrorCode.TOO_MANY_IDS,
            name,
            f"{name} takes at most {most} at once; a filter takes more.",
            received=len(value),
            expected=most,
        )
    return tuple(value)


def _depth(value: object) -> int:
    level, deepest = [value], 0
    while level and deepest <= DEPTH_MAX:
        deepest += 1
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return deepest


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _unreadable() -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_TYPE, "body", "The body is one JSON object.", expected="a JSON object"
    )
