"""Which process will complete what it began: told apart from a later one that got its number."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
# Fields of /proc/<pid>/stat after the name in parentheses; the start is the 22nd of all.
_START_AFTER_NAME = 19


def this_process() -> str:
    """``<pid>:<start>:<boot>``; the last two are empty where the system does not tell them."""
    return _identity(os.getpid())


@cache
def _identity(pid: int) -> str:
    return f"{pid}:{_started(pid)}:{_boot()}"


def is_running(identity: str) -> bool:
    """Whether the process that an event names is still at work."""
    pid, _, rest = identity.partition(":")
    if not pid.isdigit():
        return False
    if rest == ":":
        return _answers(int(pid))
    return rest == f"{_started(int(pid))}:{_boot()}"


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    # A zombie does nothing any more, it only waits to be counted.
    return "" if state in "ZX" else fields[_START_AFTER_NAME - 1]


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
