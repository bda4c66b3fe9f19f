"""The numbers behind an answer, for whoever asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memories.retrieval.answer import DIGITS, engine_answer
from memories.retrieval.assembly import Assembled
from memories.retrieval.calibration import Calibration, OrderWeights
from memories.retrieval.candidates import Pool
from memories.retrieval.ranking import Ranked

OLDER_BM25, OLDER_DISTANCE = 12.80, 0.30
"""The older suite's gate: enough of either. Shown for comparison only; nothing here obeys it."""


def diagnose(
    calibration: Calibration,
    pool: Pool,
    ranked: Sequence[Ranked],
    suppressed: Sequence[Ranked],
    assembled: Assembled,
) -> dict[str, Any]:
    """Weights, threshold, provenance, both candidate lists, and the verdict on every candidate."""
    gate, order = calibration.gate, calibration.order
    return {
        "weights": {
            "order": {name: getattr(order, name) for name in OrderWeights.__slots__},
            "gate": {"bias": gate.bias, **gate.weights},
        },
        "threshold": gate.threshold,
        "calibration": calibration.as_answer(),
        "calibrated": calibration.calibrated,
        "running_engine": engine_answer(calibration)["running"],
        "lexical_candidates": [{"id": name, "bm25": round(score, DIGITS)} for name, score in pool.lexical],
        "vector_candidates": [{"id": name, "cosine": round(score, DIGITS)} for name, score in pool.vector],
        "losers": [verdict_answer(row) for row in ranked if not row.verdict.passed],
        "passed": [verdict_answer(row) for row in ranked if row.verdict.passed],
        "suppressed": [{"id": row.id, "subject_key": row.memory.subject_key} for row in suppressed],
        "hidden_neighbors": assembled.surroundings.hidden,
    }


def verdict_answer(row: Ranked) -> dict[str, Any]:
    """What the gate made of one candidate, and what the older suite's gate would have."""
    candidate = row.candidate
    older = (candidate.engine_bm25 or 0.0) >= OLDER_BM25 or (
        candidate.listed_cosine is not None and 1 - candidate.cosine <= OLDER_DISTANCE
    )
    features = {name: round(value, DIGITS) for name, value in row.verdict.evidence.features().items()}
    return {
        "id": row.id,
        "score": round(row.score, DIGITS),
        "bm25_share": round(row.share, DIGITS),
        "cosine": round(candidate.cosine, DIGITS),
        "evidence": round(row.verdict.value, DIGITS),
        "passed": row.verdict.passed,
        "older_gate": older,
        **features,
    }
