"""The frozen bars of the retrieval benchmarks, and what falls short of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from maintenance.bench.metrics import Outcome


@cache
def targets() -> Mapping[str, Any]:
    """``data/targets.toml``: a date, its source, and the bars of each benchmark."""
    path = resources.files("maintenance.bench").joinpath("data", "targets.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def shortfalls(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """In words, where the outcomes of one way on one half fall short of the bars of ``retrieval``."""
    bars = targets()["retrieval"]
    answerable = [one for one in outcomes if one.expected]
    corrections = [one for one in answerable if one.kind == "old_critical_correction"]
    for name, reached, bar in (
        ("recall@5", _mean([one.recall(5) for one in answerable]), bars["recall_5"]),
        ("MRR", _mean([one.reciprocal_rank for one in answerable]), bars["mrr"]),
        (
            "recall@5 of old critical corrections",
            _mean([one.recall(5) for one in corrections]),
            bars["old_critical_correction_recall_5"],
        ),
    ):
        if reached < bar:
            yield f"{name} is {reached:.3f}, not {bar:.2f}"
    for near_miss, name in ((False, "unrelated questions"), (True, "near misses")):
        bar = bars["false_near_share" if near_miss else "false_unrelated_share"]
        asked = [bool(one.found) for one in outcomes if not one.expected and one.near_miss is near_miss]
        if _mean(asked) > bar:
            yield f"{sum(asked)} of {len(asked)} {name} got a result; at most {bar:.0%} may"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
