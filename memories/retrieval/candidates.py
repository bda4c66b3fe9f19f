"""The pool: what the two lists propose, whatever the answer's length, so that every door orders alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.repository import Filter, Snapshot
from memories.repository.vectors import Vector
from memories.retrieval.calibration import Calibration
from memories.retrieval.document import Document
from memories.retrieval.prepared import Prepared
from memories.retrieval.question import Question
from memories.retrieval.screen import hopeful

POOL = 250
"""Candidates from each list."""

NO_COSINES = (0.0, 0.0)
"""Plain and centred, where no vector is asked for."""

Pairs = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed memory. ``engine_bm25`` and ``listed_cosine`` are None where that list had it not."""

    document: Document
    cosine: float
    centred: float
    engine_bm25: float | None
    listed_cosine: float | None

    @property
    def match_type(self) -> str:
        """Which lists proposed it."""
        if self.engine_bm25 is not None and self.listed_cosine is not None:
            return "hybrid"
        return "lexical" if self.engine_bm25 is not None else "vector"


@dataclass(frozen=True, slots=True)
class Pool:
    """``candidates`` are those of the two lists that may pass the gate, all where that was asked for."""

    lexical: Pairs
    vector: Pairs
    candidates: tuple[Candidate, ...]

    @property
    def is_empty(self) -> bool:
        """Whether neither list proposed anything."""
        return not (self.lexical or self.vector)


def collect(
    snapshot: Snapshot,
    prepared: Prepared,
    question: Question,
    calibration: Calibration,
    vector: Vector | None,
    where: Filter | None,
    *,
    hopeless_too: bool = False,
) -> Pool:
    """The pool for one query; ``vector`` None asks for the lexical list alone. With ``hopeless_too`` the
    candidates that cannot pass the gate are among it."""
    lexical = snapshot.lexical(question.words.lexical_query, where=where, limit=POOL)
    nearest = [] if vector is None else snapshot.nearest(vector, where=where, limit=POOL)
    held = prepared.words.of(snapshot, [name for name, _ in (*lexical, *nearest)])
    cosines = {} if vector is None else _cosines(snapshot, calibration, vector, held.ids)
    names = held.ids
    if not hopeless_too:
        centred = [cosines.get(name, NO_COSINES)[1] for name in held.ids]
        names = hopeful(question, held, centred, calibration.gate)
    by_words, by_meaning = dict(lexical), dict(nearest)
    candidates = tuple(
        Candidate(document, *cosines.get(name, NO_COSINES), by_words.get(name), by_meaning.get(name))
        for name, document in prepared.documents.of(snapshot, names).items()
    )
    return Pool(lexical, nearest, candidates)


def _cosines(
    snapshot: Snapshot, calibration: Calibration, vector: Vector, ids: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Plain and centred cosine by id, of every candidate, whichever list it came from."""
    rows = snapshot.vectors_of(ids)
    if not rows.ids:
        return {}
    plain: list[float] = (rows.matrix @ vector).tolist()
    centred: list[float] = calibration.centred(vector, rows.matrix).tolist()
    return dict(zip(rows.ids, zip(plain, centred, strict=True), strict=True))
