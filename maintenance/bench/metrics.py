"""What is said about answers to questions whose right answers are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maintenance.bench.timing import percentile

DEPTH = 10
"""Ranks that count for everything but recall@5."""

RESAMPLES, SEED = 1_000, 7
"""Of the bootstrap."""

METRICS = {
    "questions": "how many there are with an answer, and without one",
    "recall_5, recall_10": "mean share of a question's expected memories within the first 5 or 10 results",
    "recall_5_95": "95 % interval of recall_5: bootstrap over projects and people, since questions about one "
    "of them resemble each other",
    "all_5, any_5": "share of the questions that have all, or any, of their expected memories in the first 5",
    "mrr": "mean reciprocal rank of the first expected memory",
    "ndcg_10": "normalised discounted gain over the first 10, each expected memory worth 1",
    "false_unrelated": "questions on everyday matters or invented ids that got any result, of how many",
    "false_near": "questions that nearly have an answer (a fact that is not recorded, another project or "
    "person) that got any result, of how many",
    "avoid_hits": "questions that an outdated memory answers before the right one, of those where it could",
    "results, characters": "mean results of an answer, and mean characters of their contents",
    "embedding_ms, search_ms": "median time of the query's embedding, and of everything else",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question asked in one way. ``found`` are ids in the order of the answer; times in milliseconds
    and ``characters`` are None where the way has none of its own."""

    kind: str
    group: str
    expected: frozenset[str]
    avoid: frozenset[str]
    near_miss: bool
    found: tuple[str, ...]
    characters: int | None = None
    embedding_ms: float | None = None
    search_ms: float | None = None

    def recall(self, depth: int) -> float:
        return len(self.expected.intersection(self.found[:depth])) / len(self.expected)

    @property
    def reciprocal_rank(self) -> float:
        ranks = [rank for rank, name in enumerate(self.found[:DEPTH], start=1) if name in self.expected]
        return 1 / ranks[0] if ranks else 0.0

    @property
    def gain(self) -> float:
        """nDCG@10."""
        found = self.found[:DEPTH]
        gained = sum(
            1 / math.log2(rank + 1) for rank, name in enumerate(found, start=1) if name in self.expected
        )
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(self.expected)) + 1))
        return gained / best

    @property
    def hits_avoided(self) -> bool:
        """Whether an outdated memory stands before every right one."""
        first = next((name for name in self.found[:DEPTH] if name in self.avoid | self.expected), "")
        return first in self.avoid


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The row of a table, as ``METRICS`` says."""
    answerable = [one for one in outcomes if one.expected]
    without = [one for one in outcomes if not one.expected]
    row: dict[str, Any] = {"questions": f"{len(answerable)} + {len(without)}"}
    if answerable:
        low, high = interval(answerable)
        row |= {
            "recall_5": _mean([one.recall(5) for one in answerable]),
            "recall_5_95": f"{low:.3f} to {high:.3f}",
            "recall_10": _mean([one.recall(DEPTH) for one in answerable]),
            "all_5": _mean([one.recall(5) == 1 for one in answerable]),
            "any_5": _mean([one.recall(5) > 0 for one in answerable]),
            "mrr": _mean([one.reciprocal_rank for one in answerable]),
            "ndcg_10": _mean([one.gain for one in answerable]),
        }
    row["false_unrelated"] = _of([bool(one.found) for one in without if not one.near_miss])
    row["false_near"] = _of([bool(one.found) for one in without if one.near_miss])
    row["avoid_hits"] = _of([one.hits_avoided for one in answerable if one.avoid])
    row["results"] = _mean([len(one.found) for one in outcomes])
    row["characters"] = _mean([one.characters for one in outcomes if one.characters is not None])
    row["embedding_ms"] = _median([one.embedding_ms for one in outcomes if one.embedding_ms is not None])
    row["search_ms"] = _median([one.search_ms for one in outcomes if one.search_ms is not None])
    return row


def interval(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """The middle 95 % of recall@5 over resamples of whole groups, always the same for the same outcomes."""
    groups: dict[str, list[float]] = {}
    for one in outcomes:
        groups.setdefault(one.group, []).append(one.recall(5))
    totals = np.array([[sum(values), len(values)] for _, values in sorted(groups.items())])
    drawn = np.random.default_rng(SEED).integers(len(totals), size=(RESAMPLES, len(totals)))
    sums = totals[drawn].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975)).tolist()
    return low, high


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None


def _median(values: Sequence[float]) -> float | None:
    return round(percentile(values, 0.5), 2) if values else None


def _of(hits: Sequence[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"
