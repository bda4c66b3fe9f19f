"""How much a question gives away: the share of its words that stand in the memories it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from statistics import fmean

from maintenance.bench.corpus.model import Corpus, CorpusMemory, Question
from maintenance.bench.corpus.source import entities
from maintenance.bench.corpus.wording import without_accents

_WORD = re.compile(r"\w+")
# Two words count as one where this many first letters agree: "backup" and "backups", "tester" and "testeurs".
_STEM_LETTERS = 5


def content_words(text: str) -> list[str]:
    """The words of a text without accents, function words and single letters, in their order."""
    words = _WORD.findall(without_accents(text.casefold()))
    return [word for word in words if len(word) > 1 and word not in _FUNCTION_WORDS]


def overlap(question: Question, memories: Iterable[CorpusMemory], *, with_names: bool) -> float | None:
    """Between 0 (no content word in common) and 1 (all). None: the question has no content word to compare.

    `with_names=False` leaves out the name of the project or person asked about: any question must carry it.
    """
    names = set() if with_names else set(content_words(entities()[question.entity].name))
    asked = [word for word in content_words(question.text) if word not in names]
    known = {_stem(word) for memory in memories for word in content_words(_text(memory))}
    return fmean(_stem(word) in known for word in asked) if asked else None


def overlaps_by_kind(corpus: Corpus, *, with_names: bool) -> dict[str, float]:
    """The mean overlap of each kind that has answers."""
    memories = {memory.key: memory for memory in corpus.memories}
    shares: dict[str, list[float]] = {}
    for question in corpus.questions:
        if question.expected:
            expected = [memories[key] for key in question.expected]
            share = overlap(question, expected, with_names=with_names)
            shares.setdefault(question.kind, []).extend([] if share is None else [share])
    return {kind: fmean(values) for kind, values in shares.items()}


def _stem(word: str) -> str:
    return word[:_STEM_LETTERS]


def _text(memory: CorpusMemory) -> str:
    payload = memory.payload
    return " ".join((payload["domain"], payload["subject"], *payload["facts"]))


def _function_words() -> frozenset[str]:
    text = files(__package__).joinpath("data", "function_words.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(without_accents(word) for line in lines for word in line.split())


_FUNCTION_WORDS = _function_words()
