"""Bytes for people."""

from __future__ import annotations


def size(number: int) -> str:
    kib = number / 1024
    return f"{kib:,.0f} KiB" if abs(kib) < 1024 else f"{kib / 1024:,.1f} MiB"


def signed_size(number: int) -> str:
    """A difference; growth has a plus."""
    return f"+{size(number)}" if number > 0 else size(number)
