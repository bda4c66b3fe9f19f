"""What the gate and the order see of a question: one row of numbers for each memory.

The public corpus needs no database for that: a verdict must not depend on one, so neither does its
calibration. A person's own questions are observed on the candidates of their own database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maintenance.bench.corpus import CorpusMemory, Question
from maintenance.bench.questions import KnownQuestion
from memories.contract import validate_add
from memories.embedding import Embedder
from memories.repository import MemoryRepository, Snapshot, StoredMemory
from memories.repository.records import derived_columns, embedding_text, memory_of
from memories.repository.vectors import Vector
from memories.retrieval.calibration import Calibration, centred_cosines
from memories.retrieval.candidates import Candidate, collect
from memories.retrieval.document import Document
from memories.retrieval.evidence import FEATURES, evidence_of
from memories.retrieval.prepared import prepared_for
from memories.retrieval.question import Match
from memories.retrieval.question import Question as Asked
from memories.retrieval.ranking import bm25_share, compare_with
from memories.retrieval.rarity import is_known, rarity
from memories.text.normalise import tokens
from memories.text.stems import stem_language

Numbers = NDArray[np.float64]

COLUMNS = (*FEATURES, "share", "cosine")
"""Of a table of observations: the evidence, the BM25 share, the plain cosine."""

SHORTEST_DISTINCTIVE = 4


class Asking(Protocol):
    """What of a question with known answers the fit looks at."""

    @property
    def kind(self) -> str: ...
    @property
    def near_miss(self) -> bool | None: ...


@dataclass(frozen=True, slots=True)
class Observed:
    """One question and its table, shape (memories, len(COLUMNS)); ``expected`` are positions in it.
    ``weight``: what it counts in a fit, beside those of the corpus' halves."""

    question: Asking
    expected: tuple[int, ...]
    table: Numbers
    weight: float = 1.0

    def column(self, name: str) -> Numbers:
        return self.table[:, COLUMNS.index(name)]


@dataclass(frozen=True, slots=True)
class Library:
    """The corpus' memories as search sees them; ``vectors`` is None for the calibration without any."""

    keys: tuple[str, ...]
    documents: tuple[Document, ...]
    vectors: Vector | None
    centre: Vector | None
    vocabulary: frozenset[str]
    """The words long enough to be compared by likeness, of all of them."""

    @property
    def average_length(self) -> float:
        return float(np.mean([document.length for document in self.documents]))


def general_text() -> list[str]:
    """The sentences whose mean vector is the centre."""
    path = resources.files("maintenance.bench").joinpath("data", "general_text.txt")
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def library(memories: Sequence[CorpusMemory], embedder: Embedder | None) -> Library:
    documents = tuple(Document.of(stored(memory)) for memory in memories)
    keys = tuple(memory.key for memory in memories)
    vocabulary = frozenset[str]().union(*(document.long_words for document in documents))
    if embedder is None:
        return Library(keys, documents, None, None, vocabulary)
    texts = [embedding_text(document.memory.form()) for document in documents]
    centre = embedder.embed_documents(general_text()).mean(axis=0)
    return Library(keys, documents, embedder.embed_documents(texts), centre, vocabulary)


def stored(memory: CorpusMemory) -> StoredMemory:
    """A corpus memory as the table would hold it; the columns that search does not read are blank."""
    form = validate_add({**memory.payload, "relations": []}).form
    blank = dict.fromkeys(("source", "session_id", "user_id", "platform", "operation_id", "approved_by"), "")
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    row: dict[str, Any] = derived_columns(form, tags_manual=False) | blank
    row |= {"id": memory.key, "created_at": moment, "updated_at": moment, "reviewed_at": None}
    return memory_of(row | {"revision": 1, "generation": 1, "embedding_id": ""})


def without_concepts(text: str) -> Asked:
    """A question as search takes it apart, but blind to what words mean: for an ablation."""
    asked = Asked.of(text)
    terms = tuple(replace(term, concepts=frozenset()) for term in asked.terms)
    return replace(asked, terms=terms, concepts=frozenset())


