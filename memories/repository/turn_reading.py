"""Reading captured turns of one snapshot: whose they are comes first, always."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memories.contract import MemsuiteError
from memories.repository import schema
from memories.repository.engine import VersionGone, is_in, quoted
from memories.repository.lexical import bm25
from memories.repository.records import Row
from memories.repository.snapshot import Snapshot, State, batches
from memories.repository.turn_records import TURN_COLUMNS, Turn, TurnKind, turn_of
from memories.repository.vectors import EXACT_BYTES, Vector, VectorRows

LIVE = "trashed_at IS NULL"

_VECTORS = schema.VECTORS[schema.TURNS]
_NOTHING: Vector = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Narrows a reading of turns. Several conditions must all hold; None asks for nothing.

    ``user_id`` None means everybody's turns, which only a person who administers may see.
    """

    user_id: str | None = None
    wing: str | None = None
    room: str | None = None
    kind: str | None = None
    session_id: str | None = None
    is_correction: bool | None = None
    trust_below: float | None = None
    unseen_since: datetime | None = None
    trashed: bool = False

    def as_predicate(self) -> str:
        """The engine's filter."""
        parts = ["trashed_at IS NOT NULL" if self.trashed else LIVE]
        for name in ("user_id", "wing", "room", "kind", "session_id"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name} = {quoted(value)}")
        if self.is_correction is not None:
            parts.append("is_correction" if self.is_correction else "NOT is_correction")
        if self.trust_below is not None:
            parts.append(f"trust < {float(self.trust_below)!r}")
        if self.unseen_since is not None:
            moment = self.unseen_since.isoformat(timespec="microseconds")
            parts.append(f"last_seen_at < TIMESTAMP {quoted(moment)}")
        return " AND ".join(parts)


def turns_by_id(snapshot: Snapshot, ids: Iterable[str]) -> dict[str, Turn]:
    """Stored turns by id, trashed ones too; ids that are not stored are left out."""
    return {
        row["id"]: turn_of(row)
        for batch in batches(ids)
        for row in snapshot.rows(schema.TURNS, is_in("id", batch), TURN_COLUMNS)
    }


def whole_rows(snapshot: Snapshot, ids: Iterable[str]) -> dict[str, Row]:
    """Whole rows by id; vectors as arrays, shape (dimension,), float32."""
    found: dict[str, Row] = {}
    for batch in batches(ids):
        table = snapshot.arrow(schema.TURNS, is_in("id", batch))
        if table is None:
            continue
        vectors = {name: matrix_of(table, name) for name in _VECTORS}
        for at, row in enumerate(table.drop_columns(list(vectors)).to_pylist()):
            found[row["id"]] = row | {name: matrix[at] for name, matrix in vectors.items()}
    return found


def turns_before(snapshot: Snapshot) -> dict[str, str]:
    """For every turn the id of the one before it in its session, "" for a session's first and for
    mirrored entries, which no conversation led to."""
    columns = ["id", "kind", "session_id", "occurred_at"]
    rows = snapshot.rows(schema.TURNS, columns=columns)
    rows.sort(key=lambda row: (row["occurred_at"], row["id"]))
    last: dict[str, str] = {}
    found: dict[str, str] = {}
    for row in rows:
        told = row["kind"] != TurnKind.BUILTIN and row["session_id"]
        found[row["id"]] = last.get(row["session_id"], "") if told else ""
        if told:
            last[row["session_id"]] = row["id"]
    return found


def session_orders(
    snapshot: Snapshot, session_ids: Iterable[str], user_id: str
) -> dict[str, tuple[str, int]]:
    """For every live turn that one person had in some sessions: its session, and its place in there."""
    own = TurnFilter(user_id=user_id).as_predicate()
    by_session: dict[str, list[tuple[datetime, str]]] = {}
    for batch in batches(name for name in session_ids if name):
        where = f"{own} AND kind != {quoted(TurnKind.BUILTIN)} AND {is_in('session_id', batch)}"
        for row in snapshot.rows(schema.TURNS, where, ["id", "session_id", "occurred_at"]):
            by_session.setdefault(row["session_id"], []).append((row["occurred_at"], row["id"]))
    return {
        name: (session, place)
        for session, turns in by_session.items()
        for place, (_, name) in enumerate(sorted(turns))
    }


def turn_texts(snapshot: Snapshot, ids: Iterable[str]) -> dict[str, str]:
    """The texts of some turns by id."""
    return {
        row["id"]: row["text"]
        for batch in batches(name for name in ids if name)
        for row in snapshot.rows(schema.TURNS, is_in("id", batch), ["id", "text"])
    }


def lexical_turns(snapshot: Snapshot, words: str, chosen: TurnFilter, limit: int) -> list[tuple[str, float]]:
    """Ids and the engine's BM25, best first, of the chosen turns that hold any of the blank-joined
    ``words`` (normalised as ``search_text`` is)."""
    where = chosen.as_predicate()
    try:
        return snapshot.lexical_in(schema.TURNS, words, where, limit)
    except (MemsuiteError, VersionGone):
        # Without the index, which the next write makes anew where it is damaged.
        table = snapshot.arrow(schema.TURNS, where, ["id", schema.TEXT])
        return [] if table is None else bm25(table["id"], table[schema.TEXT], words)[:limit]


