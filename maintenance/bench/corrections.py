"""``bench corrections``: how well the rules tell corrections from sentences that look like them."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.labelled import HELD_OUT, LANGUAGES, Labelled, agreement, labelled
from maintenance.bench.results import Result
from maintenance.bench.targets import targets

ALL = "all"

METRICS = {
    "language": "en English, nb Norwegian; labelled by hand, about half of them look-alikes",
    "part": "tuning: seen while the rules were made; held_out: written and measured after; all: both",
    "precision": "of the sentences in which the rules hear a correction, the share that is one",
    "recall": "of the corrections, the share that the rules hear",
    "false": "look-alikes in which the rules hear a correction",
}


def run(given: Run) -> Result:
    rows = [row for language in LANGUAGES for row in _rows(language)]
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=rows,
        figures={"missed_or_false": _disagreements() if given.options["show"] else []},
        failures=list(_shortfalls(rows)),
        corpus_hash=_hash(),
    )


def _rows(language: str) -> Iterator[dict[str, Any]]:
    sentences = labelled(language)
    for part in ("tuning", HELD_OUT, ALL):
        chosen = [one for one in sentences if part in (ALL, one.part)]
        yield _row(language, part, chosen)


def _row(language: str, part: str, sentences: Sequence[Labelled]) -> dict[str, Any]:
    found = agreement(sentences)
    return {
        "language": language,
        "part": part,
        "sentences": len(sentences),
        "corrections": sum(one.corrects for one in sentences),
        "precision": round(found.precision, 3),
        "recall": round(found.recall, 3),
        "missed": found.missed,
        "false": found.false,
    }


def _shortfalls(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    bars = targets()["corrections"]
    for row in rows:
        for measure in ("precision", "recall"):
            if row["part"] == ALL and row[measure] < bars[measure]:
                yield f"{row['language']}: {measure} is {row[measure]:.3f}, not {bars[measure]:.2f}"


def _disagreements() -> list[str]:
    from memories.capture.corrections import is_correction

    return [
        f"{language} {one.part} {one.kind}: {one.sentence}"
        for language in LANGUAGES
        for one in labelled(language)
        if one.corrects is not is_correction(one.sentence)
    ]


def _hash() -> str:
    text = "\n".join(
        f"{one.part}\t{one.kind}\t{one.sentence}" for lang in LANGUAGES for one in labelled(lang)
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--show", action="store_true", help="name the sentences on which rules and labels disagree"
    )


BENCHMARK = Benchmark(
    name="corrections",
    summary="how well corrections are told from look-alikes, by language",
    arguments=_arguments,
    run=run,
)
