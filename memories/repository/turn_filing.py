"""Filing a batch of turns under the write lock: each line once, near repeats counted into the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memories.repository import schema
from memories.repository.engine import is_in, quoted
from memories.repository.records import Row
from memories.repository.snapshot import Snapshot, batches
from memories.repository.transaction import Transaction
from memories.repository.turn_reading import LIVE, TurnVectors, whole_rows
from memories.repository.turn_records import (
    TURN_COLUMNS,
    NewTurn,
    Turn,
    TurnKind,
    context_of,
    new_row,
    row_with,
    turn_of,
)
from memories.repository.vectors import Vector


@dataclass(frozen=True, slots=True)
class Filed:
    """What came of a batch: the new rows; for each turn that repeated a stored one, which that is; the
    entries of the built-in memory that were retired; the ids that had been filed before."""

    turns: tuple[Turn, ...] = ()
    merged: Mapping[str, Turn] = field(default_factory=dict)
    retired: tuple[Turn, ...] = ()
    known: tuple[str, ...] = ()


class Filing:
    """One batch on its way into a transaction. ``vectors`` holds the unit vector of each turn that has a
    text, by its id; ``threshold`` is the cosine from which two turns are one."""

    def __init__(
        self,
        transaction: Transaction,
        kept: TurnVectors,
        vectors: Mapping[str, Vector],
        threshold: float,
    ) -> None:
        self._transaction = transaction
        self._snapshot = transaction.snapshot
        self._generation = transaction.stamp.generation
        self._kept = kept
        self._vectors = vectors
        self._threshold = threshold
        self._rows: dict[str, Row] = {}
        self._new: dict[str, Turn] = {}
        self._merged: dict[str, str] = {}
        self._retired: dict[str, Turn] = {}
        self._previous: dict[str, Vector | None] = {}

    def file(self, turns: Sequence[NewTurn]) -> Filed:
        """Put what is new of ``turns`` into the transaction, in their order."""
        known = filed_before(self._snapshot, [turn.id for turn in turns])
        for turn in turns:
            if turn.id not in known:
                self._take(turn)
        for row in self._rows.values():
            self._transaction.replace(schema.TURNS, row)
        return Filed(
            tuple(self._current(name) for name in self._new),
            {name: self._current(into) for name, into in self._merged.items()},
            tuple(self._retired.values()),
            tuple(turn.id for turn in turns if turn.id in known),
        )

    def _take(self, turn: NewTurn) -> None:
        if turn.retires:
            self._retire(turn)
        if not turn.text:
            return
        vector = self._vectors[turn.id]
        into = self._repeated(turn, vector)
        if into is not None:
            self._merged[turn.id] = into
            self._put(self._current(into).seen_again(turn, self._generation))
        else:
            context = context_of(self._before(turn), vector)
            row = new_row(turn, vector, context, embedding_id=self._embedding_id, generation=self._generation)
            self._rows[turn.id] = row
            self._new[turn.id] = turn_of(row)
        if turn.session_id:
            self._previous[turn.session_id] = vector

    @property
    def _embedding_id(self) -> str:
        return self._snapshot.embedding_id

    # -- repeats ----------------------------------------------------------------------

    def _repeated(self, turn: NewTurn, vector: Vector) -> str | None:
        """The stored or new turn that this one says again; None where it says something of its own."""
        if turn.kind is TurnKind.BUILTIN:
            return self._same_entry(turn.text, turn.user_id, turn.room)
        if turn.is_correction:
            return None
        best = [*self._nearest_new(turn, vector), *self._nearest_stored(turn, vector)]
        close = [(cosine, name) for name, cosine in best if cosine >= self._threshold]
        return max(close, key=lambda pair: (pair[0], pair[1]))[1] if close else None

    def _nearest_stored(self, turn: NewTurn, vector: Vector) -> list[tuple[str, float]]:
        return self._kept.nearest(self._snapshot, vector, user_id=turn.user_id, kind=str(turn.kind), limit=1)

    def _nearest_new(self, turn: NewTurn, vector: Vector) -> list[tuple[str, float]]:
        """Those of this batch, whose rows no reader sees yet."""
        return [
            (other.id, float(np.dot(self._rows[other.id][schema.VECTOR], vector)))
            for other in self._new.values()
            if (other.user_id, other.kind, other.is_correction) == (turn.user_id, str(turn.kind), False)
        ]

    # -- the built-in memory's entries ------------------------------------------------

    def _same_entry(self, text: str, user_id: str, room: str) -> str | None:
        found = [turn for turn in self._entries(user_id, room) if turn.text == text]
        return found[0].id if found else None

    def _retire(self, turn: NewTurn) -> None:
        """Put away the entry this one takes the place of. The host names it whole or by a part."""
        entries = self._entries(turn.user_id, turn.room)
        found = [entry for entry in entries if entry.text == turn.retires]
        found = found or [entry for entry in entries if turn.retires in entry.text]
        for entry in found[:1]:
            away = replace(
                entry,
                trashed_at=self._transaction.stamp.at,
                merged=(*entry.merged, turn.id),
                generation=self._generation,
            )
            self._put(away)
            self._retired[entry.id] = away

    def _entries(self, user_id: str, room: str) -> list[Turn]:
        """The mirrored entries in force, this batch's included, oldest first."""
        where = (
            f"{LIVE} AND kind = {quoted(TurnKind.BUILTIN)} AND user_id = {quoted(user_id)} "
            f"AND room = {quoted(room)}"
        )
        stored = {row["id"]: turn_of(row) for row in self._snapshot.rows(schema.TURNS, where, TURN_COLUMNS)}
        for name, row in self._rows.items():
            if (row["kind"], row["user_id"], row["room"]) == (TurnKind.BUILTIN, user_id, room):
                stored[name] = turn_of(row)
        live = [turn for turn in stored.values() if turn.trashed_at is None]
        return sorted(live, key=lambda turn: (turn.occurred_at, turn.id))

    # -- rows of the batch ------------------------------------------------------------

    def _current(self, name: str) -> Turn:
        return turn_of(self._row(name))

    def _row(self, name: str) -> Row:
        if name not in self._rows:
            self._rows[name] = whole_rows(self._snapshot, [name])[name]
        return self._rows[name]

    def _put(self, turn: Turn) -> None:
        self._rows[turn.id] = row_with(self._row(turn.id), turn)

    def _before(self, turn: NewTurn) -> Vector | None:
        """The vector of the turn before, in the same session; None for the first one."""
        if turn.kind is TurnKind.BUILTIN or not turn.session_id:
            return None
        if turn.session_id not in self._previous:
            self._previous[turn.session_id] = last_vector(self._snapshot, turn.session_id)
        return self._previous[turn.session_id]


