"""Two versions of a memory's facts told apart: which stayed, went, came, and which words changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from memories.console.parts import FactChange
from memories.contract import claims_of

Words = tuple[tuple[str, str], ...]
"""Pieces of a text in order, each with "" (in both), ``del`` (only before) or ``ins`` (only after)."""

ALIKE = 0.5
"""Two facts with at least this share of words in common are one fact that was edited."""

MOST_WORDS = 800
"""The comparison is quadratic. A fact of the contract stays below this, an old row may not."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def fact_changes(before: Sequence[str], after: Sequence[str]) -> tuple[FactChange, ...]:
    """The changes from one list of facts to another, in the order of the later list."""
    return tuple(_change(old, new) for old, new in aligned(before, after))


def aligned(before: Sequence[str], after: Sequence[str]) -> list[tuple[str | None, str | None]]:
    """Facts side by side, None where the other side has no such fact. Every fact stands once.

    A fact that only moved is beside itself, at its later place.
    """
    pairs: list[tuple[str | None, str | None]] = []
    matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            pairs += zip(before[start:end], after[new_start:new_end], strict=True)
        else:
            pairs += _paired(before[start:end], after[new_start:new_end])
    return _moves_joined(pairs)


def word_changes(before: str, after: str) -> Words:
    """The words of two texts, each piece said to be in both or in one."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) > MOST_WORDS or len(new) > MOST_WORDS:
        pieces: Iterator[tuple[str, str]] = iter((("del", before), ("ins", after)))
    else:
        pieces = _pieces(old, new)
    return tuple((kind, text) for kind, text in pieces if text)


def _change(old: str | None, new: str | None) -> FactChange:
    if new is None:
        return FactChange("gone", old or "")
    if old is None:
        return FactChange("add", new)
    return FactChange("same", new) if old == new else FactChange("edit", new, word_changes(old, new))


def _pieces(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "", "".join(old[start:end])
        else:
            yield "del", "".join(old[start:end])
            yield "ins", "".join(new[new_start:new_end])


def _paired(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """Within a stretch that differs: each new fact beside the old one it is most like, in order; of the
    others, what went stands before what came."""
    at = 0
    came: list[str] = []
    for fact in new:
        match = _most_alike(fact, old, at)
        if match is None:
            came.append(fact)
            continue
        yield from _apart(old[at:match], came)
        yield old[match], fact
        at, came = match + 1, []
    yield from _apart(old[at:], came)


def _apart(gone: Sequence[str], came: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    yield from ((fact, None) for fact in gone)
    yield from ((None, fact) for fact in came)


def _most_alike(fact: str, old: Sequence[str], at: int) -> int | None:
    scored = [(_likeness(old[index], fact), -index) for index in range(at, len(old))]
    best, index = max(scored, default=(0.0, 0))
    return -index if best >= ALIKE else None


def _likeness(old: str, new: str) -> float:
    """The share of common words; two facts that state a value of one key are alike in any case."""
    one, other = _WORD.findall(old), _WORD.findall(new)
    if len(one) > MOST_WORDS or len(other) > MOST_WORDS:
        return 0.0
    said, said_too = ([word for word in words if word.strip()] for words in (one, other))
    ratio = SequenceMatcher(None, said, said_too, autojunk=False).ratio()
    return max(ratio, ALIKE) if _keys(old) & _keys(new) else ratio


def _keys(fact: str) -> set[str]:
    return {claim.key for claim in claims_of((fact,))} if "=" in fact else set()


def _moves_joined(pairs: list[tuple[str | None, str | None]]) -> list[tuple[str | None, str | None]]:
    """A fact that goes in one place and comes in another has moved: it stands once, where it came."""
    gone = [old for old, new in pairs if new is None]
    moved: list[str | None] = []
    joined = []
    for old, new in pairs:
        if old is None and new in gone:
            gone.remove(new)
            moved.append(new)
            joined.append((new, new))
        else:
            joined.append((old, new))
    kept = []
    for old, new in joined:
        if new is None and old in moved:
            moved.remove(old)
        else:
            kept.append((old, new))
    return kept
