"""Fits the gate and the order to observations, and measures what they do. Plain numpy, no randomness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from maintenance.bench.observations import COLUMNS, Numbers, Observed
from memories.retrieval.calibration import OrderWeights
from memories.retrieval.evidence import AGAINST, Gate

TOP = 5
"""Ranks that count for recall."""

HARDEST = 10
"""Memories of a question without an answer that the fit learns from: those that look most like one."""

DISTRACTORS = 5
"""Memories about somebody else that it learns from, of a question that has an answer."""

NEAR_MISS_WEIGHT, DISTRACTOR_WEIGHT, SHORT_WEIGHT = 8.0, 0.3, 40.0
"""What a near miss, the distractors of one question and all short queries of one sort together weigh, where
the memories that answer one question weigh 1."""

SHRINKAGE, STEPS, RATE = 0.003, 3_000, 1.0
"""Of gradient descent on standardised features; the shrinkage keeps like features alike."""

MARGIN = 0.05
"""Logits between the threshold and the last question it must refuse."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Shares over the questions of one kind, or of all: recall within TOP of all expected memories, the
    mean reciprocal rank, and how many questions there were."""

    recall: float
    reciprocal_rank: float
    questions: int


@dataclass(frozen=True, slots=True)
class Report:
    overall: Outcome
    kinds: Mapping[str, Outcome]
    false_unrelated: tuple[int, int]
    false_near_misses: tuple[int, int]
    """Questions without an answer that got one, of how many."""


def scores(observed: Observed, order: OrderWeights) -> Numbers:
    """As ``ranking`` makes them."""
    plus = ("topic", "exact", "subject", "named")
    total = order.lexical * observed.column("share") + order.vector * observed.column("cosine")
    total = total + sum(getattr(order, name) * observed.column(name) for name in plus)
    weighed: Numbers = total - order.about * observed.column("about")
    return weighed


def logits(table: Numbers, gate: Gate) -> Numbers:
    """The gate's values before the logistic."""
    weights = np.zeros(len(COLUMNS))
    for name, weight in gate.weights.items():
        weights[COLUMNS.index(name)] = -weight if name in AGAINST else weight
    values: Numbers = table @ weights + gate.bias
    return values


def fit_gate(
    observed: Sequence[Observed], short: Sequence[Numbers], names: Sequence[str], order: OrderWeights
) -> Gate:
    """A monotone logistic over the features ``names``, its threshold still at a half. ``short``: rows of
    queries of a word or two and the memories they are taken from, one table for each sort of query."""
    table, answers, weights = _examples(observed, short, order)
    signs = np.array([-1.0 if name in AGAINST else 1.0 for name in names])
    features = table[:, [COLUMNS.index(name) for name in names]] * signs
    spread = features.std(axis=0) + 1e-6
    features = features / spread
    bias, slopes = 0.0, np.full(len(names), 0.3)
    for _ in range(STEPS):
        error = weights * (1 / (1 + np.exp(-(features @ slopes + bias))) - answers) / weights.sum()
        slopes = np.maximum(slopes - RATE * (features.T @ error + SHRINKAGE * slopes), 0.0)
        bias -= RATE * error.sum()
    fitted = zip(names, (slopes / spread).tolist(), strict=True)
    weights_kept = {name: round(slope, 4) for name, slope in fitted if slope > 0}
    return Gate(round(float(bias), 4), weights_kept, 0.5)


def with_threshold(gate: Gate, observed: Sequence[Observed], near_misses: float) -> Gate:
    """The lowest threshold that refuses all unrelated questions and all near misses but this share."""
    highest = {True: [-math.inf], False: [-math.inf]}
    for one in observed:
        if not one.expected:
            highest[bool(one.question.near_miss)].append(float(logits(one.table, gate).max()))
    allowed = int(near_misses * (len(highest[True]) - 1))
    refused = max(max(highest[False]), sorted(highest[True], reverse=True)[allowed])
    return replace(gate, threshold=round(1 / (1 + math.exp(-(refused + MARGIN))), 4))


