"""The answer of a search, as every door prints it. The query is not repeated in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memories.contract import CONTRACT_VERSION
from memories.repository import StoredMemory
from memories.repository.results import decorated
from memories.repository.usage import Usage
from memories.retrieval.calibration import Calibration, running_engine
from memories.retrieval.neighbours import Neighbour
from memories.retrieval.ranking import Ranked
from memories.retrieval.router import Route

Answer = dict[str, Any]

DIGITS = 4
"""Digits of scores in an answer: more would pretend to more than a calibration knows."""


class Abstention(StrEnum):
    """Why nothing is returned."""

    EXACT_ID_NOT_FOUND = "exact_id_not_found"
    NO_SEARCH_WORDS = "no_search_words"
    EMPTY_STORE = "empty_store"
    NOTHING_IN_FILTER = "nothing_in_filter"
    BELOW_EVIDENCE = "below_evidence"
    EMBEDDING_UNAVAILABLE = "embedding_unavailable"

    @property
    def message(self) -> str:
        return _MESSAGES[self]


_MESSAGES = {
    Abstention.EXACT_ID_NOT_FOUND: (
        "No memory has this id. It may have been deleted; searching for its words instead may help."
    ),
    Abstention.NO_SEARCH_WORDS: (
        "The query holds only function words or punctuation, so there is nothing to look for. Name the "
        "project, the person or the thing."
    ),
    Abstention.EMPTY_STORE: "Nothing is stored yet, so there is nothing to find.",
    Abstention.NOTHING_IN_FILTER: "No memory with this category, tier or tag comes near the query.",
    Abstention.BELOW_EVIDENCE: (
        "Nothing is stored about this. Asking again in other words will not help, unless they name "
        "something more specific: a project, a file, a setting, an error, a person."
    ),
    Abstention.EMBEDDING_UNAVAILABLE: (
        "The embedding model did not answer, so this search was not made: it says nothing about what is "
        "stored. Mode lexical and exact ids work meanwhile."
    ),
}


@dataclass(frozen=True, slots=True)
class Exact:
    """The memory whose id was the query: certain by itself."""

    memory: StoredMemory


@dataclass(frozen=True, slots=True)
class Result:
    """One row: a ranked memory with its numbers, or a neighbour with what is declared."""

    shown: Ranked | Neighbour | Exact
    usage: Usage
    conflicts_open: int = 0
    superseded_by: str | None = None

    @property
    def id(self) -> str:
        return self.shown.memory.id

    @property
    def match_type(self) -> str:
        match self.shown:
            case Neighbour():
                return "declared_relation"
            case Exact():
                return "exact_id"
            case ranked:
                return ranked.candidate.match_type

    def as_answer(self) -> Answer:
        row = decorated(self.shown.memory, self.usage) | {
            "match_type": self.match_type,
            "conflicts_open": self.conflicts_open,
            "superseded_by": self.superseded_by,
            "retrieval_source": "memories",
        }
        return row | self._numbers()

    def _numbers(self) -> Answer:
        match self.shown:
            case Neighbour() as neighbour:
                return {
                    "relation": neighbour.role,
                    "relation_type": neighbour.relation_type,
                    "direction": neighbour.direction,
                    "seed_id": neighbour.seed_id,
                }
            case Exact():
                return {"score": 1.0, "evidence": 1.0}
            case ranked:
                return {"score": round(ranked.score, DIGITS), "evidence": round(ranked.verdict.value, DIGITS)}


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a search found. Times are in milliseconds."""

    route: Route
    results: tuple[Result, ...] = ()
    calibration: Calibration | None = None
    abstention: Abstention | None = None
    degraded_reason: str = ""
    message: str = ""
    embedding_ms: float = 0.0
    search_ms: float = 0.0
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    def as_answer(self) -> Answer:
        answer = {
            "success": True,
            "count": len(self.results),
            "results": [result.as_answer() for result in self.results],
            "engine": engine_answer(self.calibration),
            "route": str(self.route),
            "degraded": bool(self.degraded_reason),
            "degraded_reason": self.degraded_reason,
            "abstained": self.abstention is not None,
            "abstention_reason": str(self.abstention) if self.abstention else "",
            "message": self.message or (self.abstention.message if self.abstention else ""),
            "timings": {
                "embedding_ms": round(self.embedding_ms, 2),
                "search_ms": round(self.search_ms, 2),
            },
            "contract_version": CONTRACT_VERSION,
        }
        return answer | ({"diagnostics": dict(self.diagnostics)} if self.diagnostics else {})


def engine_answer(calibration: Calibration | None) -> Answer:
    """Which engine runs, which one the calibration was fitted with, and whether the two are the same;
    ``calibrated`` is null where no calibration belongs to the embedding model."""
    running = running_engine()
    fitted = calibration.engine if calibration is not None and calibration.calibrated else None
    return {"running": running, "calibrated": fitted, "matches": fitted == running}
