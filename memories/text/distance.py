"""Typing errors: whether two words differ by at most one."""

from __future__ import annotations

# In shorter words one changed letter is usually another word (cat, car).
SHORTEST_MISTYPED_WORD = 4


def within_one_typo(a: str, b: str) -> bool:
    """Whether at most one insertion, deletion, replacement or swap of neighbours makes `a` into `b`.

    Words under four characters must be equal. Both are compared as given: fold them first.
    """
    if a == b:
        return True
    if min(len(a), len(b)) < SHORTEST_MISTYPED_WORD or abs(len(a) - len(b)) > 1:
        return False
    at = _first_difference(a, b)
    if len(a) != len(b):
        longer, shorter = (a, b) if len(a) > len(b) else (b, a)
        return longer[at + 1 :] == shorter[at:]
    if a[at + 1 :] == b[at + 1 :]:
        return True
    return a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]


def _first_difference(a: str, b: str) -> int:
    for at, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return at
    return min(len(a), len(b))