def fit_order(
    observed: Sequence[Observed], start: OrderWeights, grid: Sequence[float], fixed: Sequence[str] = ()
) -> OrderWeights:
    """Coordinate by coordinate over ``grid``, twice, on recall and reciprocal rank without the gate."""
    best = start
    free = [field.name for field in fields(OrderWeights) if field.name not in fixed]
    for _ in range(2):
        for name in free:
            tried = [best, *(replace(best, **{name: value}) for value in grid)]
            best = max(tried, key=lambda order: _quality(observed, order))
    return best


def measure(observed: Sequence[Observed], order: OrderWeights, gate: Gate | None) -> Report:
    """What a search would answer; ``gate`` None lets everything through."""
    kinds: dict[str, list[tuple[float, float]]] = {}
    false: dict[bool, list[bool]] = {True: [], False: []}
    least = -math.inf if gate is None else math.log(gate.threshold / (1 - gate.threshold))
    for one in observed:
        values = logits(one.table, gate) if gate else np.zeros(len(one.table))
        passed: list[bool] = (values >= least).tolist()
        if one.expected:
            kinds.setdefault(one.question.kind, []).append(_ranks(one, scores(one, order), passed))
        else:
            false[bool(one.question.near_miss)].append(any(passed))
    return Report(
        overall=_outcome([pair for pairs in kinds.values() for pair in pairs]),
        kinds={kind: _outcome(kinds[kind]) for kind in sorted(kinds)},
        false_unrelated=(sum(false[False]), len(false[False])),
        false_near_misses=(sum(false[True]), len(false[True])),
    )


def _examples(
    observed: Sequence[Observed], short: Sequence[Numbers], order: OrderWeights
) -> tuple[Numbers, Numbers, Numbers]:
    """Rows of observations, 1 or 0 for each, and their weights."""
    rows: list[Numbers] = [*short]
    answers: list[float] = [1.0] * sum(map(len, short))
    weights = [SHORT_WEIGHT / len(table) for table in short for _ in table]

    def add(one: Observed, chosen: Sequence[int], answer: float, weight: float) -> None:
        rows.append(one.table[list(chosen)])
        answers.extend([answer] * len(chosen))
        weights.extend([weight / max(1, len(chosen))] * len(chosen))

    for one in observed:
        best = np.argsort(-scores(one, order), kind="stable").tolist()
        if one.expected:
            add(one, one.expected, 1.0, one.weight)
            others = [at for at in best if at not in one.expected and one.column("about")[at] > 0]
            add(one, others[:DISTRACTORS], 0.0, DISTRACTOR_WEIGHT * one.weight)
        else:
            near = NEAR_MISS_WEIGHT * one.weight if one.question.near_miss else 1.0
            add(one, best[:HARDEST], 0.0, 3 * near)
    return np.vstack(rows), np.array(answers), np.array(weights)


def _quality(observed: Sequence[Observed], order: OrderWeights) -> float:
    overall = measure(observed, order, None).overall
    return overall.recall + overall.reciprocal_rank


def _ranks(one: Observed, score: Numbers, passed: Sequence[bool]) -> tuple[float, float]:
    """Share of the expected memories within TOP, and the reciprocal rank of the first."""
    order = [at for at in np.argsort(-score, kind="stable").tolist() if passed[at]]
    ranks = [order.index(at) + 1 for at in one.expected if passed[at]]
    return sum(rank <= TOP for rank in ranks) / len(one.expected), 1 / min(ranks) if ranks else 0.0


def _outcome(pairs: Sequence[tuple[float, float]]) -> Outcome:
    if not pairs:
        return Outcome(0.0, 0.0, 0)
    recall, reciprocal = np.mean(np.array(pairs), axis=0).tolist()
    return Outcome(round(recall, 4), round(reciprocal, 4), len(pairs))
