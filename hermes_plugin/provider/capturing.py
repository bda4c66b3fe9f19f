"""Recording turns: one spool and one worker per database path and process, shared as the store is.

A gateway keeps up to 128 agents in one process; whatever their number, one thread files their turns.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memories.capture.counts import Counts
from memories.capture.recording import Recorder
from memories.capture.spool import Spool, spool_folder
from memories.capture.worker import Worker
from memories.settings import Settings

from .shared_store import StoreLease, lease
from .threads import start_thread

if TYPE_CHECKING:
    from memories.capture.listening import Listener

DRAIN_SECONDS = 3.0
"""What the end of a session and the shutdown after it wait in all. They may take four (spec 04): the rest
is for a commit that is under way, and for threads to see that time is up."""

_captures: dict[str, _Capture] = {}
_captures_lock = threading.Lock()


class CaptureLease:
    """One provider's share of the capture at a path; thread safe, and idempotent to return."""

    def __init__(self, capture: _Capture) -> None:
        self._capture = capture
        self._returned = False
        self._lock = threading.Lock()

    @property
    def recorder(self) -> Recorder:
        return self._capture.recorder

    @property
    def problem(self) -> str:
        """Why filing fails at present; "" when it does not."""
        return self._capture.worker.problem

    def start(self) -> None:
        """Begin to file, with what dead processes have left."""
        self._capture.worker.start()

    def turn_came(self) -> None:
        self._capture.worker.turn_came()

    def drain(self, seconds: float) -> bool:
        """Wait until what has come is filed; see ``Worker.drain``."""
        return self._capture.worker.drain(seconds)

    def give_back(self, seconds: float) -> bool:
        """Return the share. The last one files what ``seconds`` allow and ends the thread; False where
        that thread is still inside a call it cannot leave."""
        with self._lock:
            if self._returned:
                return True
            self._returned = True
        return _return_share(self._capture, seconds)


def capture(settings: Settings) -> CaptureLease:
    """A share of the capture into `settings.db_path`; cheap, starts nothing."""
    key = str(settings.db_path.expanduser().resolve())
    with _captures_lock:
        found = _captures.get(key)
        if found is None:
            found = _captures[key] = _Capture(key, settings)
        found.shares += 1
        found.worker.settings = settings  # the newest session's: they may have been changed since
    return CaptureLease(found)


def counts_of(settings: Settings) -> Mapping[str, Any]:
    """What capture did and what waits, as status shows it; opens no database."""
    counts = Counts(settings.db_path).read()
    waiting = Spool(spool_folder(settings.db_path)).bytes_waiting()
    return {**{str(name): number for name, number in counts.items()}, "waiting_bytes": waiting}


def _listener() -> Listener:
    # Here and not at the top: it brings the engine along, and the worker alone needs it.
    from memories.capture.lessons import LessonListener

    return LessonListener()


def _return_share(found: _Capture, seconds: float) -> bool:
    with _captures_lock:
        found.shares -= 1
        if found.shares > 0:
            return True
        _captures.pop(found.key, None)
    return found.close(seconds)


class _Capture:
    """The spool and the worker of one path, with the worker's own share of the store."""

    def __init__(self, key: str, settings: Settings) -> None:
        self.key = key
        self.shares = 0
        self.spool = Spool(spool_folder(settings.db_path))
        self.counts = Counts(settings.db_path)
        self.recorder = Recorder(self.spool, self.counts)
        self._store: StoreLease = lease(settings)
        self.worker = Worker(
            self.spool, self.counts, settings, self._store.use, spawn=start_thread, listener=_listener
        )

    def close(self, seconds: float) -> bool:
        ended = self.worker.stop(seconds)
        self.counts.write()
        self._store.give_back()
        self.spool.close()
        return ended
