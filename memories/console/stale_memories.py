"""The stale memories of the database in use, by the bounds that a query gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from memories.analysis.staleness import DAYS, QUALITY, Bounds, stale
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository
from memories.repository.records import now


def bounds_of(query: Mapping[str, Any]) -> Bounds:
    """The bounds that ``days`` and ``quality`` of a query say; what is left out has its default.

    Raises ``invalid_parameter``.
    """
    days, quality = (str(query.get(name) or "").strip() for name in ("days", "quality"))
    return Bounds(_days(days) if days else DAYS, _quality(quality) if quality else QUALITY)


def stale_of(store: MemoryRepository, bounds: Bounds) -> pa.Table:
    """The stale rows of the catalogue, the longest unheard first (see ``memories.analysis.staleness``)."""
    return stale(store.catalogue().table, store.usage.recalls(), bounds, now())


def count_stale(store: MemoryRepository) -> int:
    """How many are stale by the default bounds."""
    return int(stale_of(store, Bounds()).num_rows)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _no_number("days", text)
    return int(text)


def _quality(text: str) -> float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        raise _no_number("quality", text) from None
    if not math.isfinite(number):
        raise _no_number("quality", text)
    return number


def _no_number(name: str, text: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, name, f"{name} is a number.", received=text)
