"""Exit codes of every command, and which code an error leads to."""

from __future__ import annotations

from enum import IntEnum

from memories.contract import ErrorCode, MemsuiteError


class Exit(IntEnum):
    """Spec 00: 0 done or nothing to do, 1 failed or gate not met, 2 refused or wrong arguments."""

    DONE = 0
    FAILED = 1
    REFUSED = 2


# The request may be sound here: it is the machine that could not do it. Everything else is a refusal, which
# the same request meets again.
_FAILURES = frozenset(
    {
        ErrorCode.EMBEDDING_FAILED,
        ErrorCode.EMBEDDING_MODEL_MISMATCH,
        ErrorCode.STORE_BUSY,
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.STORE_READ_ONLY,
        ErrorCode.DISK_FULL,
        ErrorCode.SCHEMA_TOO_NEW,
        ErrorCode.HEAVY_WORK_BUSY,
        ErrorCode.RATE_LIMITED,
    }
)


def exit_for(error: MemsuiteError) -> Exit:
    """`FAILED` where the machine could not, `REFUSED` where the request may not."""
    return Exit.FAILED if error.code in _FAILURES else Exit.REFUSED


def worst(exits: list[Exit]) -> Exit:
    """The exit of a batch: a failure outranks a refusal, since it says that trying again may help."""
    for candidate in (Exit.FAILED, Exit.REFUSED):
        if candidate in exits:
            return candidate
    return Exit.DONE
