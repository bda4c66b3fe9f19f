"""One person's way through the review: what they have decided in this pass, and what can be taken back.

Kept in the session: names and counts, no facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.contrib.sessions.backends.base import SessionBase

from memories.console.review_inbox import Item, Kind

_NAME = "review_pass"
MOST_STEPS = 30
"""Decisions that can be taken back one after the other."""

ACCEPTED, DISMISSED, SKIPPED = "accepted", "dismissed", "skipped"


@dataclass(frozen=True, slots=True)
class Step:
    """One decision: ``did`` what it counts as, ``undo`` what takes it back (an operation, or the key of a
    dismissal), ``key`` the item it was about."""

    did: str
    key: str
    says: str
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Pass:
    """``kind`` is the tab it goes through, "" for all; going through another tab is another pass."""

    kind: str = ""
    accepted: int = 0
    dismissed: int = 0
    skipped: int = 0
    steps: tuple[Step, ...] = field(default=())

    @property
    def decided(self) -> int:
        return self.accepted + self.dismissed

    @property
    def last(self) -> Step | None:
        return self.steps[-1] if self.steps else None

    def after(self, step: Step) -> Pass:
        counted: dict[str, Any] = {step.did: getattr(self, step.did) + 1}
        return replace(self, **counted, steps=(*self.steps, step)[-MOST_STEPS:])

    def before_last(self) -> Pass:
        """As it was before the last decision."""
        if self.last is None:
            return self
        counted: dict[str, Any] = {self.last.did: max(0, getattr(self, self.last.did) - 1)}
        return replace(self, **counted, steps=self.steps[:-1])


def pass_of(session: SessionBase, kind: str) -> Pass:
    """The pass through a tab, a new one where the session knows of none."""
    kept: Mapping[str, Any] = session.get(_NAME) or {}
    if kept.get("kind", "") != kind:
        return Pass(kind)
    try:
        steps = tuple(Step(**step) for step in kept.get("steps", ()))
        accepted, dismissed, skipped = (int(kept[name]) for name in (ACCEPTED, DISMISSED, SKIPPED))
        return Pass(kind, accepted, dismissed, skipped, steps)
    except (KeyError, TypeError, ValueError):
        return Pass(kind)


def keep(session: SessionBase, current: Pass) -> None:
    session[_NAME] = asdict(current)


def named(item: Item) -> str:
    """What to call an item where no text of memories may stand."""
    return f"a {item.kind.chip.lower()}" if item.kind in (Kind.LESSON, Kind.IMPORT) else item.name
