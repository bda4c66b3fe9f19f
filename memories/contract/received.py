"""How much of a caller's value an error repeats back: never more than is needed to recognise it.

A refused value may be anything at all (cyclic, a million characters, an integer too long to print, text that
UTF-8 cannot hold), and the answer that names it must still become JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from memories.contract.limits import RECEIVED_MAX

_DEPTH_SHOWN = 4
_JSON_INTEGER_BITS = 64


def printable(text: str, limit: int = RECEIVED_MAX) -> str:
    """The first `limit` characters; a lone surrogate becomes its escape, since UTF-8 cannot hold it."""
    return text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")[:limit]


def shown(value: object) -> object:
    """A JSON scalar standing for any value: scalars as they are, all else as text cut to 200 characters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int):
        # Python refuses to print an integer of more than 4,300 digits.
        return (
            value if value.bit_length() <= _JSON_INTEGER_BITS else f"an integer of {value.bit_length()} bits"
        )
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return printable(_joined(_pieces(value, _DEPTH_SHOWN)))


def structure(value: object, depth: int = _DEPTH_SHOWN) -> object:
    """The same lists and objects with every leaf shown: for `received` that this suite built itself."""
    if depth and isinstance(value, Mapping):
        return {printable(str(key)): structure(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [structure(item, depth - 1) for item in value]
    return shown(value)


def _joined(pieces: Iterator[str]) -> str:
    """Joins until there is enough, so that a huge value costs no more than a small one."""
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > RECEIVED_MAX:
            break
    return text


def _pieces(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and depth:
        yield "{"
        for position, (key, item) in enumerate(value.items()):
            yield ", " if position else ""
            yield from _pieces(key, depth - 1)
            yield ": "
            yield from _pieces(item, depth - 1)
        yield "}"
    elif isinstance(value, (list, tuple)) and depth:
        yield "["
        for position, item in enumerate(value):
            yield ", " if position else ""
            yield from _pieces(item, depth - 1)
        yield "]"
    elif isinstance(value, (Mapping, list, tuple)):
        yield "…"
    elif value is None or isinstance(value, (bool, int, float, str)):
        yield json.dumps(shown(value), ensure_ascii=False)
    else:
        # Not JSON: its own text could be anything, or raise, so its type stands for it.
        yield f"<{type(value).__name__}>"
