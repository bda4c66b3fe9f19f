"""What a search looks into, and the answer of each: memories, one's own captured turns, or both."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from memories.contract import CONTRACT_VERSION
from memories.repository import MemoryRepository
from memories.retrieval.answer import DIGITS, Answer, SearchAnswer
from memories.retrieval.request import SearchRequest
from memories.retrieval.search import search
from memories.retrieval.turn_search import FoundTurn, TurnsFound, interleaved, search_turns
from memories.screening.fence import neutralise

LONGEST_TEXT = 2_000
"""Characters of a turn shown in an answer; the whole is in the console."""

_MESSAGES = {
    "no_turns": "No conversation turns of this person are recorded, so none can be found.",
    "no_search_words": "The query holds only function words or punctuation, so there is nothing to look for.",
    "below_evidence": "No recorded turn of this person is evidence for this.",
}


class Scope(StrEnum):
    MEMORIES = "memories"
    TURNS = "turns"
    ALL = "all"


def search_in(
    repository: MemoryRepository, request: SearchRequest, scope: Scope, user_id: str
) -> tuple[Answer, list[str]]:
    """The answer of a search in ``scope`` as every door prints it, and the ids of the memories in it.

    ``user_id`` is who asks: nobody's turns but their own are in the answer.
    """
    if scope is Scope.TURNS:
        return turns_answer(search_turns(repository, request, user_id)), []
    found = search(repository, request)
    if scope is Scope.MEMORIES:
        return found.as_answer(), [row.id for row in found.results]
    return _both(found, search_turns(repository, request, user_id), request)


def turns_answer(found: TurnsFound) -> Answer:
    """The answer of a search of turns alone."""
    reason = "" if found.turns else _reason(found)
    return {
        "success": True,
        "count": len(found.turns),
        "results": [turn_row(one) for one in found.turns],
        "route": "turns",
        "degraded": bool(found.problem),
        "degraded_reason": "embedding_unavailable" if found.problem else "",
        "abstained": not found.turns,
        "abstention_reason": reason,
        "message": found.problem or _MESSAGES.get(reason, ""),
        "timings": {
            "embedding_ms": round(found.embedding_ms, 2),
            "search_ms": round(found.search_ms, 2),
        },
        "contract_version": CONTRACT_VERSION,
    }


def turn_row(found: FoundTurn) -> dict[str, Any]:
    """One turn in an answer, its words quoted as data."""
    turn = found.turn
    return {
        "id": turn.id,
        "retrieval_source": "turns",
        "kind": turn.kind,
        "content": _quoted(turn.text),
        "variants": [_quoted(text) for text in turn.variants[-2:]],
        "truncated": turn.truncated or len(turn.text) > LONGEST_TEXT,
        "wing": neutralise(turn.wing),
        "room": neutralise(turn.room),
        "session_id": turn.session_id,
        "occurred_at": turn.occurred_at.isoformat(timespec="seconds"),
        "last_seen_at": turn.last_seen_at.isoformat(timespec="seconds"),
        "trust": round(turn.trust, DIGITS),
        "seen_count": turn.seen_count,
        "is_correction": turn.is_correction,
        "match_type": found.match_type,
        "score": round(found.score, DIGITS),
        "evidence": round(found.evidence, DIGITS),
    }


def _both(memories: SearchAnswer, turns: TurnsFound, request: SearchRequest) -> tuple[Answer, list[str]]:
    answer = memories.as_answer()
    rows = interleaved(answer["results"], [turn_row(one) for one in turns.turns], request.top_k)
    answer |= {"results": rows, "count": len(rows)}
    if rows and answer["abstained"]:
        answer |= {"abstained": False, "abstention_reason": "", "message": ""}
    answer["timings"] = {
        "embedding_ms": round(memories.embedding_ms + turns.embedding_ms, 2),
        "search_ms": round(memories.search_ms + turns.search_ms, 2),
    }
    return answer, [row["id"] for row in rows if row["retrieval_source"] == "memories"]


def _reason(found: TurnsFound) -> str:
    if not found.recorded:
        return "no_turns"
    return "no_search_words" if found.asked_nothing else "below_evidence"


def _quoted(text: str) -> str:
    """The text line by line as data, shortened."""
    short = text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
    return "\n".join(neutralise(line) for line in short.splitlines())
