"""Which part of a list a query asks for."""

from __future__ import annotations

from collections.abc import Mapping

from memories.console.parts import PAGE_SIZES

DEFAULT_SIZE = 50


def window(query: Mapping[str, object], total: int) -> tuple[int, int]:
    """``offset`` and ``size`` of the page to show; what cannot be read counts as not said, and a page
    beyond the end is the last one."""
    size = _number(query.get("size"))
    if size not in PAGE_SIZES:
        size = DEFAULT_SIZE
    offset = _number(query.get("offset"))
    if offset >= total:
        offset = max(total - 1, 0) // size * size
    return offset, size


def _number(text: object) -> int:
    # Longer numbers are beyond every list, and beyond what int() reads quickly.
    return int(str(text)) if text is not None and str(text).isdecimal() and len(str(text)) < 10 else 0
