"""Text that addresses a model rather than tells a fact: flagged for a person, never changed or refused.

A memory may well say what is to be done ("run the linter before a commit"). What makes a text suspicious is
that it speaks about the reader's own instructions, tools or secrecy, poses as another speaker, or hides.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from memories.screening.fence import neutralise


@dataclass(frozen=True, slots=True)
class InstructionFinding:
    """`reason` says in a few words what is suspicious; `start` and `end` where in the text it stands."""

    reason: str
    start: int
    end: int


def find_instructions(text: str) -> tuple[InstructionFinding, ...]:
    """What in a text reads like an order to a model, in order of appearance; of each kind the first."""
    return tuple(sorted(_findings(text), key=lambda finding: (finding.start, finding.end)))


# Any invisible character at all is odd inside words; these carry hidden text or turn the reading order.
_HIDDEN = re.compile("[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
# Text that looks like base64 and is long enough for a sentence.
_ENCODED = re.compile(r"(?:decode|base64|atob|rot13)\b[^\n]{0,60}?\s[A-Za-z0-9+/]{24,}={0,2}", re.IGNORECASE)


def _findings(text: str) -> Iterator[InstructionFinding]:
    # Read as the model would: without what is invisible. Places are those of that reading where they differ.
    visible = _HIDDEN.sub("", text)
    for reason, pattern in _kinds():
        if match := pattern.search(visible):
            yield InstructionFinding(reason, match.start(), match.end())
    if (tag := _first_tag(text)) >= 0:
        yield InstructionFinding("holds the tags of a chat template or tool call", tag, tag + 1)
    if match := _HIDDEN.search(text):
        yield InstructionFinding("holds invisible characters", match.start(), match.end())
    if match := _ENCODED.search(visible):
        yield InstructionFinding("holds encoded text to be decoded", match.start(), match.end())


def _first_tag(text: str) -> int:
    """Where the fence had to defuse something; -1 where nothing."""
    if "‹" in text:
        return -1
    return neutralise(text).find("‹")


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Reason and expression of each kind in `data/instructions.toml`."""
    file = resources.files("memories.screening").joinpath("data", "instructions.toml")
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple((kind["reason"], _compiled(kind["find"], content["lists"])) for kind in content["kind"])


def _compiled(expressions: list[str], lists: dict[str, str]) -> re.Pattern[str]:
    joined = "|".join(expressions)
    return re.compile(re.sub(r"\{([a-z_]+)\}", lambda found: lists[found[1]], joined), re.IGNORECASE)
