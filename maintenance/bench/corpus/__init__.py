"""A public corpus of invented memories and questions, the same for everybody who names the same seed.

`load_corpus()` makes it in memory, without a model, a network or outside data; README.md says how and what it
cannot show; `python -m maintenance.bench.corpus --stats` prints what is in it.
"""

from __future__ import annotations

import random

from maintenance.bench.corpus.memories import Store, fill_store
from maintenance.bench.corpus.model import (
    HALVES,
    KINDS,
    LANGUAGES,
    OPEN_HALVES,
    Corpus,
    CorpusMemory,
    Half,
    Language,
    Question,
    corpus_hash,
    payload_with_ids,
)
from maintenance.bench.corpus.no_answer import ask_unanswerable
from maintenance.bench.corpus.questions import Desk, ask_answerable, hurried

DEFAULT_SEED = 20261130

FINAL: tuple[Half, ...] = ("final",)

__all__ = [
    "DEFAULT_SEED",
    "HALVES",
    "KINDS",
    "LANGUAGES",
    "OPEN_HALVES",
    "Corpus",
    "CorpusMemory",
    "Half",
    "Language",
    "Question",
    "corpus_hash",
    "load_corpus",
    "payload_with_ids",
]


def load_corpus(seed: int = DEFAULT_SEED) -> Corpus:
    """The corpus of a seed. Another seed deals other values and wordings, and leaves other facts out."""
    store = Store()
    questions: list[Question] = []
    for halves in (OPEN_HALVES, FINAL):
        # A dice of its own for the final half: that it was added changed nothing before it.
        rng = random.Random(seed + (halves is FINAL))
        fill_store(store, halves, rng)
        desk = Desk(rng, first=len(questions) + 1)
        ask_answerable(store, desk, halves)
        ask_unanswerable(store, desk, halves)
        questions.extend(hurried(desk.asked, rng))
    return Corpus(seed, tuple(store.memories.values()), tuple(questions))
