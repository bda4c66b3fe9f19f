"""Secrets out of a turn: a quick pass before it touches the disk, a thorough one before it is filed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memories.screening import find_secrets, suspect_secrets

MARGIN = 600
"""Characters beyond the cut that the quick pass still reads, so that a secret is never cut in half."""

_BEFORE, _AFTER = 120, 40
"""Characters around a long word that tell what it is: the name of a key before its value."""

# Every secret of a sure kind holds a word at least this long; prose hardly ever does.
_LONG_WORD = re.compile(r"\S{16,}")
_KEY_BLOCK = "-----BEGIN"

# A finding ends with the first line of a key: the lines after it, and what closes the block, go too.
_KEY_LINES = re.compile(
    r"(?:(?:\s|\\[nrt])*[A-Za-z0-9+/=]{16,}+(?![^\s\\]))*+"
    r"(?:(?:\s|\\[nrt])*[A-Za-z0-9+/=]{0,64}(?:\s|\\[nrt])*-----END[ A-Z0-9]{1,60}-----)?"
)


def mask(text: str) -> tuple[str, int]:
    """``text`` with every secret, sure or doubtful, replaced by what kind it was, and how many there were."""
    return _masked(text, [(found.start, found.end, found.kind) for found in suspect_secrets(text)])


def mask_quickly(text: str) -> tuple[str, int]:
    """The same for the sure kinds alone, looking only where a long word stands: the host waits for it."""
    if _KEY_BLOCK in text:
        return mask(text)
    spans = [
        (start + found.start, start + found.end, found.kind)
        for start, end in _windows(text)
        for found in find_secrets(text[start:end])
    ]
    return _masked(text, spans)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """The places around long words, joined where they touch."""
    start = end = -1
    for word in _LONG_WORD.finditer(text):
        low, high = max(word.start() - _BEFORE, 0), word.end() + _AFTER
        if start >= 0 and low <= end:
            end = high
            continue
        if start >= 0:
            yield start, end
        start, end = low, high
    if start >= 0:
        yield start, end


def _masked(text: str, spans: list[tuple[int, int, str]]) -> tuple[str, int]:
    for start, end, kind in reversed(spans):
        end = _whole_key(text, end) if "key" in kind else end
        text = f"{text[:start]}[{kind} removed]{text[end:]}"
    return text, len(spans)


def _whole_key(text: str, end: int) -> int:
    found = _KEY_LINES.match(text, end)
    return found.end() if found else end
