"""How much of each side of a turn is kept."""

from __future__ import annotations

LONGEST_SIDE = 4_000
"""Characters kept of what the person said, and of the answer (spec 05)."""


def cut_at_word(text: str, longest: int = LONGEST_SIDE) -> tuple[str, bool]:
    """At most ``longest`` characters of ``text``, ended at a word, and whether anything was left out.

    A single word longer than that is cut inside: there is no better place.
    """
    text = text.strip()
    if len(text) <= longest:
        return text, False
    kept = text[:longest]
    if not text[longest].isspace():
        # Back to the last blank, unless that would give up more than half for one long word.
        blank = max(kept.rfind(mark) for mark in " \n\t")
        kept = kept[:blank] if blank > longest // 2 else kept
    return kept.rstrip(), True
