"""The thread that takes turns out of the spool and files them."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.capture.counts import Counted, Counts
from memories.capture.spool import Batch, Spool, SpoolFile
from memories.contract import MemsuiteError
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.capture.filing import Filer
    from memories.capture.listening import Listener
    from memories.repository import MemoryRepository

logger = logging.getLogger(__name__)

BATCH = 16
"""Turns in one commit, which costs what embedding three of them does. Few, so that even a process that
lives for seconds gets some filed of what an earlier one has left."""

QUIET = 0.25
"""Seconds without a new turn before filing begins: turns then come together, and filing does not compete
with hooks for the interpreter, which costs one 5 to 10 ms each time."""

LONGEST_QUIET = 10.0
"""Seconds after which filing begins although turns keep coming."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds after a failure before the next try; doubled each time."""

LOOK_AROUND = 60.0
"""Seconds between two looks for what other processes have left."""

COMMIT_SECONDS = 0.8
"""Kept free at the end of a stop: what is embedded by then still has to be committed."""

COMMIT_GRACE = 0.9
"""Seconds more for a stop that comes in the middle of a commit: it ends soon, and had begun in time."""

LAST_WAIT = 10.0
"""Seconds for which the end of a process may wait for a thread that could not be stopped in time: it is
inside one commit at most, and would otherwise have begun it in vain."""

_GLANCE = 0.05
"""Seconds between two looks of one who waits for the spool to be empty."""

Opener = Callable[[], AbstractContextManager["MemoryRepository"]]
Spawner = Callable[[Callable[[], None], str], threading.Thread]