@dataclass(frozen=True)
class _Known:
    """The vectors of one state's live turns, both kinds, and whose each is."""

    state: State
    rows: int
    """All rows of the table, trashed ones too: tells whether any went away."""
    ids: Sequence[str] = ()
    owners: Sequence[tuple[str, str]] = ()
    """(user id, kind) of each; "" is the kind of corrections."""
    matrices: Mapping[str, Vector] = field(default_factory=dict)
    """Shape (turns, dimension), by column."""
    _parts: dict[tuple[str, str | None, str], VectorRows] = field(default_factory=dict)

    def rows_of(self, user_id: str, kind: str | None, column: str) -> VectorRows:
        """The vectors of one person's turns, of one kind where it is given."""
        asked = (user_id, kind, column)
        if asked not in self._parts:
            own = [
                at
                for at, (owner, its_kind) in enumerate(self.owners)
                if owner == user_id and kind in (None, its_kind)
            ]
            matrix = self.matrices.get(column, _NOTHING)
            every = len(own) == len(self.ids)
            part = matrix if every else matrix[own]
            self._parts[asked] = VectorRows.read([self.ids[at] for at in own], part)
        return self._parts[asked]


class TurnVectors:
    """Both vectors of all live turns, kept while the turns stay as they are. Thread safe.

    Beyond ``EXACT_BYTES`` nothing is kept and the engine searches.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: _Known | None = None

    def nearest(
        self,
        snapshot: Snapshot,
        vector: Vector,
        *,
        user_id: str,
        kind: str | None = None,
        limit: int,
        column: str = schema.VECTOR,
    ) -> list[tuple[str, float]]:
        """Ids and cosines to a unit ``vector`` of one person's live turns, best first, ties by id. With a
        ``kind`` corrections are left out."""
        if not _fits(snapshot):
            plain = None if kind is None else False
            where = TurnFilter(user_id=user_id, kind=kind, is_correction=plain).as_predicate()
            return snapshot.nearest_in(schema.TURNS, column, vector, where, limit)
        return self._at(snapshot).rows_of(user_id, kind, column).nearest(vector, kept=None, limit=limit)

    def of(self, snapshot: Snapshot, ids: Collection[str]) -> tuple[VectorRows, Vector]:
        """The plain vectors of some turns, and beside them those with the turn before; unknown ids are
        left out."""
        parts = [
            snapshot.arrow(schema.TURNS, is_in("id", batch), ["id", *_VECTORS]) for batch in batches(ids)
        ]
        there = [part for part in parts if part is not None and part.num_rows]
        if not there:
            return VectorRows(), _NOTHING
        names = [name for part in there for name in part["id"].to_pylist()]
        plain = np.vstack([matrix_of(part, schema.VECTOR) for part in there])
        return VectorRows.read(names, plain), np.vstack([matrix_of(part, "context_vector") for part in there])

    def _at(self, snapshot: Snapshot) -> _Known:
        with self._lock:
            if self._known is None or self._known.state != snapshot.state:
                self._known = self._refreshed(snapshot) or _read(snapshot)
            return self._known

    def _refreshed(self, snapshot: Snapshot) -> _Known | None:
        """What is kept with the rows written since; None where reading all anew is the only way."""
        known = self._known
        if known is None or not known.state.reaches(snapshot.state):
            return None
        rows = snapshot.row_count(schema.TURNS)
        changed = _columns(snapshot, f"generation > {known.state.generation}")
        if changed is None or not changed.num_rows:
            return replace(known, state=snapshot.state) if rows == known.rows else None
        written = set(changed["id"].to_pylist())
        if known.rows + len(written - set(known.ids)) != rows:
            return None  # some were erased, or came back from the trash
        kept = [at for at, name in enumerate(known.ids) if name not in written]
        added = _known(snapshot, changed, rows)
        if not known.ids:
            return added
        return _Known(
            snapshot.state,
            rows,
            [*(known.ids[at] for at in kept), *added.ids],
            [*(known.owners[at] for at in kept), *added.owners],
            {name: np.vstack([known.matrices[name][kept], added.matrices[name]]) for name in _VECTORS},
        )


def _read(snapshot: Snapshot) -> _Known:
    table = _columns(snapshot, "")
    if table is None or not table.num_rows:
        return _Known(snapshot.state, 0)
    return _known(snapshot, table, table.num_rows)


def _columns(snapshot: Snapshot, where: str) -> pa.Table | None:
    columns = ["id", "user_id", "kind", "is_correction", "trashed_at", *_VECTORS]
    return snapshot.arrow(schema.TURNS, where, columns)


def _known(snapshot: Snapshot, table: pa.Table, rows: int) -> _Known:
    live = table.filter(table["trashed_at"].is_null())
    # A correction never repeats another turn, so it counts to no kind here.
    kinds = pc.if_else(live["is_correction"], "", live["kind"]).to_pylist()
    owners = list(zip(live["user_id"].to_pylist(), kinds, strict=True))
    matrices = {name: matrix_of(live, name) for name in _VECTORS}
    return _Known(snapshot.state, rows, live["id"].to_pylist(), owners, matrices)


def matrix_of(table: pa.Table, column: str) -> Vector:
    """A column of vectors, shape (rows, dimension)."""
    values: Any = table[column].combine_chunks()
    flat = values.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat.reshape(table.num_rows, values.type.list_size), dtype=np.float32)


def _fits(snapshot: Snapshot) -> bool:
    return 2 * 4 * snapshot.dimension_of(schema.TURNS) * snapshot.row_count(schema.TURNS) <= EXACT_BYTES
