"""Which wing and room a turn belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

GENERAL = "general"
CORRECTIONS = "corrections"
CONVERSATIONS = "conversations"


def wing_of(text: str, wings: Mapping[str, tuple[str, ...]]) -> str:
    """The first configured wing of which a keyword occurs in ``text`` as a whole word, whatever its case;
    a wing without keywords takes every turn that comes to it. ``general`` where none does."""
    folded = text.casefold()
    for wing, keywords in wings.items():
        if not keywords or _any_of(keywords).search(folded):
            return wing
    return GENERAL


@lru_cache(maxsize=256)
def _any_of(keywords: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w){re.escape(word.casefold())}(?!\w)" for word in keywords))
