"""From lines of the spool to filed turns: screened, put in their wing, embedded, committed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memories.capture.counts import Counted, Counts
from memories.capture.line import BUILTIN, EXCHANGE, SpoolLine
from memories.capture.listening import FiledTurn, Listener
from memories.capture.masking import mask
from memories.capture.wings import CONVERSATIONS, CORRECTIONS, wing_of
from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.turn_filing import Filed
from memories.repository.turn_records import NewTurn, Turn, TurnKind
from memories.repository.vectors import Vector
from memories.settings import Settings

logger = logging.getLogger(__name__)

AUTHOR = Author("capture", source="capture")
"""Who writes the rows; whose words they are stands in each."""

EMBEDDED_AT_ONCE = 2
"""Turns between two looks at the clock: a shutdown waits for at most so many, 25 ms each for long ones."""


@dataclass(frozen=True, slots=True)
class Ready:
    """Turns that only have to be committed; by their ids: the vectors, what came before each, and what
    tools had shown in it. ``masked`` counts the secrets taken out."""

    turns: Sequence[NewTurn]
    vectors: Mapping[str, Vector]
    before: Mapping[str, _Before]
    shown: Mapping[str, str]
    masked: int


class Filer:
    """Files batches of lines into one repository."""

    def __init__(
        self, repository: MemoryRepository, settings: Settings, counts: Counts, listener: Listener | None
    ) -> None:
        self._repository = repository
        self._settings = settings
        self._counts = counts
        self._listener = listener

    def file(self, lines: Sequence[SpoolLine]) -> int:
        """File the lines in one commit; returns how many there were."""
        return self.commit(self.prepare(lines))

    def prepare(self, lines: Sequence[SpoolLine], *, may_go_on: Callable[[], bool] = lambda: True) -> Ready:
        """Screen and embed the lines, as many from the start as there is time for: ``may_go_on`` is asked
        between embeddings. Writes nothing; raises ``embedding_failed`` and what reading may raise."""
        before = self._turns_before(lines)
        cleaned = [_screened(line) for line in lines]
        turns = [self._prepared(line, before[line.id]) for line, _ in cleaned]
        vectors: dict[str, Vector] = {}
        done = 0
        for part in _parts(turns):
            if done and not may_go_on():
                break
            vectors |= self._repository.turns.embed(part)
            done += len(part)
        return Ready(
            turns[:done],
            vectors,
            before,
            {line.id: line.shown for line, _ in cleaned},
            sum(masked for _, masked in cleaned[:done]),
        )

    def commit(self, ready: Ready) -> int:
        """File what is ready, in one commit; returns how many lines that were. Raises ``store_busy`` and
        whatever else a write may; nothing is filed then."""
        threshold = self._settings.capture_dedup_threshold
        filed = self._repository.turns.file(ready.turns, ready.vectors, AUTHOR, threshold=threshold)
        self._counts.add(Counted.FILED, len(filed.turns))
        self._counts.add(Counted.MERGED, len(filed.merged))
        self._counts.add(Counted.SECRETS, ready.masked)
        self._tell(ready, filed)
        return len(ready.turns)

    def _prepared(self, line: SpoolLine, before: _Before) -> NewTurn:
        turn = NewTurn(
            id=line.id,
            kind=TurnKind(line.kind),
            user_text=line.user_text,
            assistant_text=line.assistant_text,
            occurred_at=line.occurred_at,
            wing="",
            room=line.target or CONVERSATIONS,
            session_id=line.session_id,
            user_id=line.user_id,
            platform=line.platform,
            truncated=line.truncated,
            retires=line.retires,
        )
        if (
            line.kind == EXCHANGE
            and self._listener is not None
            and self._listener.is_correction(turn, before.assistant_text)
        ):
            return replace(turn, wing=CORRECTIONS, is_correction=True)
        return replace(turn, wing=wing_of(turn.text, self._settings.wings))

    def _turns_before(self, lines: Sequence[SpoolLine]) -> dict[str, _Before]:
        """For each line the turn before it in its session: a line of this batch, or a stored turn."""
        last: dict[str, _Before] = {}
        found: dict[str, _Before] = {}
        for line in lines:
            session = line.session_id
            if line.kind == BUILTIN or not session:
                found[line.id] = _Before()
                continue
            if session not in last:
                last[session] = _Before.stored(self._repository.turns.last_of(session))
            found[line.id] = last[session]
            last[session] = _Before(line.id, line.assistant_text)
        return found

    def _tell(self, ready: Ready, filed: Filed) -> None:
        """Let the listener hear what was filed; what it fails at does not undo that."""
        if self._listener is None:
            return
        rows = {turn.id: turn for turn in filed.turns} | dict(filed.merged)
        told = [turn for turn in ready.turns if turn.kind is TurnKind.EXCHANGE and turn.id in rows]
        before = ready.before
        earlier = rows | self._repository.turns.of({before[turn.id].id for turn in told} - rows.keys() - {""})
        try:
            self._listener.filed(
                self._repository,
                [
                    FiledTurn(turn, rows[turn.id], earlier.get(before[turn.id].id), ready.shown[turn.id])
                    for turn in told
                ],
            )
        except MemsuiteError as error:
            logger.warning("corrections in captured turns were not looked into: %s", error.code)


@dataclass(frozen=True, slots=True)
class _Before:
    """What is known of the turn before: its id and what the assistant said in it."""

    id: str = ""
    assistant_text: str = ""

    @classmethod
    def stored(cls, turn: Turn | None) -> _Before:
        return cls() if turn is None else cls(turn.id, turn.assistant_text)


def _screened(line: SpoolLine) -> tuple[SpoolLine, int]:
    """The line without secrets, and how many those were."""
    user, in_user = mask(line.user_text)
    assistant, in_assistant = mask(line.assistant_text)
    retires, in_retires = mask(line.retires)
    shown, in_shown = mask(line.shown)
    cleaned = replace(line, user_text=user, assistant_text=assistant, retires=retires, shown=shown)
    return cleaned, in_user + in_assistant + in_retires + in_shown


def _parts(turns: Sequence[NewTurn]) -> Iterator[Sequence[NewTurn]]:
    for start in range(0, len(turns), EMBEDDED_AT_ONCE):
        yield turns[start : start + EMBEDDED_AT_ONCE]
