"""``bench calibrate``: fits what search weighs, to the open halves of the public corpus.

With ``--questions`` also to a person's own questions on their own database, which is only read. Shows what
the fit does on what it was fitted to; the final half is never looked at here. Writes a data file only when
told to, and says what that replaces.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import Result

if TYPE_CHECKING:
    from maintenance.bench.fitting import Report
    from maintenance.bench.observations import Observed
    from memories.embedding import Embedder
    from memories.retrieval.calibration import Calibration

GATE_OF_WORDS = (
    *("coverage", "topic", "exact", "subject", "hit", "aimed", "meant", "distinctive"),
    *("mass", "topic_mass", "whole", "bare", "about", "unnamed", "lacking"),
)
GATE_WITH_VECTORS = (*GATE_OF_WORDS, "both", "topic_both")

CONCEPTS = "concepts"
"""What may be left out beside the features of the gate: that words of one meaning stand for each other."""

NEAR_MISSES_ALLOWED = 0.05
"""The share of near misses that may pass; of unrelated questions none may."""

DRILL_WEIGHT = 0.35
"""What a question of the drill counts, where one of a half counts 1: it has many, all of one kind."""

FEWEST_ANSWERED, FEWEST_UNANSWERED = 20, 10
"""Own questions that a refit needs: fewer say more about chance than about a store."""

START = {
    **{"lexical": 0.7, "vector": 0.3, "topic": 0.0, "exact": 0.1},
    **{"subject": 0.05, "named": 0.1, "about": 0.3},
}
GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6)

METRICS = {
    "recall_5, mrr": "with the gate, over all memories, without declared neighbours",
    "ungated_recall_5, ungated_mrr": "the order alone",
    "false_unrelated, false_near": "questions without an answer that got one, of how many",
    "threshold, bias, gate, order": "what was fitted",
    "part": "calibration and development: the open halves; drill: every topic asked about everybody; own: "
    "yours",
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, what it does on each part, and what the order alone would do."""

    calibration: Calibration
    gated: Mapping[str, Report]
    ungated: Mapping[str, Report]


def run(given: Run) -> Result:
    """Fit, show, and write where that is asked for."""
    from maintenance.bench.own_questions import observed_own
    from memories.embedding import create_embedder
    from memories.retrieval.calibration import WORDS_ONLY, OrderWeights
    from memories.settings import load_settings

    model, path = given.options["model"], given.options["questions"]
    settings = load_settings(
        hermes_home=given.options.get("hermes_home"), db_path=given.options["database"], embed_model=model
    )
    embedder = None if model == WORDS_ONLY else create_embedder(settings)
    own: list[Observed] = [] if path is None else observed_own(path, settings, embedder)
    without, every = _without(given.options["without"]), given.options["every"]
    fitted = calibrate(embedder, without, own, given.command, every)
    calibration = fitted.calibration
    figures: dict[str, Any] = {
        "identity": calibration.identity,
        "threshold": calibration.gate.threshold,
        "bias": calibration.gate.bias,
        "gate": dict(calibration.gate.weights),
        "order": {name: getattr(calibration.order, name) for name in OrderWeights.__slots__},
    }
    if given.options["write"] is not None and not given.options["without"]:
        figures |= _written(given, fitted, settings.suite_dir if own else None)
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=list(_rows(fitted)),
        figures=figures,
        corpus_hash=calibration.corpus,
    )


