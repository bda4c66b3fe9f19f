"""``bench retrieval``: what search finds, and whether it says so when there is nothing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from maintenance.bench.metrics import Outcome
    from maintenance.bench.questions import KnownQuestion
    from memories.repository import MemoryRepository

DEFAULT_MODEL = "builtin:minilm"

Table = Mapping[str, Sequence["Outcome"]]
"""Way → outcomes."""


def run(given: Run) -> Result:
    if given.options["questions"] is not None:
        return _own_questions(given)
    if given.options["locomo"] is not None:
        return _locomo(given)
    return _corpus(given)


def _locomo(given: Run) -> Result:
    from maintenance.bench.locomo_run import run_locomo
    from memories.embedding import create_embedder
    from memories.settings import load_settings

    return run_locomo(given, create_embedder(load_settings(embed_model=given.options["model"])))


def _corpus(given: Run) -> Result:
    from maintenance.bench.asking import AUTO
    from maintenance.bench.corpus import HALVES, OPEN_HALVES, corpus_hash, load_corpus
    from maintenance.bench.corpus_store import database, put
    from maintenance.bench.metrics import METRICS
    from maintenance.bench.questions import of_corpus
    from maintenance.bench.targets import shortfalls, targets
    from memories.embedding import create_embedder
    from memories.settings import load_settings

    chosen = {"both": ("calibration", "final"), "all": HALVES}
    halves = chosen.get(given.options["half"], (given.options["half"],))
    corpus = load_corpus()
    embedder = create_embedder(load_settings(embed_model=given.options["model"]))
    with database(given.directory, embedder) as repository:
        ids = put(repository, corpus.memories)
        questions = of_corpus(corpus.questions, ids)[:: given.options["every"]]
        parts = {half: [one for one in questions if one.half == half] for half in halves}
        asked = {half: _asked(given, repository, some) for half, some in parts.items()}
        state = repository.read(lambda snapshot: DatabaseState.of("corpus", snapshot))
    bars = targets()["retrieval"]
    judged = asked.get(bars["half"], {}).get(AUTO, ())
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=[
            *(row for half, table in asked.items() for row in _rows(half, table)),
            *_misses({half: (parts[half], asked[half]) for half in OPEN_HALVES if half in asked}, ids, given),
        ],
        figures={"targets_of": str(targets()["date"]), "targets": dict(bars)},
        failures=[f"{bars['half']} half, {AUTO}: {short}" for short in shortfalls(judged)] if judged else [],
        databases=[state],
        corpus_hash=corpus_hash(corpus),
    )


def _own_questions(given: Run) -> Result:
    """A person's questions on their own database, which is only read."""
    from maintenance.bench.asking import LastQuery
    from maintenance.bench.metrics import METRICS
    from maintenance.bench.questions import of_file
    from memories.embedding import create_embedder
    from memories.repository import MemoryRepository
    from memories.settings import load_settings

    path = given.options["questions"]
    questions = of_file(path)
    settings = load_settings(hermes_home=given.options.get("hermes_home"), db_path=given.options["database"])
    with MemoryRepository.open(settings, LastQuery(create_embedder(settings))) as repository:
        table = _asked(given, repository, questions)
        state = repository.read(lambda snapshot: DatabaseState.of("own", snapshot))
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=list(_rows("", table)),
        figures={"questions": len(questions)},
        databases=[state],
        corpus_hash=_hash_of(path),
    )


def _asked(given: Run, repository: MemoryRepository, questions: Sequence[KnownQuestion]) -> Table:
    from maintenance.bench.asking import ask

    table: dict[str, list[Outcome]] = {}
    with given.progress("Questions", len(questions)) as progress:
        for place, question in enumerate(questions, start=1):
            for way, outcome in ask(repository, question).items():
                table.setdefault(way, []).append(outcome)
            progress.show(place)
    return table


def _rows(half: str, table: Table) -> Iterator[dict[str, Any]]:
    """A row for each way, and for the mode that everybody uses one for each kind of question."""
    from maintenance.bench.asking import AUTO
    from maintenance.bench.metrics import summary

    for way, outcomes in table.items():
        yield {"half": half, "way": way, "kind": "all"} | summary(outcomes)
    outcomes = table.get(AUTO, ())
    for kind in sorted({one.kind for one in outcomes}):
        some = [one for one in outcomes if one.kind == kind]
        yield {"half": half, "way": AUTO, "kind": kind} | summary(some)


def _misses(
    parts: Mapping[str, tuple[Sequence[KnownQuestion], Table]], ids: Mapping[str, str], given: Run
) -> Iterator[dict[str, Any]]:
    """The first questions of each kind that ``auto`` does not answer in full, or answers without one to give.
    Never of the final half: who reads its misses tunes on it."""
    from maintenance.bench.asking import AUTO

    keys = {name: key for key, name in ids.items()}
    for half, (questions, table) in parts.items():
        shown: dict[str, int] = {}
        for question, outcome in zip(questions, table[AUTO], strict=True):
            is_right = outcome.recall(5) == 1 if outcome.expected else not outcome.found
            if is_right or shown.get(question.kind, 0) >= given.options["misses"]:
                continue
            shown[question.kind] = shown.get(question.kind, 0) + 1
            yield {
                "half": half,
                "kind": question.kind,
                "missed": question.text,
                "expected": ", ".join(sorted(keys[name] for name in outcome.expected)),
                "found": ", ".join(keys.get(name, name) for name in outcome.found[:3]),
            }


def _hash_of(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--half",
        choices=("calibration", "development", "final", "both", "all"),
        default="both",
        help="of the public corpus: both are calibration and final, all has the former final one too; the "
        "frozen targets are about the final one (both)",
    )
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, metavar="NAME", help=f"as the setting embed_model ({DEFAULT_MODEL})"
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="ask only every Nth question, for a quick look (1)"
    )
    parser.add_argument(
        "--misses",
        type=int,
        default=0,
        metavar="N",
        help="list N missed questions of each kind, never of the final half (0)",
    )
    parser.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="your own questions, JSON, on your own database, which is only read",
    )
    parser.add_argument(
        "--locomo",
        type=Path,
        metavar="ZIP",
        help="turns of the LoCoMo conversations in this archive instead of the corpus",
    )
    parser.add_argument(
        "--database", type=Path, metavar="DIR", help="with --questions: the database, if not the usual one"
    )


BENCHMARK = Benchmark(
    name="retrieval",
    summary="what search finds and refuses: on the public corpus, your own questions, or LoCoMo",
    arguments=_arguments,
    run=run,
)
