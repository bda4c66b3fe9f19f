"""JSON from anywhere: bounded in length and depth, and nothing but what JSON can say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from memories.contract import ErrorCode, MemsuiteError

LINE_MAX = 8 * 2**20
"""Bytes of one line. A memory with two vectors of 4,096 numbers is 50 KB; a trashed one with many edges
some hundred."""

DEPTH_MAX = 32
"""Levels of one value. Ours have six."""

DIGITS_MAX = 400
"""Of one number: the largest float has 309 before its point."""

_FIRST_KEY = re.compile(rb'\s*\{\s*"(?P<key>[^"\\]{1,64})"')


def bounded_lines(file: BinaryIO, *, limit: int = LINE_MAX) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1. Raises ``payload_too_large`` for one that is longer
    than ``limit`` without ever holding it."""
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise MemsuiteError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"line {number}",
                "The line is longer than any row can be.",
                expected=limit,
            )
        yield number, line


def parsed(text: bytes | str, place: str) -> Any:
    """The value of a JSON text. Raises ``invalid_type`` for what is not JSON, nests deeper than
    ``DEPTH_MAX``, or holds a number that no float can."""
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=_integer, parse_float=_floating)
    except (ValueError, RecursionError) as error:
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE, place, "This is not JSON.", expected="a JSON value"
        ) from error
    require_shallow(value, place)
    return value


def require_shallow(value: Any, place: str) -> None:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise MemsuiteError(ErrorCode.INVALID_TYPE, place, "The value is nested too deep.", expected=DEPTH_MAX)


def require_object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, place, "This is no object.", expected="a JSON object")
    return value


def first_value(path: Path) -> Any:
    """The first line of a file as a value, for telling what the file is; None where it is no JSON. Of a
    document over many lines only its first key is known."""
    try:
        with path.open("rb") as file:
            line = file.readline(LINE_MAX)
            if not line.strip():
                line += file.readline(LINE_MAX)
            opening = line if len(line) > 4 else line + file.read(4_096)
    except (OSError, ValueError):
        return None
    try:
        return parsed(line, "line 1")
    except MemsuiteError:
        found = _FIRST_KEY.match(opening.removeprefix(b"\xef\xbb\xbf"))
        return {found["key"].decode("utf-8", "replace"): None} if found else None


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(text: str) -> int:
    if len(text) > DIGITS_MAX:
        raise ValueError("the number is too long")
    return int(text)


def _floating(text: str) -> float:
    if len(text) > DIGITS_MAX or not math.isfinite(value := float(text)):
        raise ValueError("the number is out of range")
    return value
