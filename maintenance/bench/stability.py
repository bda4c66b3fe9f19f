"""``bench stability``: whether a verdict on a question depends on anything but the question.

Nothing that happens to other memories, or to the database as such, may change what a question gets.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from maintenance.bench.corpus import Corpus, CorpusMemory
    from maintenance.bench.questions import KnownQuestion
    from memories.embedding import Embedder
    from memories.repository import MemoryRepository
    from memories.retrieval import SearchAnswer

UNRELATED = 1_000
"""Memories added to see what that changes."""

SIZES = (20, 100, 1_000)
LARGEST = 10_000
CORE = 20
"""Memories that are in a database of every size, and that its answerable questions are about."""

METRICS = {
    "step": f"what happened: {UNRELATED} unrelated adds, and what keeps a database in shape; each builds on "
    "those before",
    "verdicts": "pairs of a question and a memory that were judged before and after",
    "verdicts_changed": "of these, how many passed only before or only after; the bar is 0",
    "answers_changed": "questions whose results differ in ids or order; the bar is 0",
    "memories": f"in a database: the same {CORE} of the corpus, more of it, then unrelated ones",
    "recall_5": f"of the questions about those {CORE}",
    "abstained": "share of the questions without an answer that got none",
    "spread": "largest difference between sizes; the bar is 3 points",
}

Answer = tuple[tuple[str, ...], Mapping[str, bool]]
"""Ids in order, and for each memory judged whether it passed."""


def run(given: Run) -> Result:
    from maintenance.bench.corpus import corpus_hash, load_corpus
    from maintenance.bench.targets import targets
    from memories.embedding import create_embedder
    from memories.settings import load_settings

    corpus = load_corpus()
    embedder = create_embedder(load_settings(embed_model=given.options["model"]))
    bars = targets()["stability"]
    changes, state = _changes(given, corpus, embedder)
    sizes = list(_sizes(given, corpus, embedder))
    spreads = {name: _spread([row[name] for row in sizes]) for name in ("recall_5", "abstained")}
    failures = [
        f"{row['step']}: {row['verdicts_changed']} verdicts, {row.get('answers_changed', 0)} answers changed"
        for row in changes
        if max(row["verdicts_changed"], row.get("answers_changed", 0)) > bars["verdicts_changed"]
    ]
    failures += [
        f"{name} differs by {spread:.3f} between sizes, more than {bars['spread']:.2f}"
        for name, spread in spreads.items()
        if spread > bars["spread"]
    ]
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=[*changes, *sizes],
        figures={"targets_of": str(targets()["date"]), "spread": spreads},
        failures=failures,
        databases=[state],
        corpus_hash=corpus_hash(corpus),
    )


def _changes(given: Run, corpus: Corpus, embedder: Embedder) -> tuple[list[dict[str, Any]], DatabaseState]:
    """The corpus' questions before and after each step."""
    from maintenance.bench.corpus_store import database, put
    from maintenance.bench.filling import fill
    from maintenance.bench.questions import of_corpus

    directory, unrelated = given.directory / "changes", given.options["unrelated"]
    rows: list[dict[str, Any]] = []

    def compare(step: str, repository: MemoryRepository) -> None:
        rows.append({"step": step} | _compared(before, _answers(repository, questions)))

    with database(directory, embedder) as repository:
        questions = of_corpus(corpus.questions, put(repository, corpus.memories))[:: given.options["every"]]
        before = _answers(repository, questions)
        rows.append({"step": "a filter"} | _compared(before, _answers(repository, questions, tier=2)))
        del rows[-1]["answers_changed"]
        fill(repository, unrelated)
        compare(f"{unrelated:,} unrelated adds", repository)
        _make_writer_compact(repository, unrelated)
        compare("compaction", repository)
        shutil.rmtree(repository.path / "memories.lance" / "_indices")
    with database(directory, embedder) as repository:
        compare("a restart without indexes, which makes them anew", repository)
        return rows, repository.read(lambda snapshot: DatabaseState.of("changes", snapshot))


def _make_writer_compact(repository: MemoryRepository, first: int) -> None:
    """More commits of one row than a writer lets stand."""
    from maintenance.bench.made_up import payload
    from maintenance.bench.operation import BENCH
    from memories.repository.tables import MOST_FRAGMENTS

    for number in range(first, first + MOST_FRAGMENTS + 2):
        repository.add(payload(number), BENCH)


