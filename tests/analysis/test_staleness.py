"""Stale is low quality and long unheard of, and never protected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.analysis.staleness import Bounds, stale
from memories.contract import MemsuiteError
from memories.repository import Recalls

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
MOMENT = pa.timestamp("us", tz="UTC")


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def catalogue(*rows: dict[str, object]) -> pa.Table:
    """Rows that say only what is unusual: otherwise tier 2, quality 0.2, a year old, never reviewed."""
    usual = {"tier": 2, "quality": 0.2, "created_at": ago(365), "reviewed_at": None}
    full = [{"id": f"m{at}"} | usual | row for at, row in enumerate(rows)]
    types = {"id": pa.string(), "tier": pa.int8(), "quality": pa.float64()}
    types |= {"created_at": MOMENT, "reviewed_at": MOMENT}
    return pa.table(
        {
            name: pa.chunked_array([pa.array([row[name] for row in full], kind)])
            for name, kind in types.items()
        }
    )


def recalls(**last: datetime | str) -> Recalls:
    stamps = [at if isinstance(at, str) else at.isoformat(timespec="seconds") for at in last.values()]
    ids = pa.chunked_array([pa.array(list(last), pa.string())])
    counts = pa.chunked_array([pa.array([1] * len(last), pa.int64())])
    columns = {"id": ids, "recalls": counts, "today": counts}
    return Recalls(pa.table(columns | {"last": pa.chunked_array([pa.array(stamps, pa.string())])}))


def found(table: pa.Table, last: Recalls | None = None, **bounds: float) -> list[str]:
    return stale(table, last or recalls(), Bounds(**bounds), NOW)["id"].to_pylist()  # type: ignore[arg-type]


def test_low_quality_that_nobody_heard_of_is_stale() -> None:
    assert found(catalogue({}, {"quality": 0.3}, {"quality": 0.31})) == ["m0", "m1"]


def test_a_protected_memory_never_is() -> None:
    assert found(catalogue({"tier": 1, "quality": 0.0})) == []


@pytest.mark.parametrize("heard", ["created_at", "reviewed_at"])
def test_being_made_or_reviewed_counts_as_being_heard_of(heard: str) -> None:
    assert found(catalogue({heard: ago(89)})) == []
    assert found(catalogue({heard: ago(89)}), days=89) == ["m0"]


def test_a_recall_counts_too() -> None:
    table = catalogue({}, {}, {})

    assert found(table, recalls(m0=ago(10), m2=ago(100))) == ["m1", "m2"]


def test_a_recall_whose_time_cannot_be_read_counts_for_nothing() -> None:
    assert found(catalogue({}, {}), recalls(m0="", m1="once")) == ["m0", "m1"]


def test_the_longest_unheard_of_comes_first() -> None:
    table = catalogue({"created_at": ago(100)}, {"created_at": ago(300)}, {})

    assert found(table, recalls(m2=ago(200))) == ["m1", "m2", "m0"]


def test_of_nothing_nothing_is_stale() -> None:
    assert found(catalogue()) == []


@pytest.mark.parametrize("bounds", [{"days": 0}, {"days": 3_651}, {"quality": -0.1}, {"quality": 1.1}])
def test_bounds_outside_their_range_are_refused(bounds: dict[str, float]) -> None:
    with pytest.raises(MemsuiteError) as refused:
        Bounds(**bounds)  # type: ignore[arg-type]
    assert refused.value.field in bounds


@given(st.integers(1, 400), st.integers(1, 400), st.floats(0, 1), st.floats(0, 1))
def test_wider_bounds_find_no_less(short: int, long: int, low: float, high: float) -> None:
    short, long, low, high = min(short, long), max(short, long), min(low, high), max(low, high)
    table = catalogue(*({"quality": at / 10, "created_at": ago(40 * at)} for at in range(11)))
    narrow = set(found(table, days=long, quality=low))

    assert narrow <= set(found(table, days=short, quality=high))
