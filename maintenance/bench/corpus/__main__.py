"""`python -m maintenance.bench.corpus --stats`: what the corpus contains, counted."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable

from maintenance.bench.corpus import DEFAULT_SEED, HALVES, KINDS, LANGUAGES, Corpus, corpus_hash, load_corpus
from maintenance.bench.corpus.model import Question
from maintenance.bench.corpus.overlap import overlaps_by_kind


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m maintenance.bench.corpus", description=__doc__)
    parser.add_argument("--stats", action="store_true", help="print the counts (the default)")
    parser.add_argument("--sample", type=int, metavar="N", help="print N questions and their memories")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    corpus = load_corpus(options.seed)
    print(_sample(corpus, options.sample) if options.sample else _stats(corpus))


def _stats(corpus: Corpus) -> str:
    lines = [f"seed {corpus.seed}, sha256 {corpus_hash(corpus)}", "", *_memory_counts(corpus), ""]
    lines += _table("questions", KINDS, corpus.questions, lambda question: question.kind)
    notes = sorted({question.note for question in corpus.questions})
    lines += ["", *_table("of which", notes, corpus.questions, lambda question: question.note)]
    return "\n".join([*lines, "", *_overlaps(corpus)])


def _memory_counts(corpus: Corpus) -> list[str]:
    memories = corpus.memories
    relations = Counter(r["type"] for memory in memories for r in memory.payload.get("relations", ()))
    languages = Counter(memory.language for memory in memories)
    by_language = ", ".join(f"{language} {languages[language]}" for language in LANGUAGES)
    return [
        f"memories {len(memories)}: {by_language}",
        f"superseded {sum(memory.superseded for memory in memories)}, about people "
        f"{sum(not memory.project for memory in memories)}",
        "relations: " + ", ".join(f"{relation} {count}" for relation, count in sorted(relations.items())),
    ]


def _table(
    title: str, rows: Iterable[str], questions: Iterable[Question], row_of: Callable[[Question], str]
) -> list[str]:
    asked = list(questions)
    columns = [(half, language) for half in HALVES for language in LANGUAGES]
    counts = Counter((row_of(question), question.half, question.language) for question in asked)
    head = f"{title:32}" + "".join(f"{half[:5] + ' ' + language:>10}" for half, language in columns)
    lines = [head + f"{'all':>8}"]
    for row in rows:
        cells = [counts[row, half, language] for half, language in columns]
        lines.append(f"{row:32}" + "".join(f"{cell:>10}" for cell in cells) + f"{sum(cells):>8}")
    totals = [sum(counts[row, *column] for row in {row_of(q) for q in asked}) for column in columns]
    return [*lines, f"{'all':32}" + "".join(f"{cell:>10}" for cell in totals) + f"{sum(totals):>8}"]


def _overlaps(corpus: Corpus) -> list[str]:
    bare, named = (overlaps_by_kind(corpus, with_names=named) for named in (False, True))
    lines = [f"{'mean overlap with the answer':32}{'no names':>10}{'names':>10}"]
    return lines + [f"{kind:32}{bare[kind]:>10.3f}{named[kind]:>10.3f}" for kind in KINDS if kind in bare]


def _sample(corpus: Corpus, count: int) -> str:
    """Every n-th question, so that the same call shows the same pairs."""
    memories = {memory.key: memory.payload for memory in corpus.memories}
    lines = []
    for question in corpus.questions[:: max(1, len(corpus.questions) // count)][:count]:
        lines.append(f"[{question.kind}, {question.language}, {question.note}] {question.text}")
        for key in question.expected:
            payload = memories[key]
            lines.append(f"    {payload['domain']}:{payload['subject']} {' '.join(payload['facts'])}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