def calibrate(
    embedder: Embedder | None,
    without: frozenset[str] = frozenset(),
    own: Sequence[Observed] = (),
    command: str = "",
    every: int = 1,
) -> Fitted:
    """Fit to ``every`` so-manieth question of the open halves and the drill and to ``own``, as if the
    evidence ``without`` were not."""
    from maintenance.bench.corpus import OPEN_HALVES, corpus_hash, load_corpus
    from maintenance.bench.corpus.drill import drill
    from maintenance.bench.fitting import fit_gate, fit_order, measure, with_threshold
    from maintenance.bench.observations import (
        library,
        observe,
        observe_distinctive,
        observe_keywords,
        without_concepts,
    )
    from memories.retrieval.calibration import WORDS_ONLY, Calibration, OrderWeights, running_engine
    from memories.retrieval.question import Question

    corpus = load_corpus()
    open_ones = [memory for memory in corpus.memories if memory.half in OPEN_HALVES]
    shelf = library(open_ones, embedder)
    ask = without_concepts if CONCEPTS in without else Question.of
    parts: dict[str, list[Observed]] = {
        half: observe(shelf, corpus.half(half)[::every], embedder, ask) for half in OPEN_HALVES
    }
    parts["drill"] = observe(shelf, drill(corpus.seed)[::every], embedder, ask, DRILL_WEIGHT)
    if own:
        parts["own"] = list(own)
    everything = [one for some in parts.values() for one in some]
    # Only ratios order, so one weight stays as it is; without a model the cosine is always nothing.
    fixed = ("lexical", "vector") if embedder is None else ("lexical",)
    order = fit_order(everything, OrderWeights(**START), GRID, fixed)
    features = GATE_OF_WORDS if embedder is None else GATE_WITH_VECTORS
    names = [name for name in features if name not in without]
    short = (observe_distinctive(shelf, frozenset(shelf.keys), embedder), observe_keywords(shelf, embedder))
    gate = with_threshold(fit_gate(everything, short, names, order), everything, NEAR_MISSES_ALLOWED)
    calibration = Calibration(
        identity=WORDS_ONLY if embedder is None else str(embedder.identity),
        date=datetime.now(UTC).date().isoformat(),
        command=command,
        corpus=corpus_hash(corpus),
        engine=running_engine(),
        average_length=round(shelf.average_length, 2),
        order=order,
        gate=gate,
        centre=None if shelf.centre is None else shelf.centre.astype("float32"),
    )
    return Fitted(
        calibration,
        {part: measure(some, order, gate) for part, some in parts.items()},
        {part: measure(some, order, None) for part, some in parts.items()},
    )


def _written(given: Run, fitted: Fitted, suite_dir: Path | None) -> dict[str, Any]:
    """Write the data file; ``suite_dir`` where it is a person's own. Names the new file and the old one."""
    from memories.retrieval.calibration import OWN_FOLDER, file_name, write

    name = file_name(fitted.calibration.identity)
    shipped = Path(str(resources.files("memories.retrieval").joinpath("data")))
    folder = shipped if suite_dir is None else suite_dir / OWN_FOLDER
    path = given.options["write"] if given.options["write"] != Path() else folder / name
    before = path if path.is_file() else (shipped / name if suite_dir is not None else None)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if suite_dir is not None else 0o777)
    # What is replaced is kept beside it, so that the act can be taken back.
    kept = path.with_suffix(".before.json") if path.is_file() and suite_dir is not None else None
    if kept is not None:
        kept.write_bytes(path.read_bytes())
    path.write_text(write(fitted.calibration, notes_of(fitted)), encoding="utf-8")
    return {"file": str(path), "replaces": str(before) if before is not None else "none"} | (
        {"kept": str(kept)} if kept is not None else {}
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
    return {
        "fitted_on": "the open halves and the drill of the public corpus (maintenance/bench/corpus)"
        + (", and own questions" if "own" in fitted.gated else ""),
        "method": "logistic regression without negative weights; order by coordinate search",
        "threshold": "lowest that refuses all unrelated questions and all near misses but "
        f"{NEAR_MISSES_ALLOWED:.0%}",
        "centre": "mean vector of maintenance/bench/data/general_text.txt",
        "parts": {
            part: {
                "recall_at_5": seen.overall.recall,
                "reciprocal_rank": seen.overall.reciprocal_rank,
                "false_unrelated": list(seen.false_unrelated),
                "false_near_misses": list(seen.false_near_misses),
            }
            for part, seen in fitted.gated.items()
        },
    }


def _rows(fitted: Fitted) -> Iterator[dict[str, Any]]:
    for part, report in fitted.gated.items():
        free = fitted.ungated[part]
        for kind, outcome in {"all": report.overall, **report.kinds}.items():
            alone = free.overall if kind == "all" else free.kinds[kind]
            row = {
                "part": part,
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


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="builtin:minilm",
        metavar="NAME",
        help="as the setting embed_model; words: the gate without a model (builtin:minilm)",
    )
    parser.add_argument(
        "--without",
        default="",
        metavar="NAME,NAME",
        help=f"an ablation: evidence to leave out, {CONCEPTS} or a feature of the gate; nothing is written",
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="use only every Nth question, for a quick look (1)"
    )
    parser.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="your own questions as well, JSON, on your own database, which is only read",
    )
    parser.add_argument(
        "--database", type=Path, metavar="DIR", help="with --questions: the database, if not the usual one"
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=Path(),
        metavar="FILE",
        help="write the data file of this model: with --questions yours, which goes before the shipped one "
        "from then on (in the suite's directory), else that of this installation",
    )


BENCHMARK = Benchmark(
    name="calibrate",
    summary="fit the weights and the threshold of search to the public corpus and your own questions",
    arguments=_arguments,
    run=run,
)
