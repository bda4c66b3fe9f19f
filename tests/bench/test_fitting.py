"""The fit of gate and order, on observations small enough to see through."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maintenance.bench.corpus import Question, load_corpus
from maintenance.bench.fitting import fit_gate, fit_order, logits, measure, with_threshold
from maintenance.bench.observations import (
    COLUMNS,
    Numbers,
    Observed,
    library,
    observe,
    observe_distinctive,
)
from memories.retrieval.calibration import OrderWeights
from memories.retrieval.evidence import Gate

ORDER = OrderWeights(lexical=1.0, vector=0.0, topic=0.0, exact=0.0, subject=0.0, named=0.0, about=0.0)
NAMES = ("coverage", "about")


def _row(**values: float) -> list[float]:
    return [values.get(name, 0.0) for name in COLUMNS]


def _observed(*rows: list[float], expected: tuple[int, ...] = (), near_miss: bool | None = None) -> Observed:
    question = Question(
        "q", "paraphrase", "en", "?", ("k",) * len(expected), (), "calibration", near_miss, "", "e"
    )
    return Observed(question, expected, np.array(rows))


@pytest.fixture(scope="module")
def observed() -> list[Observed]:
    """Coverage tells answers from others; ``about`` from those of somebody else."""
    rng = np.random.default_rng(7)
    made = []
    for _ in range(40):
        high, low = rng.uniform(0.6, 1.0), rng.uniform(0.0, 0.3)
        answer, other = _row(coverage=high, share=high), _row(coverage=low, share=low, about=1.0)
        made += [_observed(answer, other, expected=(0,)), _observed(other, near_miss=False)]
        made.append(_observed(_row(coverage=low + 0.1, share=low), near_miss=True))
    return made


def _short() -> list[Numbers]:
    return [np.array([_row(coverage=1.0, bare=1.0)])]


def test_weights_are_never_negative_and_tell_answers_from_others(observed: list[Observed]) -> None:
    gate = with_threshold(fit_gate(observed, _short(), NAMES, ORDER), observed, 0.05)
    assert min(gate.weights.values()) > 0
    report = measure(observed, ORDER, gate)
    assert (report.overall.recall, report.overall.reciprocal_rank) == (1.0, 1.0)
    assert report.false_unrelated == (0, 40)
    assert report.false_near_misses[0] <= 2


def test_a_feature_that_speaks_the_wrong_way_is_given_no_weight() -> None:
    backwards = [
        made
        for at in range(20)
        for made in (
            _observed(_row(coverage=0.1 + at / 100, topic=0.9), expected=(0,)),
            _observed(_row(coverage=0.9, topic=0.1 + at / 100), near_miss=False),
        )
    ]
    gate = fit_gate(backwards, (), ("coverage", "topic"), ORDER)
    assert set(gate.weights) == {"topic"}


def test_the_same_observations_give_the_same_gate(observed: list[Observed]) -> None:
    assert fit_gate(observed, _short(), NAMES, ORDER) == fit_gate(observed, _short(), NAMES, ORDER)


def test_the_threshold_lets_no_unrelated_question_through(observed: list[Observed]) -> None:
    gate = Gate(0.0, {"coverage": 10.0}, 0.5)
    outlier = _observed(_row(coverage=0.55), near_miss=False)
    strict = with_threshold(gate, [*observed, outlier], 0.05)
    least = math.log(strict.threshold / (1 - strict.threshold))
    assert logits(outlier.table, strict).max() < least


def test_the_order_is_fitted_to_what_ranks_the_answers_first() -> None:
    by_meaning = [
        _observed(_row(share=0.5, cosine=0.9), _row(share=0.6, cosine=0.1), expected=(0,)) for _ in range(3)
    ]
    fitted = fit_order(by_meaning, ORDER, (0.0, 0.5))
    assert measure(by_meaning, ORDER, None).overall.reciprocal_rank == 0.5
    assert measure(by_meaning, fitted, None).overall.reciprocal_rank == 1.0
    assert fit_order(by_meaning, ORDER, (0.0, 0.5), fixed=("vector",)).vector == 0.0


def test_the_corpus_is_observed_question_by_memory() -> None:
    corpus = load_corpus()
    shelf = library(corpus.memories[:300], None)
    some = corpus.half("calibration")[:3]
    for question, seen in zip(some, observe(shelf, some, None), strict=True):
        assert seen.table.shape == (300, len(COLUMNS))
        assert [shelf.keys[at] for at in seen.expected] == list(question.expected)
        assert not seen.column("cosine").any()
    distinctive = observe_distinctive(shelf, frozenset(shelf.keys[:200]), None)
    assert (distinctive[:, COLUMNS.index("coverage")] > 0.999).all()
