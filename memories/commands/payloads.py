"""Memories to be added, read from options or from JSON, as payloads for the contract.

Nothing is judged here beyond what JSON itself demands: what a memory may hold is the contract's to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

# The write options, in the order of the contract. `fact`, `relation` and `tag` may be given many times.
SINGLE = ("domain", "subject", "tier", "category", "quality", "type", "write_mode")
REPEATED = {"fact": "facts", "relation": "relations", "tag": "tags"}

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def from_options(options: Mapping[str, Any]) -> dict[str, object]:
    """The payload of the options that were given; those left out stay out, so that defaults apply."""
    payload: dict[str, object] = {name: options[name] for name in SINGLE if options.get(name) is not None}
    for option, field in REPEATED.items():
        if options.get(option):
            payload[field] = list(options[option])
    if "tier" in payload:
        payload["tier"] = _number(payload["tier"], int)
    if "quality" in payload:
        payload["quality"] = _number(payload["quality"], float)
    if "relations" in payload:
        payload["relations"] = [relation(text) for text in options["relation"]]
    return payload


def given(options: Mapping[str, Any]) -> bool:
    """Whether any option describes a memory."""
    return any(options.get(name) is not None for name in (*SINGLE, *REPEATED))


def relation(text: str) -> dict[str, str]:
    """`TYPE:TARGET` as the contract's relation.

    A target that is a UUID, or is written `id=<id>`, is a memory's id; any other is a label such as
    `Domain:Subject`. Older ids of 12 or 20 characters look like words, hence the second spelling.
    """
    kind, _, target = text.partition(":")
    if target.startswith("id="):
        return {"type": kind, "target_id": target.removeprefix("id=")}
    if _UUID.fullmatch(target):
        return {"type": kind, "target_id": target}
    return {"type": kind, "target": target}


def from_json(lines: Iterable[str]) -> Iterator[object]:
    """Payloads from JSON lines, or from one document (an object or an array of them).

    Lines are answered as they arrive, so that a program can keep a pipe open. A line that is not JSON becomes
    the `MemsuiteError` to answer with, and the ones after it still count.
    """
    numbered = enumerate(lines, start=1)
    first = next(((number, line) for number, line in numbered if line.strip()), None)
    if first is None:
        return
    number, line = first
    whole = _parsed(line, number)
    if isinstance(whole, MemsuiteError) and line.lstrip()[0] in "[{":
        # No JSON by itself, but it begins like some: a document over several lines, or a broken line.
        rest = list(numbered)
        yield from _document(line, number, rest)
        return
    yield from _flattened(whole)
    for number, line in numbered:
        if line.strip():
            yield _parsed(line, number)


def _document(first: str, number: int, rest: list[tuple[int, str]]) -> Iterator[object]:
    document = _parsed(first + "".join(line for _, line in rest), number)
    by_line = [_parsed(line, line_number) for line_number, line in [(number, first), *rest] if line.strip()]
    if isinstance(document, MemsuiteError) and any(isinstance(value, dict) for value in by_line):
        # JSON lines of which the first is broken.
        yield from by_line
    else:
        yield from _flattened(document)


def _flattened(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    else:
        yield value


def _parsed(text: str, number: int) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        return MemsuiteError(
            ErrorCode.INVALID_TYPE,
            f"line {number}",
            f"This line is not JSON: {problem}.",
            expected="a JSON object with the fields of a memory",
        )


def _number(text: object, kind: type[int] | type[float]) -> object:
    try:
        return kind(str(text))
    except ValueError:
        # Left as it came: the contract names the field and what it expects.
        return text
