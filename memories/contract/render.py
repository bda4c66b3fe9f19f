"""The canonical text of a memory: `Domain:Subject fact one. fact two. [Tier=N]`.

It is for eyes, search and embedding, and derived: domain, subject, facts and tier are stored as fields of
their own, since joined facts cannot be told apart again.
"""

from __future__ import annotations

from collections.abc import Sequence

_SENTENCE_ENDS = (".", "!", "?", ";", "…")


def canonical_text(domain: str, subject: str, facts: Sequence[str], tier: int) -> str:
    """Facts joined by one blank, each closed by `.` unless it already ends a sentence."""
    return " ".join([f"{domain}:{subject}", *map(_closed, facts), f"[Tier={int(tier)}]"])


def _closed(fact: str) -> str:
    return fact if fact.endswith(_SENTENCE_ENDS) else f"{fact}."
