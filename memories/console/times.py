"""Times as a person reads them: how long ago, with the exact moment on hover."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def ago(moment: datetime, now: datetime) -> str:
    """``now``, ``5 min``, ``3 h``, ``yesterday``, ``9 d``, ``2 y``; the future counts as now."""
    seconds = int((now - moment).total_seconds())
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h"
    days = seconds // _DAY
    if days == 1:
        return "yesterday"
    return f"{days:,} d" if days < 730 else f"{days // 365} y"


def ago_in_full(moment: datetime, now: datetime) -> str:
    """The same as a phrase: ``3 h ago``, and ``just now``."""
    short = ago(moment, now)
    if short == "now":
        return "just now"
    return short if short == "yesterday" else f"{short} ago"


def utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def machine(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
