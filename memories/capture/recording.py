"""What the hooks of the host call: a turn goes onto the disk, and nothing else is waited for.

Only light modules are imported here. Everything that takes longer than an append is the worker's.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from memories.capture.counts import Counted, Counts
from memories.capture.cutting import LONGEST_SIDE, cut_at_word
from memories.capture.echo import EchoGuard
from memories.capture.line import BUILTIN, DELEGATION, EXCHANGE, SpoolLine
from memories.capture.masking import MARGIN, mask_quickly
from memories.capture.spool import Spool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn was said and by whom: ``user_id`` is who may ever see it again."""

    session_id: str = ""
    user_id: str = ""
    platform: str = ""


class Recorder:
    """Writes turns of one process into the spool. Thread safe, and quick."""

    def __init__(self, spool: Spool, counts: Counts) -> None:
        self._spool = spool
        self._counts = counts
        self._is_full = False

    def exchange(
        self, user_text: str, assistant_text: str, place: Place, echo: EchoGuard, shown: str = ""
    ) -> bool:
        """A completed turn, and what tools returned in it; False where nothing of it is left to file, or
        it could not be kept."""
        user, assistant = _Side.of(user_text).without(echo), _Side.of(assistant_text).without(echo)
        if not user.text and not assistant.text:
            self._counts.add(Counted.ECHOES)
            return False
        line = self._line(EXCHANGE, user, assistant, place)
        if shown:
            line = replace(line, shown=self._screened(_Side.of(shown)).text)
        return self._append(line)

    def delegation(self, task: str, result: str, place: Place) -> bool:
        """A finished task of a subagent."""
        if not task.strip() and not result.strip():
            return False
        return self._append(self._line(DELEGATION, _Side.of(task), _Side.of(result), place))

    def builtin(self, target: str, content: str, retires: str, place: Place) -> bool:
        """What the built-in memory has added (``content``), and what it no longer holds (``retires``)."""
        if not content.strip() and not retires.strip():
            return False
        line = self._line(BUILTIN, _Side.of(content), _Side(""), place)
        gone = self._screened(_Side.of(retires)).text
        return self._append(replace(line, target=target, retires=gone))

    def _line(self, kind: str, user: _Side, assistant: _Side, place: Place) -> SpoolLine:
        user, assistant = self._screened(user), self._screened(assistant)
        return SpoolLine(
            id=_new_id(),
            kind=kind,
            user_text=user.text,
            assistant_text=assistant.text,
            occurred_at=datetime.now(UTC),
            session_id=place.session_id,
            user_id=place.user_id,
            platform=place.platform,
            truncated=user.truncated or assistant.truncated,
        )

    def _screened(self, side: _Side) -> _Side:
        masked, number = mask_quickly(side.text)
        self._counts.add(Counted.SECRETS, number)
        text, cut = cut_at_word(masked)
        return _Side(text, side.truncated or cut)

    def _append(self, line: SpoolLine) -> bool:
        if self._spool.append(line):
            self._is_full = False
            return True
        self._counts.add(Counted.DROPPED)
        if not self._is_full:
            logger.warning("the spool of captured turns is full or cannot be written: turns are dropped")
        self._is_full = True
        return False


def _new_id() -> str:
    """A random UUID from the process's own generator: asking the system for random bytes would let go of
    the interpreter, and a busy thread may then keep a hook waiting for 5 ms."""
    return str(UUID(int=random.getrandbits(128), version=4))


@dataclass(frozen=True, slots=True)
class _Side:
    """What one of the two said; ``truncated`` where there was more."""

    text: str
    truncated: bool = False

    @classmethod
    def of(cls, text: str) -> _Side:
        """As much as can matter: a little more than is kept, so that no secret is cut in half."""
        text = text.strip()
        most = LONGEST_SIDE + MARGIN
        return cls(text[:most], len(text) > most)

    def without(self, echo: EchoGuard) -> _Side:
        return replace(self, text=echo.without_echo(self.text))
