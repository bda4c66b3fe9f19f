"""Opening the store and loading the model beside the host's start-up, never on its thread."""

from __future__ import annotations

import logging
import threading

from memories.contract import MemsuiteError

from .shared_store import StoreLease
from .threads import start_thread

logger = logging.getLogger(__name__)


class WarmUp:
    """One warm-up run of one provider; failures are logged here and answered by the tools."""

    def __init__(self, store: StoreLease) -> None:
        self._store = store
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = start_thread(self._run, "lancedb-suite-warm-up")

    def join(self, timeout: float) -> bool:
        """Wait for the run to end; False when it is still at work after `timeout` seconds."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _run(self) -> None:
        try:
            with self._store.use() as repository:
                # Loads the retrieval code and its data files too, which the first search would pay for.
                import memories.retrieval  # noqa: F401

                repository.embedder.warm_up()
        except MemsuiteError as error:
            logger.warning("memory warm-up: %s: %s", error.code, error.message)
        except Exception:
            logger.exception("memory warm-up failed")
