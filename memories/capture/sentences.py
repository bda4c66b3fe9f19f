"""A message as the sentences its author said: without code, without what is quoted from elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Code and quoted lines are somebody else's words, or a machine's.
_FENCED_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)

# What stands in quotation marks is mentioned, not said: `translate "you're wrong"` blames nobody.
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|`[^`\n]{1,300}`"
)
_FILLER = "\x00"

# A sentence ends at closing punctuation before a blank, or at a line end; "No. 5" and "14. mai" do not end.
_END = re.compile(
    r"(?<!\bno)[.](?=\s+\D|\s*$)|(?<=\bno)[.](?=\s+[^\d\s]|\s*$)|[!?…]+(?=\s|$)|\n+", re.IGNORECASE
)
_ORDINAL = re.compile(r"\b\d{1,2}$")
_LOWER_NEXT = re.compile(r"\s+[a-zæøå]")
_APOSTROPHES = str.maketrans("’‘´`ʼ", "'''''")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` as written, trimmed; `words` the same length folded for matching, quotations blanked out."""

    text: str
    words: str

    @property
    def is_question(self) -> bool:
        return self.text.endswith("?")


def sentences(message: str) -> tuple[Sentence, ...]:
    """The sentences of a message in order; code blocks and quoted lines are left out."""
    said = _QUOTED_LINE.sub(_blanked, _FENCED_CODE.sub(_blanked, message))
    words = _QUOTATION.sub(_filled, said).translate(_APOSTROPHES)
    folded = "".join(lower if len(lower := character.lower()) == 1 else character for character in words)
    return tuple(
        Sentence(said[start:end], folded[start:end])
        for start, end in _spans(folded)
        if said[start:end].strip()
    )


def _spans(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in _END.finditer(text):
        if _is_ordinal(text, match):
            continue
        spans.append(_trimmed(text, start, match.end()))
        start = match.end()
    spans.append(_trimmed(text, start, len(text)))
    return spans


def _is_ordinal(text: str, match: re.Match[str]) -> bool:
    """A dot after a small number and before a small letter belongs to a date: `den 14. mai`."""
    if match.group() != ".":
        return False
    return bool(_ORDINAL.search(text[: match.start()]) and _LOWER_NEXT.match(text, match.end()))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _filled(match: re.Match[str]) -> str:
    inner = match.group()
    return inner[0] + _FILLER * (len(inner) - 2) + inner[-1]
