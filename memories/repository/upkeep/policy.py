"""When maintenance does what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from memories.settings import Settings

PRESSED_RETENTION = timedelta(minutes=10)
"""What is left of retention and interval once history weighs more than the bounds below: longer than
any read takes."""

PRESSED_TIMES = 3
PRESSED_BYTES = 64 * 2**20
"""History presses when it is larger than both: so many times the live size, and so many bytes."""

MOST_FRAGMENTS = 64
"""Above this routine maintenance compacts. Writers keep below 32 by themselves, so it finds work only
where their own upkeep could not be done."""

INDEX_LAG = 0.1
"""Share of rows that the vector index may lag behind before it is brought up to date."""


@dataclass(frozen=True, slots=True)
class Policy:
    """``retention`` counts from the moment at which another version took a version's place."""

    cleanup_interval: timedelta = timedelta(hours=24)
    retention: timedelta = timedelta(hours=24)
    compact_cooldown: timedelta = timedelta(hours=1)

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        return cls(
            cleanup_interval=timedelta(seconds=settings.cleanup_interval_seconds),
            retention=timedelta(seconds=settings.retention_seconds),
            compact_cooldown=timedelta(seconds=settings.compact_cooldown_seconds),
        )

    def pressed(self, history: int, live: int) -> Policy:
        """The policy for a table whose old versions take ``history`` bytes beside ``live`` ones."""
        if history <= max(PRESSED_TIMES * live, PRESSED_BYTES):
            return self
        return Policy(
            min(self.cleanup_interval, PRESSED_RETENTION),
            min(self.retention, PRESSED_RETENTION),
            self.compact_cooldown,
        )
