"""A captured turn as a value, its trust, and its way to and from a table row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from memories.repository.records import Row
from memories.repository.vectors import Vector
from memories.text.normalise import index_text

FIRST_TRUST = 0.5
"""Trust of a turn seen once."""

DOUBT_LEFT = 0.8
"""Each time a turn is seen again takes away a fifth of what doubt is left (spec 05)."""

HALF_LIFE_DAYS = 30.0
"""After so many days unseen a turn's trust counts half in the ranking (spec 05)."""

UNSEEN_DAYS, LOW_TRUST = 180, 0.6
"""Turns unseen for so long with less trust than this are proposed for pruning (spec 05)."""

MERGED_KEPT = 512
"""Ids of merged lines remembered: many more than the one batch that a kill can make the worker repeat."""

_DAY = 86_400.0
# Written out here, since the platform's own names follow the locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


class TurnKind(StrEnum):
    """What a turn was: said in a conversation, written by the built-in memory, or a finished task."""

    EXCHANGE = "exchange"
    BUILTIN = "builtin"
    DELEGATION = "delegation"


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to file. ``id`` is that of its spool line, and decides that it is filed once. Texts are
    screened and cut already; ``occurred_at`` is aware. ``retires`` is the text, or a part of it, of the
    built-in memory's entry that this one takes the place of; one without a text only retires."""

    id: str
    kind: TurnKind
    user_text: str
    assistant_text: str
    occurred_at: datetime
    wing: str
    room: str
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    source: str = "agent"
    truncated: bool = False
    is_correction: bool = False
    retires: str = ""

    @property
    def text(self) -> str:
        """What is shown, embedded and searched."""
        return turn_text(self.kind, self.user_text, self.assistant_text)


@dataclass(frozen=True, slots=True)
class Turn:
    """One row of ``turns`` without its vectors. Times are aware and in UTC; ``trashed_at`` is None
    unless a person put the turn away."""

    id: str
    kind: str
    text: str
    user_text: str
    assistant_text: str
    truncated: bool
    wing: str
    room: str
    session_id: str
    user_id: str
    platform: str
    source: str
    trust: float
    seen_count: int
    is_correction: bool
    occurred_at: datetime
    last_seen_at: datetime
    variants: tuple[str, ...]
    merged: tuple[str, ...]
    trashed_at: datetime | None
    search_text: str
    generation: int
    embedding_id: str

    def decay(self, at: datetime) -> float:
        """How fresh it is at a moment: 1 when just seen, a half after ``HALF_LIFE_DAYS``."""
        return decay(self.last_seen_at, at)

    def seen_again(self, turn: NewTurn, generation: int) -> Turn:
        """This turn with another occurrence counted in; other words than before become a variant."""
        known = {self.text, *self.variants}
        variants = self.variants if turn.text in known else (*self.variants, turn.text)
        return replace(
            self,
            seen_count=self.seen_count + 1,
            trust=raised(self.trust),
            last_seen_at=max(self.last_seen_at, turn.occurred_at),
            variants=variants,
            merged=(*self.merged, turn.id)[-MERGED_KEPT:],
            search_text=self.search_text
            if variants is self.variants
            else searchable((self.text, *variants), self.occurred_at),
            generation=generation,
        )

    def as_answer(self) -> dict[str, Any]:
        """The turn as tools and commands print it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "text": self.text,
            "variants": list(self.variants),
            "truncated": self.truncated,
            "wing": self.wing,
            "room": self.room,
            "session_id": self.session_id,
            "platform": self.platform,
            "trust": round(self.trust, 4),
            "seen_count": self.seen_count,
            "is_correction": self.is_correction,
            "occurred_at": self.occurred_at.isoformat(timespec="seconds"),
            "last_seen_at": self.last_seen_at.isoformat(timespec="seconds"),
        }


TURN_COLUMNS = tuple(field.name for field in fields(Turn))
"""The columns of a turn that are not its vectors."""


def turn_text(kind: str, user_text: str, assistant_text: str) -> str:
    """Both sides as one text; a mirrored entry of the built-in memory has one side and no speaker."""
    if kind == TurnKind.BUILTIN:
        return user_text
    return f"User: {user_text}\n\nAssistant: {assistant_text}"


def searchable(texts: Sequence[str], at: datetime) -> str:
    """The indexed words of a turn: of its day, so that it can be asked for, and of every wording it was
    said in."""
    day = f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
    return index_text(domain="", subject="", facts=(day, *texts), tags=())


def decay(last_seen_at: datetime, at: datetime) -> float:
    """``exp(-ln 2 · age_days / 30)``; a moment before the turn counts as none passed."""
    age = max((at - last_seen_at).total_seconds(), 0.0) / _DAY
    return math.exp(-math.log(2) * age / HALF_LIFE_DAYS)


def raised(trust: float) -> float:
    """Trust after one more sighting. From 0.5 on this is ``0.5 + 0.5·(1 − 0.8^(seen − 1))``, and it
    carries on from wherever doubt or a confirmation has put it."""
    return 1.0 - (1.0 - trust) * DOUBT_LEFT


def lowered(trust: float) -> float:
    """Trust after the turn was taken back: what trust there is, less a fifth."""
    return trust * DOUBT_LEFT


def context_of(previous: Vector | None, vector: Vector) -> Vector:
    """The turn with the one before it, as one unit vector: their mean direction.

    Of the vectors rather than of both texts joined: the model reads the first 256 tokens, which would
    be the earlier turn alone.
    """
    if previous is None:
        return vector
    both = previous + vector
    length = float(np.linalg.norm(both))
    return np.asarray(both / length, dtype=np.float32) if length > 1e-6 else vector


def turn_of(row: Mapping[str, Any]) -> Turn:
    """The value of a row read with ``TURN_COLUMNS``."""
    values = {name: row[name] for name in TURN_COLUMNS}
    for name in ("variants", "merged"):
        values[name] = tuple(values[name] or ())
    return Turn(**values)


def new_row(
    turn: NewTurn, vector: Vector, context_vector: Vector, *, embedding_id: str, generation: int
) -> Row:
    return {
        "id": turn.id,
        "kind": str(turn.kind),
        "text": turn.text,
        "user_text": turn.user_text,
        "assistant_text": turn.assistant_text,
        "truncated": turn.truncated,
        "wing": turn.wing,
        "room": turn.room,
        "session_id": turn.session_id,
        "user_id": turn.user_id,
        "platform": turn.platform,
        "source": turn.source,
        "trust": 1.0 if turn.is_correction else FIRST_TRUST,
        "seen_count": 1,
        "is_correction": turn.is_correction,
        "occurred_at": turn.occurred_at,
        "last_seen_at": turn.occurred_at,
        "variants": [],
        "merged": [],
        "trashed_at": None,
        "search_text": searchable([turn.text], turn.occurred_at),
        "generation": generation,
        "embedding_id": embedding_id,
        "vector": vector,
        "context_vector": context_vector,
    }


def row_with(row: Row, turn: Turn) -> Row:
    """A whole stored row with the columns of a changed turn."""
    changed = {name: getattr(turn, name) for name in TURN_COLUMNS}
    changed["variants"], changed["merged"] = list(turn.variants), list(turn.merged)
    return row | changed
