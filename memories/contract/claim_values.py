"""Values of claims, typed by their shape: what is compared is the meaning of a value, not its spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum


class ClaimKind(StrEnum):
    NUMBER = "number"  # an integer
    VERSION = "version"  # anything numeric with a dot: 3.10, 1.2.3-rc1, 0.5, 10.0.0.7
    PATH = "path"  # a path or a file name
    URL = "url"  # a URL, or a host with a port
    BOOLEAN = "boolean"
    TEXT = "text"


_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

_INTEGER = re.compile(r"(?P<sign>[+-]?)(?P<digits>[0-9]+)")
_DOTTED = re.compile(
    r"(?:[+-]?[0-9]*\.[0-9]+|[vV]?[0-9]+(?:\.[0-9]+)+)(?:[-+_]?[A-Za-z][0-9A-Za-z.+-]*|\+)?|[vV][0-9]+"
)
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<host>[^/?#\s]*)(?P<rest>\S*)")
_HOST_PORT = re.compile(
    r"(?P<scheme>)(?P<host>(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})(?P<rest>/\S*)?"
)
_ROOTED_PATH = re.compile(r"(?:~?|\.{1,2}|[A-Za-z]:|\$\{?\w+\}?|%\w+%)[/\\].*|\\\\.+", re.DOTALL)
_RELATIVE_PATH = re.compile(r"(?=.*[^\W\d_])[^\s/\\:]+(?:[/\\][^\s/\\:]*)+")
_FILE_NAME = re.compile(r"\.[^\W\d][\w.-]*|[^\s/\\:,]*[\w\])]\.[A-Za-z][A-Za-z0-9]{0,7}")

_QUOTES = "\"'`“”‘’„«»"
_CLOSING = ".,;:!?…"
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def typed(written: str, *, quoted: bool = False) -> tuple[str, ClaimKind, str]:
    """(value, kind, normal form) of the text after `key=`.

    Unquoted, a first token that has a shape of its own is the value and the rest is prose
    (`port=7777 for the gateway`). Quotes mark the whole text as the value: only the whole may have a shape.
    """
    whole = written.strip()
    candidate = whole if quoted else _without_closing(whole.split(maxsplit=1)[0] if whole else "")
    for kind, normal_form in _SHAPES:
        normal = normal_form(candidate)
        if normal is not None:
            return candidate, kind, normal
    return _text(whole, quoted=quoted)


def _text(whole: str, *, quoted: bool) -> tuple[str, ClaimKind, str]:
    # A value of nothing but punctuation is kept, and compared, as it stands.
    value = whole if quoted else _without_closing(whole) or whole
    folded = unicodedata.normalize("NFC", " ".join(value.split()).casefold())
    return value, ClaimKind.TEXT, _without_closing(folded) or folded


def _without_closing(text: str) -> str:
    """Without the quotes around and closing punctuation; a bracket goes only if nothing opens it."""
    kept = text.strip(_QUOTES)
    while kept:
        last = kept[-1]
        unopened = last in _BRACKETS and kept.count(_BRACKETS[last]) < kept.count(last)
        if not (unopened or last in _CLOSING or last in _QUOTES or last.isspace()):
            return kept
        kept = kept[:-1]
    return kept


def _integer(text: str) -> str | None:
    match = _INTEGER.fullmatch(text)
    if not match:
        return None
    # By text, not int(): a number may have more digits than Python converts.
    digits = match["digits"].lstrip("0") or "0"
    return f"-{digits}" if match["sign"] == "-" and digits != "0" else digits


def _dotted(text: str) -> str | None:
    if not _DOTTED.fullmatch(text):
        return None
    return _without_point_zero(text)


def _without_point_zero(text: str) -> str:
    """`2.0` and `2.0.0` say `2`, but `3.10` is not `3.1`: it may be a version as well as a decimal."""
    folded = text.casefold()
    tail = len(folded)
    while folded[:tail].endswith(".0"):
        tail -= 2
    kept = folded[:tail]
    return _integer(kept) or kept if kept else folded


def _url(text: str) -> str | None:
    match = _URL.fullmatch(text) or _HOST_PORT.fullmatch(text)
    if not match:
        return None
    # Name and password keep their case; only the host is folded. A bare "/" names the same page as none.
    user, at, host = match["host"].rpartition("@")
    rest = match["rest"] or ""
    return f"{match['scheme'].casefold()}{user}{at}{host.casefold()}{'' if rest == '/' else rest}"


def _path(text: str) -> str | None:
    if not (_ROOTED_PATH.fullmatch(text) or _RELATIVE_PATH.fullmatch(text) or _FILE_NAME.fullmatch(text)):
        return None
    return text.rstrip("/\\") or text[:1]


def _boolean(text: str) -> str | None:
    return _BOOLEANS.get(text.casefold())


# The first shape that fits wins: a URL holds slashes and dots too, and 1.2 could be a file name.
_SHAPES: tuple[tuple[ClaimKind, Callable[[str], str | None]], ...] = (
    (ClaimKind.NUMBER, _integer),
    (ClaimKind.BOOLEAN, _boolean),
    (ClaimKind.URL, _url),
    (ClaimKind.VERSION, _dotted),
    (ClaimKind.PATH, _path),
)