def observe(
    library: Library,
    questions: Sequence[Question],
    embedder: Embedder | None,
    ask: Callable[[str], Asked] = Asked.of,
    weight: float = 1.0,
) -> list[Observed]:
    position = {key: at for at, key in enumerate(library.keys)}
    average = library.average_length
    return [
        Observed(
            question,
            tuple(position[key] for key in question.expected),
            _table(question.text, library, range(len(library.keys)), average, embedder, ask),
            weight,
        )
        for question in questions
    ]


def observe_stored(
    repository: MemoryRepository, questions: Sequence[KnownQuestion], calibration: Calibration
) -> Iterator[Observed]:
    """A person's questions on their own database, which is only read: on the candidates of each. An expected
    memory that is none of them cannot be found whatever the gate says, and is left out."""
    for question in questions:
        asked, vector = Asked.of(question.text), repository.embedder.embed_query(question.text)

        def candidates(
            snapshot: Snapshot, asked: Asked = asked, vector: Vector = vector
        ) -> tuple[Candidate, ...]:
            prepared = prepared_for(repository)
            return collect(snapshot, prepared, asked, calibration, vector, None, hopeless_too=True).candidates

        rows = repository.read(candidates)
        if not rows:
            continue
        table = [
            _row(Match.of(asked, row.document), row.centred, row.cosine, calibration.average_length)
            for row in rows
        ]
        ids = [row.document.memory.id for row in rows]
        expected = tuple(at for at, name in enumerate(ids) if name in question.expected)
        if expected or not question.expected:
            yield Observed(question, expected, np.array(table))


def observe_distinctive(library: Library, keys: Collection[str], embedder: Embedder | None) -> Numbers:
    """One row for each memory of ``keys`` that holds a word found in no other and in no word list: what a
    query of that word alone sees of it."""
    holders = Counter(word for document in library.documents for word in document.counts)
    rows = []
    for at, (key, document) in enumerate(zip(library.keys, library.documents, strict=True)):
        words = [word for word in document.counts if holders[word] == 1 and _is_distinctive(word)]
        if key in keys and words:
            rows.append(_table(min(words), library, [at], library.average_length, embedder)[0])
    return np.array(rows)


def observe_keywords(library: Library, embedder: Embedder | None) -> Numbers:
    """One row for each memory: what a query of the two rarest known words of its facts sees of it, as an
    agent types them."""
    rows = []
    for at, document in enumerate(library.documents):
        subject = frozenset(document.subject.weights)
        known = {
            word
            for word in tokens("\n".join(document.memory.facts))
            if len(word) >= SHORTEST_DISTINCTIVE and word.isalpha() and is_known(word) and word not in subject
        }
        if len(known) > 1:
            text = " ".join(sorted(known, key=lambda word: (-rarity(word), word))[:2])
            rows.append(_table(text, library, [at], library.average_length, embedder)[0])
    return np.array(rows)


def _is_distinctive(word: str) -> bool:
    long_enough = len(word) >= SHORTEST_DISTINCTIVE and word.isalpha()
    return long_enough and stem_language(word) is None and not is_known(word)


def _table(
    text: str,
    library: Library,
    rows: Sequence[int],
    average: float,
    embedder: Embedder | None,
    ask: Callable[[str], Asked] = Asked.of,
) -> Numbers:
    question = ask(text)
    compare_with(question, library.vocabulary)
    cosines, centred = _cosines(text, library, list(rows), embedder)
    table = [
        _row(Match.of(question, library.documents[at]), float(from_centre), float(cosine), average)
        for at, cosine, from_centre in zip(rows, cosines, centred, strict=True)
    ]
    return np.array(table)


def _row(match: Match, centred: float, cosine: float, average_length: float) -> list[float]:
    features = evidence_of(match, centred).features()
    return [*(features[name] for name in FEATURES), bm25_share(match, average_length), cosine]


def _cosines(
    text: str, library: Library, rows: list[int], embedder: Embedder | None
) -> tuple[Numbers, Numbers]:
    if embedder is None or library.vectors is None or library.centre is None:
        return np.zeros(len(rows)), np.zeros(len(rows))
    query, vectors = embedder.embed_query(text), library.vectors[rows]
    return (vectors @ query).astype(float), centred_cosines(query, vectors, library.centre).astype(float)
