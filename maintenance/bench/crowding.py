"""``bench crowding``: what one memory that was written to match everything costs all others."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result
from maintenance.bench.targets import targets

if TYPE_CHECKING:
    from maintenance.bench.questions import KnownQuestion
    from memories.repository import MemoryRepository

METRICS = {
    "recall_5": "of the questions with an answer, mean share of their memories among the first five, auto",
    "shown": "share of those questions for which the crowding memory was among the first five",
    "first": "share for which it came first",
    "recall_5_lost": "how much recall@5 the crowding memory takes; the bar is 0.02",
}


def run(given: Run) -> Result:
    from maintenance.bench.corpus import corpus_hash, load_corpus
    from maintenance.bench.corpus_store import database, put
    from maintenance.bench.operation import BENCH
    from maintenance.bench.questions import of_corpus
    from memories.embedding import create_embedder
    from memories.settings import load_settings

    corpus = load_corpus()
    embedder = create_embedder(load_settings(embed_model=given.options["model"]))
    with database(given.directory, embedder) as repository:
        ids = put(repository, corpus.memories)
        asked = [one for one in of_corpus(corpus.questions, ids) if one.expected][:: given.options["every"]]
        before = _measured(given, repository, asked, "")
        crowd = repository.add(crowding_memory([one.text for one in asked]), BENCH).memory_id
        after = _measured(given, repository, asked, crowd)
        state = repository.read(lambda snapshot: DatabaseState.of("corpus and one", snapshot))
    lost = before["recall_5"] - after["recall_5"]
    bar = targets()["crowding"]["recall_5_lost"]
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=[{"database": "as it is"} | before, {"database": "with the crowding memory"} | after],
        figures={"recall_5_lost": round(lost, 4), "questions": len(asked)},
        failures=[f"recall@5 lost {lost:.3f}, more than {bar:.2f}"] if lost > bar else [],
        databases=[state],
        corpus_hash=corpus_hash(corpus),
    )


def crowding_memory(questions: Sequence[str]) -> dict[str, Any]:
    """The worst that the contract takes: full of the words that are asked for most, in facts and tags, of
    tier 1 and the highest quality. Whoever writes it is taken to know the questions."""
    words = _wanted_words(questions)
    facts = list(_filled(words, facts=12, characters=160))
    return {
        "domain": "General",
        "subject": "Everything",
        "facts": facts,
        "tier": 1,
        "category": "reference",
        "quality": 1.0,
        "tags": words[:20],
    }


def _wanted_words(questions: Sequence[str]) -> list[str]:
    from memories.text.query import analyse

    counted = Counter(term.word for question in questions for term in analyse(question).terms)
    return [word for word, _ in counted.most_common() if word.isalnum()]


def _filled(words: Sequence[str], *, facts: int, characters: int) -> Iterator[str]:
    """The words in order, so many characters a fact."""
    rest = iter(words)
    for _ in range(facts):
        line = ""
        for word in rest:
            line = f"{line} {word}".strip()
            if len(line) > characters - 20:
                break
        if line:
            yield line


def _measured(
    given: Run, repository: MemoryRepository, asked: Sequence[KnownQuestion], crowd: str
) -> dict[str, float]:
    from memories.retrieval import SearchRequest, search

    recalls, places = [], []
    with given.progress("Questions", len(asked)) as progress:
        for number, question in enumerate(asked, start=1):
            found = [
                result.id for result in search(repository, SearchRequest(question.text, top_k=5)).results
            ]
            recalls.append(len(question.expected & set(found)) / len(question.expected))
            places.append(found.index(crowd) if crowd in found else -1)
            progress.show(number)
    return {
        "recall_5": round(sum(recalls) / len(recalls), 4),
        "shown": round(sum(place >= 0 for place in places) / len(places), 4),
        "first": round(sum(place == 0 for place in places) / len(places), 4),
    }


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="builtin:minilm",
        metavar="NAME",
        help="as the setting embed_model (builtin:minilm)",
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="ask only every Nth question, for a quick look (1)"
    )


BENCHMARK = Benchmark(
    name="crowding",
    summary="what one memory written to match everything costs the recall of all others",
    arguments=_arguments,
    run=run,
)
