"""``bench stability``: whether a verdict on a question depends on anything but the question.

Nothing that happens to other memories, or to the database as such, may change what a question gets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from pathlib import Path

    from maintenance.bench.corpus import Corpus, CorpusMemory
    from maintenance.bench.questions import KnownQuestion
    from memories.embedding import Embedder
    from memories.repository import MemoryRepository

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
    "verdicts_changed": "of these, how many passed before and not after, or the other way round; the bar is 0",
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
        f"{row['step']}: {row['verdicts_changed']} verdicts and {row['answers_changed']} answers changed"
        for row in changes
        if max(row["verdicts_changed"], row["answers_changed"]) > bars["verdicts_changed"]
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
    from maintenance.bench.questions import of_corpus

    directory = given.directory / "changes"
    rows: list[dict[str, Any]] = []
    with database(directory, embedder) as repository:
        questions = of_corpus(corpus.questions, put(repository, corpus.memories))[:: given.options["every"]]
        before = _answers(repository, questions)
        for name, step in _steps(given.options["unrelated"]).items():
            step(repository)
            rows.append({"step": name} | _compared(before, _answers(repository, questions)))
        filtered = _answers(repository, questions, tier=2)
        rows.append({"step": "a filter, among what it lets through"} | _verdicts_kept(before, filtered))
    with database(directory, embedder) as repository:
        rows.append({"step": "a restart"} | _compared(before, _answers(repository, questions)))
        return rows, repository.read(lambda snapshot: DatabaseState.of("changes", snapshot))


def _steps(unrelated: int) -> dict[str, Callable[[MemoryRepository], None]]:
    from maintenance.bench.filling import fill
    from memories.repository import schema

    def compact(repository: MemoryRepository) -> None:
        tables = repository.maintenance_tables()
        tables.compact(schema.MEMORIES, fsync=False)

    return {f"{unrelated:,} unrelated adds": lambda repository: fill(repository, unrelated), "x": compact}