class Worker:
    """Files the spool of one database on a thread of its own, from ``start`` to ``stop``.

    ``open_repository`` lends the repository for the length of one commit. A failure keeps the lines and
    is tried again later; nothing here raises.
    """

    def __init__(
        self,
        spool: Spool,
        counts: Counts,
        settings: Settings,
        open_repository: Opener,
        *,
        spawn: Spawner,
        listener: Callable[[], Listener | None] = lambda: None,
    ) -> None:
        self.settings = settings
        self.problem = ""
        """Why the last try failed; "" when it went well."""
        self._spool = spool
        self._counts = counts
        self._open_repository = open_repository
        self._spawn = spawn
        self._listener = listener
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._turns: _Arrivals | None = None
        self._came = 0
        """Turns that have come so far; those up to ``_settled`` have been filed."""
        self._settled = 0
        self._hurrying = 0
        self._is_committing = False
        self._stop_by: float | None = None

    def start(self) -> None:
        """Begin, with what dead processes have left."""
        with self._changed:
            if self._thread is None and self._stop_by is None:
                self._thread = self._spawn(self._run, "lancedb-suite-capture")

    def turn_came(self) -> None:
        """A line was appended."""
        now = time.monotonic()
        with self._changed:
            self._came += 1
            self._turns = _Arrivals(self._turns.first if self._turns else now, now)
            self._changed.notify_all()

    def drain(self, seconds: float) -> bool:
        """Wait until everything that has come by now is filed, for at most ``seconds``; False where it is
        not. Where filing fails nobody waits: the lines are on the disk."""
        deadline = time.monotonic() + seconds
        with self._changed:
            wanted = self._came
            self._hurrying += 1
            self._changed.notify_all()
            try:
                while self._settled < wanted and self._is_at_work() and time.monotonic() < deadline:
                    self._changed.wait(max(0.0, min(deadline - time.monotonic(), _GLANCE)))
                return self._settled >= wanted
            finally:
                self._hurrying -= 1

    def stop(self, seconds: float) -> bool:
        """File what ``seconds`` allow, then end the thread; False where it is still inside a call that
        cannot be interrupted. What is left is taken up by the next process."""
        with self._changed:
            self._stop_by = time.monotonic() + seconds
            self._changed.notify_all()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(seconds)
        if self._is_committing:
            thread.join(COMMIT_GRACE)
        if thread.is_alive():
            # An interpreter that ends while a thread is inside the engine or the model ends by abort.
            atexit.register(thread.join, LAST_WAIT)
        return not thread.is_alive()

    def _is_at_work(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and not self.problem

    # -- the thread -------------------------------------------------------------------

    def _run(self) -> None:
        self._spool.prepare()
        pause = 0.0
        while True:
            pause = self._pass_or_pause(pause)
            self._counts.write()
            with self._changed:
                self._changed.notify_all()
            if not self._wait(pause):
                return

    def _pass_or_pause(self, pause: float) -> float:
        """One pass; returns how long to wait after a failure, 0 after none."""
        with self._changed:
            came, self._turns = self._came, None
        try:
            if self._pass():
                self._settled = came
        except MemsuiteError as error:
            self._note(f"{error.code}: {error.message}")
        except Exception as error:
            logger.exception("filing captured turns failed")
            self._note(type(error).__name__)
        else:
            self.problem = ""
            return 0.0
        return min(max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE)

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            logger.warning("captured turns wait on the disk: %s", problem)
        self.problem = problem

    def _wait(self, pause: float) -> bool:
        """Wait until the next pass is due; False when it is time to end."""
        again = time.monotonic() + (pause or LOOK_AROUND)
        with self._changed:
            while self._stop_by is None:
                due = again if pause else min(again, self._due())
                left = due - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return self._may_go_on() and not (self._stop_by and (pause or self._spool.is_empty()))

    def _due(self) -> float:
        """When the turns that have come are to be filed."""
        if self._turns is None:
            return float("inf")
        if self._hurrying:
            return 0.0
        return min(self._turns.last + QUIET, self._turns.first + LONGEST_QUIET)

    def _may_go_on(self) -> bool:
        return self._stop_by is None or time.monotonic() < self._stop_by - COMMIT_SECONDS

    def _pass(self) -> bool:
        """File everything there is, this process's own lines last; False where time was up before."""
        self._spool.look_around()
        with closing(self._spool.files()) as files:
            return all(self._file(file) for file in files)

    def _file(self, file: SpoolFile) -> bool:
        """File one file; False where time was up before its end."""
        while (batch := file.batch(BATCH)) is not None:
            end = self._filed_up_to(batch)
            file.filed(end)
            if batch.torn:
                self._counts.add(Counted.TORN, batch.torn)
                logger.warning("%d lines of %s were not whole and are skipped", batch.torn, file.path.name)
            if not self._may_go_on():
                return False
        self._spool.finish(file)
        return True

    def _filed_up_to(self, batch: Batch) -> int:
        """File a batch; returns where in the file the lines that were not filed begin."""
        if not batch.waiting:
            return batch.end
        with self._open_repository() as repository:
            # Here and not at the top: this brings the engine, and a hook waits for this module.
            from memories.capture.filing import Filer

            done = self._filed(Filer(repository, self.settings, self._counts, self._listener()), batch)
        return batch.end if done == len(batch.waiting) else batch.waiting[done - 1].end

    def _filed(self, filer: Filer, batch: Batch) -> int:
        """How many lines are filed. A batch that fails in a way nobody foresaw is tried line by line, so
        that one turn cannot keep all others out for ever."""
        lines = [waiting.line for waiting in batch.waiting]
        try:
            ready = filer.prepare(lines, may_go_on=self._may_go_on)
            self._is_committing = True
            return filer.commit(ready)
        except MemsuiteError:
            raise
        except Exception:
            logger.exception("a batch of captured turns could not be filed; trying them one by one")
        finally:
            self._is_committing = False
        for line in lines:
            try:
                filer.file([line])
            except MemsuiteError:
                raise
            except Exception as error:
                logger.warning("a captured turn could not be filed (%s): left out", type(error).__name__)
                self._counts.add(Counted.UNFILEABLE)
        return len(lines)


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """When the first and the last of the turns that wait came."""

    first: float
    last: float