def _sizes(given: Run, corpus: Corpus, embedder: Embedder) -> Iterator[dict[str, Any]]:
    """The same questions in databases of different sizes."""
    from maintenance.bench.corpus_store import database, put
    from maintenance.bench.filling import fill
    from maintenance.bench.questions import of_corpus

    core = _core(corpus)
    others = [memory for memory in corpus.memories if memory.key not in core]
    asked = [
        one for one in corpus.questions if not one.expected or core.keys() >= {*one.expected, *one.avoid}
    ]
    sizes = SIZES + ((LARGEST,) if given.options["full"] else ())
    for size in sizes if given.options["sizes"] is None else given.options["sizes"]:
        with database(given.directory / f"size-{size}", embedder) as repository:
            ids = put(repository, [*core.values(), *others[: size - CORE]])
            fill(repository, size - len(ids))
            answers = _answers(repository, of_corpus(asked, ids))
            yield {"memories": repository.count()} | _found(of_corpus(asked, ids), answers)


def _core(corpus: Corpus) -> dict[str, CorpusMemory]:
    """The first memories that questions with an answer are about, by key."""
    memories = {memory.key: memory for memory in corpus.memories}
    keys: dict[str, None] = {}
    for question in corpus.questions:
        wanted = dict.fromkeys((*question.expected, *question.avoid))
        if question.expected and len(keys | wanted) <= CORE:
            keys |= wanted
    return {key: memories[key] for key in keys}


def _answers(
    repository: MemoryRepository, questions: Sequence[KnownQuestion], tier: int | None = None
) -> list[Answer]:
    from memories.contract import Tier
    from memories.retrieval import SearchRequest, search

    wanted = None if tier is None else Tier(tier)
    requests = [SearchRequest(one.text, tier=wanted, diagnostics=True) for one in questions]
    return [_answer(search(repository, request)) for request in requests]


def _answer(answer: SearchAnswer) -> Answer:
    shown = answer.diagnostics
    judged = (*shown.get("passed", ()), *shown.get("losers", ()))
    return tuple(result.id for result in answer.results), {row["id"]: row["passed"] for row in judged}


def _compared(before: Sequence[Answer], after: Sequence[Answer]) -> dict[str, int]:
    verdicts = [
        (was[name], now[name])
        for (_, was), (_, now) in zip(before, after, strict=True)
        for name in was.keys() & now.keys()
    ]
    return {
        "verdicts": len(verdicts),
        "verdicts_changed": sum(was != now for was, now in verdicts),
        "answers_changed": sum(was != now for (was, _), (now, _) in zip(before, after, strict=True)),
    }


def _found(questions: Sequence[KnownQuestion], answers: Sequence[Answer]) -> dict[str, Any]:
    pairs = [(question.expected, ids) for question, (ids, _) in zip(questions, answers, strict=True)]
    recalls = [len(expected.intersection(ids[:5])) / len(expected) for expected, ids in pairs if expected]
    refused = [not ids for expected, ids in pairs if not expected]
    return {
        "questions": f"{len(recalls)} + {len(refused)}",
        "recall_5": round(sum(recalls) / max(1, len(recalls)), 4),
        "abstained": round(sum(refused) / max(1, len(refused)), 4),
    }


def _spread(values: Sequence[float]) -> float:
    return round(max(values) - min(values), 4)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="builtin:minilm",
        metavar="NAME",
        help="as the setting embed_model (builtin:minilm)",
    )
    parser.add_argument("--full", action="store_true", help=f"measure {LARGEST:,} memories as well")
    parser.add_argument("--sizes", type=_numbers, metavar="N,N", help="sizes to measure instead")
    parser.add_argument(
        "--unrelated",
        type=int,
        default=UNRELATED,
        metavar="N",
        help=f"unrelated memories to add ({UNRELATED})",
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="ask only every Nth question, for a quick look (1)"
    )


BENCHMARK = Benchmark(
    name="stability",
    summary="whether growth, compaction, new indexes, a filter or a restart change a verdict",
    arguments=_arguments,
    run=run,
)
