"""The pool: what the two lists propose, whatever the answer's length, so that every door orders alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.repository import Filter, Snapshot
from memories.repository.vectors import Vector
from memories.retrieval.calibration import Calibration
from memories.retrieval.document import Document, DocumentCache

POOL = 250
"""Candidates from each list."""

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
    lexical: Pairs
    vector: Pairs
    candidates: tuple[Candidate, ...]


def collect(
    snapshot: Snapshot,
    documents: DocumentCache,
    calibration: Calibration,
    lexical_query: str,
    vector: Vector | None,
    where: Filter | None,
) -> Pool:
    """The pool for one query; ``vector`` None asks for the lexical list alone."""
    lexical = snapshot.lexical(lexical_query, where=where, limit=POOL)
    nearest = [] if vector is None else snapshot.nearest(vector, where=where, limit=POOL)
    found = documents.of(snapshot, [name for name, _ in (*lexical, *nearest)])
    cosines = {} if vector is None else _cosines(snapshot, calibration, vector, found)
    by_words, by_meaning = dict(lexical), dict(nearest)
    candidates = tuple(
        Candidate(document, *cosines.get(name, (0.0, 0.0)), by_words.get(name), by_meaning.get(name))
        for name, document in found.items()
    )
    return Pool(lexical, nearest, candidates)


def _cosines(
    snapshot: Snapshot, calibration: Calibration, vector: Vector, found: dict[str, Document]
) -> dict[str, tuple[float, float]]:
    """Plain and centred cosine by id, of every candidate, whichever list it came from."""
    rows = snapshot.vectors_of(found)
    if not rows.ids:
        return {}
    plain: list[float] = (rows.matrix @ vector).tolist()
    centred: list[float] = calibration.centred(vector, rows.matrix).tolist()
    return dict(zip(rows.ids, zip(plain, centred, strict=True), strict=True))
