"""Opt-in telemetry: how often the tool is used and finds something, never what was asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

SWITCH = "RAM_FIRST_USAGE_LOG"


def note_usage(log: Callable[[], Path], *, query_length: int, hits: int) -> None:
    """Append one line to the file `log` names, when RAM_FIRST_USAGE_LOG is 1. Never raises.

    `query_length` is in characters. `log` is called only when there is something to write.
    """
    if os.environ.get(SWITCH) != "1":
        return
    try:
        _append(log(), {"ts": datetime.now(UTC).isoformat(), "q_len": query_length, "hits": hits})
    except Exception:  # whatever is wrong with the log, the search has its answer
        return


def _append(file: Path, entry: dict[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # One write per line, so that threads and processes cannot interleave; not blocking, in case it is a pipe.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file, flags, 0o600)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
    finally:
        os.close(descriptor)
