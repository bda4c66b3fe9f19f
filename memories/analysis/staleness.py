"""Which memories are stale: of low quality, and nobody has had to do with them for long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from memories.contract import ErrorCode, MemsuiteError, Tier
from memories.repository import Recalls

DAYS, QUALITY = 90, 0.3
"""Where one starts looking: the older suite's values."""

MOST_DAYS = 3_650

_MOMENT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Stale is a quality of at most ``quality`` (0..1) and nothing heard of it for ``days`` (1..3,650).

    Raises ``invalid_parameter`` for anything outside.
    """

    days: int = DAYS
    quality: float = QUALITY

    def __post_init__(self) -> None:
        if not 1 <= self.days <= MOST_DAYS:
            raise _outside("days", self.days, 1, MOST_DAYS)
        if not 0.0 <= self.quality <= 1.0:
            raise _outside("quality", self.quality, 0, 1)


def stale(catalogue: pa.Table, recalls: Recalls, bounds: Bounds, now: datetime) -> pa.Table:
    """The stale rows of a catalogue with their ``heard_at``, the longest unheard first.

    A memory is heard of when it is made, recalled by the agent, or reviewed by a person. Protected ones
    (tier 1) are never stale, whatever their quality.
    """
    low = pc.less_equal(catalogue["quality"], bounds.quality)
    table = catalogue.filter(pc.and_(low, pc.not_equal(catalogue["tier"], int(Tier.CRITICAL))))
    heard = _heard(table, recalls)
    cut = pa.scalar(now - timedelta(days=bounds.days), _MOMENT)
    found = table.append_column("heard_at", heard).filter(pc.less_equal(heard, cut))
    return found.sort_by([("heard_at", "ascending"), ("id", "ascending")])


def _heard(table: pa.Table, recalls: Recalls) -> pa.ChunkedArray:
    """When each row was last heard of."""
    places = pc.index_in(table["id"], value_set=recalls.ids)
    recalled = _moments(recalls.table["last"]).take(places)
    # The engine compares no moments by element; as numbers of microseconds it does.
    numbers = (
        pc.cast(moments, pa.int64()) for moments in (table["created_at"], table["reviewed_at"], recalled)
    )
    return pc.cast(pc.max_element_wise(*numbers, skip_nulls=True), _MOMENT)


def _moments(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts, which the side store keeps in UTC, as moments; null where one cannot be read."""
    seconds = pc.utf8_slice_codeunits(texts, 0, len("2026-03-01T12:00:00"))
    read = pc.strptime(seconds, format="%Y-%m-%dT%H:%M:%S", unit="us", error_is_null=True)
    return pc.assume_timezone(read, "UTC")


def _outside(field: str, received: object, least: float, most: float) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        field,
        f"{field} lies between {least:,} and {most:,}.",
        received=received,
        expected={"minimum": least, "maximum": most},
    )
