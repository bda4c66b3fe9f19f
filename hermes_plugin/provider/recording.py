"""What one provider instance records: its share of the capture, and what recall has told its session.

Every method is safe before ``begin``, after ``end`` and beside itself on another thread, returns at once
but for ``drain`` and ``end``, and never raises: the host's turn goes on whatever happens here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from memories.capture.echo import EchoGuard
from memories.capture.recording import Place, Recorder
from memories.settings import Settings

from .capturing import DRAIN_SECONDS, CaptureLease, capture
from .messages import shown_by_tools, text_of
from .mirroring import MirrorChange
from .session import Session

logger = logging.getLogger(__name__)

SHORTEST_END = 1.5
"""Seconds of those that a shutdown has in any case: the thread leaves after the turn it is at."""


class SessionRecording:
    """Recording for one provider instance; nothing happens until ``begin`` finds it switched on."""

    def __init__(self) -> None:
        self._share: CaptureLease | None = None
        self._echo = EchoGuard()
        self._waited = 0.0

    @property
    def problem(self) -> str:
        """Why turns are not being filed; "" when they are, or when nothing is recorded."""
        share = self._share
        return share.problem if share is not None else ""

    @property
    def seconds_left(self) -> float:
        """What a shutdown may still take of the time it shares with the end of the session."""
        return max(SHORTEST_END, DRAIN_SECONDS - self._waited)

    def begin(self, settings: Settings, session: Session) -> None:
        """Record this session where its user wants that and its kind allows it."""
        previous, self._share = self._share, None
        self._waited = 0.0
        if settings.auto_capture and not session.read_only:
            self._share = capture(settings)
            self._share.start()
        if previous is not None:
            previous.give_back(self.seconds_left)

    def switch(self, *, reset: bool) -> None:
        """Another session goes on with this instance; after a reset nothing of before is in its context."""
        self._waited = 0.0
        if reset:
            self._echo.forget()

    def recalled(self, text: str) -> None:
        """Recall has put ``text`` before the model."""
        if self._share is not None and text:
            self._echo.heard_recall(text)

    def answered(self, answer: Mapping[str, Any]) -> None:
        """A reading tool has returned ``answer``."""
        if self._share is not None:
            self._echo.heard_answer(answer)

    def exchange(
        self, user_content: object, assistant_content: object, messages: object, session: Session
    ) -> None:
        user, assistant = text_of(user_content), text_of(assistant_content)
        self._record(
            session,
            lambda recorder: recorder.exchange(
                user, assistant, _place(session), self._echo, shown_by_tools(messages)
            ),
        )

    def delegation(self, task: object, result: object, session: Session) -> None:
        self._record(
            session, lambda recorder: recorder.delegation(text_of(task), text_of(result), _place(session))
        )

    def builtin(self, change: MirrorChange, session: Session) -> None:
        self._record(
            session,
            lambda recorder: recorder.builtin(change.target, change.content, change.retires, _place(session)),
        )

    def drain(self) -> None:
        """Wait until what was said is filed, as far as the time goes."""
        share = self._share
        if share is None:
            return
        started = time.monotonic()
        share.drain(max(0.0, DRAIN_SECONDS - SHORTEST_END - self._waited))
        self._waited += time.monotonic() - started

    def end(self) -> None:
        """Return the share; the last one of a process files what the time allows."""
        share, self._share = self._share, None
        if share is not None and not share.give_back(self.seconds_left):
            logger.warning("captured turns were still being filed at shutdown; the next start goes on")

    def _record(self, session: Session, write: Callable[[Recorder], bool]) -> None:
        share = self._share
        if share is None or session.read_only:
            return
        try:
            if write(share.recorder):
                share.turn_came()
        except Exception as error:
            logger.warning("a turn could not be recorded: %s", type(error).__name__)


def _place(session: Session) -> Place:
    return Place(session.session_id, session.owner, session.platform)
