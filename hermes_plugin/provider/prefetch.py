"""What is put in front of the model before a turn, when the user switched that on.

Rules: nothing but evidence that passed the gate, nothing written in another person's chat, nothing
at all in group chats, within a budget of characters and a deadline of two seconds, and never an
exception. A search that overruns its deadline is left to end by itself, and no other is begun
meanwhile, so stuck calls cannot pile up.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memories.contract import MemsuiteError

from .session import Session
from .shared_store import StoreLease
from .threads import start_thread

if TYPE_CHECKING:
    from memories.repository import StoredMemory

logger = logging.getLogger(__name__)

DEADLINE = 2.0
"""Seconds a turn waits for recall; the host drops what comes after 8 and then skips later turns."""

_SHORTEST_USEFUL = 60
"""Characters below which a shortened line says nothing any more."""

Row = Mapping[str, Any]


@dataclass(slots=True)
class _Recall:
    """The outcome of one background search."""

    rows: Sequence[Row] = ()


class Prefetcher:
    """Recall for one provider instance; at most one search of it runs at a time."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._running: threading.Thread | None = None
        self._lock = threading.Lock()
        self.last_count = 0

    def recall(self, query: str, session: Session, store: StoreLease, budget: int) -> str:
        """Fenced lines of evidence for `query` in at most `budget` characters, or ""."""
        self.last_count = 0
        if session.read_only or session.is_group or not query.strip():
            return ""
        try:
            rows = self._search_within_deadline(query, session, store)
            lines = [_line(row) for row in _distinct(rows)]
            text, self.last_count = within_budget(lines, budget)
            return text
        except Exception as error:  # the turn must go on whatever happened here
            logger.warning("recall before the turn failed: %s", type(error).__name__)
            return ""

    def join(self, timeout: float) -> None:
        """Let a search that overran its deadline end, for at most `timeout` seconds."""
        running = self._running
        if running is not None:
            running.join(timeout)

    def _search_within_deadline(self, query: str, session: Session, store: StoreLease) -> Sequence[Row]:
        ends = time.monotonic() + self._deadline
        outcome = _Recall()
        with self._lock:
            if self._running is not None and self._running.is_alive():
                return ()
            thread = self._running = start_thread(
                lambda: _search(query, session, store, ends, outcome), "lancedb-suite-recall"
            )
        thread.join(max(0.0, ends - time.monotonic()))
        return outcome.rows


def _search(query: str, session: Session, store: StoreLease, ends: float, outcome: _Recall) -> None:
    try:
        from memories.retrieval import SearchRequest, search

        with store.use(wait=max(0.0, ends - time.monotonic())) as repository:
            if time.monotonic() >= ends:
                return
            # The very request the search tool makes by default, so that both give the same ids in one order.
            answer = search(repository, SearchRequest.from_arguments({"query": query})).as_answer()
            rows = [row for row in answer["results"] if row["match_type"] != "declared_relation"]
            ids = [row["id"] for row in rows]
            stored = repository.read(lambda snapshot: snapshot.memories(ids))
        outcome.rows = [row for row in rows if _may_be_pushed(stored.get(row["id"]), session)]
    except MemsuiteError as error:
        logger.debug("recall before the turn: %s", error.code)
    except Exception as error:
        logger.warning("recall before the turn failed: %s", type(error).__name__)


def _may_be_pushed(memory: StoredMemory | None, session: Session) -> bool:
    """Whether a memory may reach this person's prompt unasked.

    An agent writes what a person said in a chat: that stays with the same person. What was written
    without any person's id in the console or by a command is the profile's own.
    """
    if memory is None:  # deleted since the search
        return False
    return memory.user_id == session.user_id or (not memory.user_id and memory.source != "agent")


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Each id and each text once, in order: repeated evidence persuades a model without adding any."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        keys = {str(row["id"]), str(row["content"]).casefold()}
        if seen.isdisjoint(keys):
            kept.append(row)
        seen |= keys
    return kept


def _line(row: Row) -> str:
    notes = []
    if row.get("conflicts_open"):
        notes.append("in an open conflict")
    if row.get("superseded_by"):
        notes.append(f"superseded by {row['superseded_by']}")
    note = f" ({'; '.join(notes)})" if notes else ""
    return f"[{row['id']}]{note} {row['content']}"


def within_budget(lines: Sequence[str], budget: int) -> tuple[str, int]:
    """The fenced text of as many first lines as fit into `budget` characters, and their number.

    A line that does not fit is left out together with all after it, so that order is rank; only a
    first line is shortened, ending in `…`, rather than giving nothing.
    """
    from memories.screening.fence import fence

    kept: list[str] = []
    text = ""
    for line in lines:
        candidate = fence([*kept, line])
        if len(candidate) > budget:
            if not kept:
                text, kept = _shortened(line, budget, len(candidate))
            break
        kept.append(line)
        text = candidate
    return text, len(kept)


def _shortened(line: str, budget: int, size: int) -> tuple[str, list[str]]:
    from memories.screening.fence import fence, neutralise

    line = neutralise(line)  # as the fence counted it
    room = len(line) - (size - budget) - 1
    if room < _SHORTEST_USEFUL:
        return "", []
    short = line[:room] + "…"
    text = fence([short])
    return (text, [short]) if len(text) <= budget else ("", [])
