"""Values of foreign rows, read with patience and never guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside are slips of a unit (milliseconds for seconds) or hostile, not times of a memory."""

ID_MAX = 80
"""As the contract has it for relations: what is longer could never be pointed at."""


def text_of(value: Any, field: str = "") -> str:
    """A text column; "" for NULL. Raises ``invalid_type``."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, field, "Must be text.", received=value, expected="text")
    return value


def identifier(value: Any, field: str = "id") -> str:
    """An id as it is. Raises ``invalid_parameter`` for what can be none: empty, too long, or with
    blanks, control characters or what means something in an address in it."""
    name = text_of(value, field)
    usable = name.isprintable() and not any(map(str.isspace, name)) and not set(name) & set("/\\?#%")
    if not 0 < len(name) <= ID_MAX or not usable or not name.strip("."):
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, field, "This can be no id.", received=name, expected=f"1 to {ID_MAX}"
        )
    return name


def seconds(value: Any, field: str) -> datetime | None:
    """A time given in seconds since 1970; None for NULL and 0. Raises ``invalid_parameter``."""
    if value is None or value == 0:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise _no_time(field, value)
    try:
        return _within(datetime.fromtimestamp(float(value), UTC), field, value)
    except (OverflowError, OSError, ValueError) as error:
        raise _no_time(field, value) from error


def iso_time(value: Any, field: str) -> datetime | None:
    """A time given as ISO text, UTC where it names no zone; None for NULL and "". Raises
    ``invalid_parameter``."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _no_time(field, value)
    try:
        found = datetime.fromisoformat(value)
    except ValueError as error:
        raise _no_time(field, value) from error
    return _within(found if found.tzinfo else found.replace(tzinfo=UTC), field, value)


def number(value: Any, field: str, low: float, high: float, default: float) -> float:
    """A number between two bounds; ``default`` for NULL. Raises ``invalid_parameter``."""
    if value is None:
        return default
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            field,
            "The number is out of range.",
            received=value,
            expected=f"{low:g} to {high:g}",
        )
    return float(value)


def json_list(value: Any) -> list[Any]:
    """A list stored as JSON text; empty where it is NULL or cannot be read, as older readers took it."""
    if isinstance(value, list):
        return value
    try:
        found = json.loads(value) if isinstance(value, str) and value else []
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it, without what is a vector or empty."""
    kept = {}
    for name, value in row.items():
        if value is None or name in ("vector", "embedding"):
            continue
        if isinstance(value, float) and not math.isfinite(value):
            value = str(value)
        kept[str(name)] = value if isinstance(value, str | int | float | bool | list | dict) else str(value)
    return kept


def _within(moment: datetime, field: str, received: Any) -> datetime:
    moment = moment.astimezone(UTC)
    if not EARLIEST <= moment <= LATEST:
        raise _no_time(field, received)
    return moment


def _no_time(field: str, received: Any) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        field,
        "This is no time a memory can have.",
        received=received,
        expected=f"{EARLIEST:%Y} to {LATEST:%Y}",
    )
