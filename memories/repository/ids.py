"""Identifiers of ours: UUID version 7 as text. Every id is opaque on reading."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A fresh UUIDv7 (RFC 9562). Within a process ids grow even when the clock steps back."""
    global _last
    with _lock:
        # 48 bits of milliseconds and 12 bits that count up inside one of them.
        stamp = (time.time_ns() // 1_000_000) << 12
        _last = stamp = max(stamp, _last + 1)
    milliseconds, counter = stamp >> 12, stamp & 0xFFF
    random = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    return str(UUID(int=milliseconds << 80 | 7 << 76 | counter << 64 | 2 << 62 | random))
