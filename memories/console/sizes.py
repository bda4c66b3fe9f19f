"""Bytes as a person reads them."""

from __future__ import annotations

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """``96.4 MiB``; whole bytes below a KiB."""
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:,.0f} {_UNITS[0]}" if unit == 0 else f"{value:,.1f} {_UNITS[unit]}"
