"""A public corpus of invented memories and questions, the same for everybody who names the same seed.

`load_corpus()` makes it in memory, without a model, a network or outside data; README.md says how and what it
cannot show; `python -m maintenance.bench.corpus --stats` prints what is in it.
"""

from __future__ import annotations

import random

from maintenance.bench.corpus.memories import build_store
from maintenance.bench.corpus.model import (
    HALVES,
    KINDS,
    LANGUAGES,
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

__all__ = [
    "DEFAULT_SEED",
    "HALVES",
    "KINDS",
    "LANGUAGES",
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
    rng = random.Random(seed)
    store = build_store(rng)
    desk = Desk(rng)
    ask_answerable(store, desk)
    ask_unanswerable(store, desk)
    questions = tuple(hurried(desk.asked, rng))
    return Corpus(seed, tuple(store.memories.values()), questions)
