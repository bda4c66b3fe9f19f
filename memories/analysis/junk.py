"""Whether a memory says anything: trials and greetings that were stored by mistake do not."""

from __future__ import annotations

from functools import cache
from importlib import resources

from memories.analysis.profile import profile_of, stem_of
from memories.repository import StoredMemory
from memories.text.folding import fold

LEAST_SAID = 2
"""Words of content, numbers and names; with fewer nobody can tell later what was meant."""


def says_nothing(memory: StoredMemory) -> bool:
    """Whether the facts hold no claim and hardly a word, or only words like "test" and "thanks"."""
    if memory.claims or sum(map(len, memory.facts)) > 200:
        return False
    profile = profile_of(memory.domain, memory.subject, memory.facts, ())
    telling = profile.said - _junk()
    return len(profile.said) < LEAST_SAID or (not telling and not profile.numbers)


@cache
def _junk() -> frozenset[str]:
    text = resources.files("memories.analysis").joinpath("data", "junk.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    words = {fold(word.strip()) for line in lines for word in line.split(",")}
    return frozenset(words | {stem_of(word) for word in words})
