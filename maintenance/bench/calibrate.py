"""``bench calibrate``: fits what search weighs, on the calibration half of the public corpus.

Shows what the fit does on the calibration half; with ``--final`` also on the final half, which nothing is
ever fitted to. Writes a data file only when told to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import Result

if TYPE_CHECKING:
    from maintenance.bench.corpus import Corpus, Half
    from maintenance.bench.fitting import Report
    from maintenance.bench.observations import Library
    from memories.retrieval.calibration import Calibration

GATE_OF_WORDS = (
    *("coverage", "topic", "exact", "subject", "distinctive"),
    *("mass", "topic_mass", "whole", "about", "unnamed", "lacking"),
)
GATE_WITH_VECTORS = (*GATE_OF_WORDS, "both", "topic_both")

CONCEPTS = "concepts"
"""What may be left out beside the features of the gate: that words of one meaning stand for each other."""

NEAR_MISSES_ALLOWED = 0.05
"""The share of near misses that may pass; of unrelated questions none may."""

START = {
    **{"lexical": 0.7, "vector": 0.3, "topic": 0.0, "exact": 0.1},
    **{"subject": 0.05, "named": 0.1, "about": 0.3},
}
GRID = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


METRICS = {
    "recall_5, mrr": "with the gate, over all memories, without a database or declared neighbours",
    "ungated_recall_5, ungated_mrr": "the order alone",
    "false_unrelated, false_near": "questions without an answer that got one, of how many",
    "threshold, bias, gate, order": "what was fitted",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, what it does on each half, and what the order alone would do."""

    calibration: Calibration
    gated: Mapping[str, Report]
    ungated: Mapping[str, Report]


def run(given: Run) -> Result:
    """Fit, show, and write where that is asked for."""
    from maintenance.bench.corpus import corpus_hash, load_corpus
    from memories.retrieval.calibration import OrderWeights, file_name, write

    halves: tuple[Half, ...] = ("calibration", "final") if given.options["final"] else ("calibration",)
    corpus = load_corpus()
    fitted = calibrate(corpus, given.options["model"], halves, _without(given.options["without"]))
    calibration = fitted.calibration
    figures: dict[str, Any] = {
        "identity": calibration.identity,
        "threshold": calibration.gate.threshold,
        "bias": calibration.gate.bias,
        "gate": dict(calibration.gate.weights),
        "order": {name: getattr(calibration.order, name) for name in OrderWeights.__slots__},
    }
    if given.options["write"] and not given.options["without"]:
        path = given.options["into"] / file_name(calibration.identity)
        figures |= {"file": path.name, "replaced": path.is_file()}
        path.write_text(write(calibration, notes_of(fitted)), encoding="utf-8")
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=list(_rows(fitted)),
        figures=figures,
        corpus_hash=corpus_hash(corpus),
    )


def calibrate(
    corpus: Corpus, model: str, halves: tuple[Half, ...], without: frozenset[str] = frozenset()
) -> Fitted:
    """Fit on the calibration half and measure on ``halves``, as if the evidence ``without`` were not."""
    from maintenance.bench.corpus import corpus_hash
    from maintenance.bench.fitting import fit_gate, fit_order, measure, with_threshold
    from maintenance.bench.observations import library, observe, observe_distinctive, without_concepts
    from memories.embedding import create_embedder
    from memories.retrieval.calibration import WORDS_ONLY, Calibration, OrderWeights, running_engine
    from memories.retrieval.question import Question
    from memories.settings import load_settings

    embedder = None if model == WORDS_ONLY else create_embedder(load_settings(embed_model=model))
    shelf = library(corpus, embedder)
    ask = without_concepts if CONCEPTS in without else Question.of
    observed = {half: observe(shelf, corpus.half(half), embedder, ask) for half in halves}
    fitting = observed["calibration"]
    # Only ratios order, so one weight stays as it is; without a model the cosine is always nothing.
    fixed = ("lexical", "vector") if embedder is None else ("lexical",)
    order = fit_order(fitting, OrderWeights(**START), GRID, fixed)
    features = GATE_OF_WORDS if embedder is None else GATE_WITH_VECTORS
    names = [name for name in features if name not in without]
    distinctive = observe_distinctive(shelf, _calibration_keys(corpus), embedder)
    gate = with_threshold(fit_gate(fitting, distinctive, names, order), fitting, NEAR_MISSES_ALLOWED)
    calibration = Calibration(
        identity=WORDS_ONLY if embedder is None else str(embedder.identity),
        date=datetime.now(UTC).date().isoformat(),
        command=f"manage.py bench calibrate --model {model} --write",
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


def _without(listed: str) -> frozenset[str]:
    """Raises ``invalid_parameter`` for a name that is no evidence."""
    from memories.contract import ErrorCode, MemsuiteError

    names = frozenset(filter(None, listed.split(",")))
    known = {*GATE_WITH_VECTORS, CONCEPTS}
    if names - known:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "without",
            "There is no such evidence.",
            received=sorted(names - known),
            expected=sorted(known),
        )
    return names


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


def _rows(fitted: Fitted) -> Iterator[dict[str, Any]]:
    for half, report in fitted.gated.items():
        free = fitted.ungated[half]
        for kind, outcome in {"all": report.overall, **report.kinds}.items():
            alone = free.overall if kind == "all" else free.kinds[kind]
            row = {
                "half": half,
                "kind": kind,
                "questions": outcome.questions,
                "recall_5": outcome.recall,
                "mrr": outcome.reciprocal_rank,
                "ungated_recall_5": alone.recall,
                "ungated_mrr": alone.reciprocal_rank,
            }
            if kind == "all":
                row["false_unrelated"] = "{} of {}".format(*report.false_unrelated)
                row["false_near"] = "{} of {}".format(*report.false_near_misses)
            yield row


def _calibration_keys(corpus: Corpus) -> frozenset[str]:
    entities = {question.entity for question in corpus.half("calibration")}
    return frozenset(memory.key for memory in corpus.memories if memory.entity in entities)


def _centre(shelf: Library) -> Any:
    return None if shelf.centre is None else shelf.centre.astype("float32")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="builtin:minilm",
        metavar="NAME",
        help="as the setting embed_model; words: the gate without a model (builtin:minilm)",
    )
    parser.add_argument("--final", action="store_true", help="measure the final half too")
    parser.add_argument(
        "--without",
        default="",
        metavar="NAME,NAME",
        help=f"an ablation: evidence to leave out, {CONCEPTS} or a feature of the gate; nothing is written",
    )
    parser.add_argument("--write", action="store_true", help="write the data file of this model")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        default=Path(str(resources.files("memories.retrieval").joinpath("data"))),
        help="where it is written (the data of this installation, which search reads)",
    )


BENCHMARK = Benchmark(
    name="calibrate",
    summary="fit the weights and the threshold of search to the calibration half of the public corpus",
    arguments=_arguments,
    run=run,
)
