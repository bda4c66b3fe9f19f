"""What an assistant claims and nobody has confirmed: where it guesses, or where being wrong is costly."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from memories.contract import Tier
from memories.repository import StoredMemory

AGENT = "agent"


def unverified(memory: StoredMemory) -> tuple[str, str]:
    """Why a memory should be verified and the field it is about ("" for all of it); ("", "") where nothing
    is to be done. Whether the assistant has stated it again since is not asked here."""
    if memory.source != AGENT or memory.approved_by:
        return "", ""
    if memory.tier == Tier.CRITICAL:
        return "An assistant made this tier 1, and nobody has confirmed it.", ""
    for at, fact in enumerate(memory.facts):
        if hedge := _hedges().search(fact.lower()):
            return f"An assistant's guess (“{hedge.group()}”) that nobody has confirmed.", f"facts[{at}]"
    return "", ""


@cache
def _hedges() -> re.Pattern[str]:
    text = resources.files("memories.analysis").joinpath("data", "hedges.txt").read_text(encoding="utf-8")
    words = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")
