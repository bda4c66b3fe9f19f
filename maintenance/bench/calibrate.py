"""``python -m maintenance.bench.calibrate``: fits what search weighs, on the calibration half of the corpus.

Writes one data file for the model that is named, and prints what it does on the calibration half; with
``--final`` also on the final half, which nothing is ever fitted to.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from maintenance.bench.corpus import Corpus, Half, corpus_hash, load_corpus
from maintenance.bench.fitting import Report, fit_gate, fit_order, measure, with_threshold
from maintenance.bench.observations import Library, library, observe, observe_distinctive
from memories.embedding import Embedder, create_embedder
from memories.retrieval.calibration import (
    WORDS_ONLY,
    Calibration,
    OrderWeights,
    file_name,
    running_engine,
    write,
)
from memories.settings import load_settings

GATE_OF_WORDS = ("coverage", "topic", "exact", "subject", "distinctive", "mass", "whole", "about", "lacking")
GATE_WITH_VECTORS = (*GATE_OF_WORDS, "both", "topic_both")

NEAR_MISSES_ALLOWED = 0.05
"""The share of near misses that may pass; of unrelated questions none may."""

START = OrderWeights(lexical=0.7, vector=0.3, topic=0.0, exact=0.1, subject=0.05, named=0.1, about=0.3)
GRID = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, what it does on each half, and what the order alone would do."""

    calibration: Calibration
    gated: Mapping[str, Report]
    ungated: Mapping[str, Report]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m maintenance.bench.calibrate", description=__doc__)
    parser.add_argument("model", help=f"as in the setting embed_model; {WORDS_ONLY!r}: the gate without one")
    default = Path(str(resources.files("memories.retrieval").joinpath("data")))
    parser.add_argument("--into", type=Path, default=default, help="the folder to write to")
    parser.add_argument("--final", action="store_true", help="measure the final half too")
    parser.add_argument("--dry-run", action="store_true", help="fit and measure, write nothing")
    options = parser.parse_args()
    halves: tuple[Half, ...] = ("calibration", "final") if options.final else ("calibration",)
    fitted = calibrate(load_corpus(), options.model, halves)
    print("\n".join(report_lines(fitted)))
    if options.dry_run:
        return
    path = options.into / file_name(fitted.calibration.identity)
    path.write_text(write(fitted.calibration, notes_of(fitted)), encoding="utf-8")
    print(f"written: {path.name}", file=sys.stderr)


def calibrate(corpus: Corpus, model: str, halves: tuple[Half, ...]) -> Fitted:
    embedder = None if model == WORDS_ONLY else create_embedder(load_settings(embed_model=model))
    shelf = library(corpus, embedder)
    observed = {half: observe(shelf, corpus.half(half), embedder) for half in halves}
    fitting = observed["calibration"]
    fixed = ("vector",) if embedder is None else ()
    order = fit_order(fitting, START, GRID, fixed)
    names = GATE_OF_WORDS if embedder is None else GATE_WITH_VECTORS
    distinctive = observe_distinctive(shelf, _calibration_keys(corpus), embedder)
    gate = with_threshold(fit_gate(fitting, distinctive, names, order), fitting, NEAR_MISSES_ALLOWED)
    calibration = Calibration(
        identity=_identity(embedder),
        date=datetime.now(UTC).date().isoformat(),
        command=f"python -m maintenance.bench.calibrate {model}",
        corpus=corpus_hash(corpus),
        engine=running_engine(),
        average_length=round(shelf.average_length, 2),
        order=order,
        gate=gate,
        centre=_centre(shelf),
    )
    return Fitted(
        calibration,
        {half: measure(observed[half], order, gate) for half in halves},
        {half: measure(observed[half], order, None) for half in halves},
    )


def notes_of(fitted: Fitted) -> dict[str, Any]:
    """How it was fitted, for whoever opens the data file."""
    seen = fitted.gated["calibration"]
    return {
        "fitted_on": "the calibration half of the public corpus (maintenance/bench/corpus)",
        "method": "logistic regression without negative weights; order by coordinate search",
        "threshold": "lowest that refuses all unrelated questions and all near misses but "
        f"{NEAR_MISSES_ALLOWED:.0%}",
        "centre": "mean vector of maintenance/bench/data/general_text.txt",
        "recall_at_5": seen.overall.recall,
        "reciprocal_rank": seen.overall.reciprocal_rank,
        "false_unrelated": list(seen.false_unrelated),
        "false_near_misses": list(seen.false_near_misses),
    }


def report_lines(fitted: Fitted) -> Iterator[str]:
    gate, order = fitted.calibration.gate, fitted.calibration.order
    yield f"{fitted.calibration.identity}"
    yield f"gate: bias {gate.bias}, threshold {gate.threshold}, {dict(gate.weights)}"
    yield f"order: { {name: getattr(order, name) for name in OrderWeights.__slots__} }"
    for half, report in fitted.gated.items():
        free = fitted.ungated[half]
        yield f"\n{half:24}{'n':>5}{'recall@5':>10}{'MRR':>8}{'ungated: recall@5':>20}{'MRR':>8}"
        rows = {"all": report.overall, **report.kinds}
        for kind, outcome in rows.items():
            alone = free.overall if kind == "all" else free.kinds[kind]
            yield (
                f"{kind:24}{outcome.questions:>5}{outcome.recall:>10.3f}{outcome.reciprocal_rank:>8.3f}"
                f"{alone.recall:>20.3f}{alone.reciprocal_rank:>8.3f}"
            )
        unrelated, near_misses = _of(report.false_unrelated), _of(report.false_near_misses)
        yield f"false results: unrelated {unrelated}, near misses {near_misses}"


def _of(counts: tuple[int, int]) -> str:
    return f"{counts[0]} of {counts[1]}"


def _calibration_keys(corpus: Corpus) -> frozenset[str]:
    entities = {question.entity for question in corpus.half("calibration")}
    return frozenset(memory.key for memory in corpus.memories if memory.entity in entities)


def _identity(embedder: Embedder | None) -> str:
    return WORDS_ONLY if embedder is None else str(embedder.identity)


def _centre(shelf: Library) -> Any:
    return None if shelf.centre is None else shelf.centre.astype("float32")


if __name__ == "__main__":
    main()
