"""What counts as a word character, and which scripts are written without blanks between words."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul: spaced, but particles stick to the words
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana and the marks of repetition
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
_SCRIPT_RUNS = re.compile(f"([{_UNSPACED_RANGES}]+)")


def _mark_ranges() -> str:
    """Combining marks as a character class: `\\w` leaves them out, which would cut Thai and Hindi words."""
    marks = [code for code in range(0x300, 0x11000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    ranges: list[list[int]] = []
    for code in marks:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in ranges if last <= 0xFFFF)


MARKS = _mark_ranges()
# One word character: letter, digit, or a mark on one.
WORD_CHARACTER = f"(?:[^\\W_]|[{MARKS}])"
PICTOGRAPHS = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"


def has_unspaced(word: str) -> bool:
    return not word.isascii() and _UNSPACED.search(word) is not None


def script_runs(word: str) -> list[str]:
    """`word` cut where an unspaced script begins or ends: 東京tower → 東京, tower."""
    return [run for run in _SCRIPT_RUNS.split(word) if run]


def bigrams(run: str) -> list[str]:
    """Each two neighbouring characters of `run`, so that any part of two characters or more is found;
    the character itself when it stands alone."""
    if len(run) == 1:
        return [run]
    return [a + b for a, b in pairwise(run)]
