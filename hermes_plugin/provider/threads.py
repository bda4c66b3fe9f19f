"""Background threads that carry the caller's context variables.

A gateway keeps the profile in force in a context variable, so a bare thread would look into the
wrong home. Newer hosts bring a helper; older ones get the same by copying the context.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable


def start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    """Start `target` on a daemon thread within the caller's context; returns the running thread."""
    thread = _host_thread(target, name) or _plain_thread(target, name)
    if thread.ident is None:  # the host's helper returns it unstarted
        thread.start()
    return thread


def _host_thread(target: Callable[[], None], name: str) -> threading.Thread | None:
    try:
        from agent.memory_provider import spawn_context_thread
    except ImportError:
        return None
    thread = spawn_context_thread(target, name=name)
    return thread if isinstance(thread, threading.Thread) else None


def _plain_thread(target: Callable[[], None], name: str) -> threading.Thread:
    context = contextvars.copy_context()
    return threading.Thread(target=context.run, args=(target,), name=name, daemon=True)