def filed_before(snapshot: Snapshot, ids: Sequence[str]) -> set[str]:
    """Which ids of spool lines are rows already, or were counted into one."""
    found: set[str] = set()
    for batch in batches(ids):
        rows = snapshot.rows(schema.TURNS, is_in("id", batch), ["id"])
        found |= {row["id"] for row in rows}
        listed = ", ".join(quoted(name) for name in batch)
        counted = snapshot.rows(schema.TURNS, f"array_has_any(merged, make_array({listed}))", ["merged"])
        found |= {name for row in counted for name in row["merged"]} & set(batch)
    return found


def last_vector(snapshot: Snapshot, session_id: str) -> Vector | None:
    """The vector of the newest turn of a session."""
    newest = last_id(snapshot, session_id)
    if not newest:
        return None
    vector: Vector = whole_rows(snapshot, [newest])[newest][schema.VECTOR]
    return vector


def last_id(snapshot: Snapshot, session_id: str) -> str:
    """The id of the newest turn of a session, "" where it has none; mirrored entries are no part of it."""
    where = f"session_id = {quoted(session_id)} AND kind != {quoted(TurnKind.BUILTIN)}"
    rows = snapshot.rows(schema.TURNS, where, ["id", "occurred_at"])
    newest = max(rows, key=lambda row: (row["occurred_at"], row["id"]), default=None)
    return "" if newest is None else str(newest["id"])
