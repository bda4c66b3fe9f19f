"""Captured turns: filing each once, reading them, and what a person may change about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow.compute as pc

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.records import Author, now
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Snapshot
from memories.repository.turn_filing import Filed, Filing, last_id
from memories.repository.turn_reading import (
    TurnFilter,
    TurnVectors,
    lexical_turns,
    turns_by_id,
    whole_rows,
)
from memories.repository.turn_records import (
    LOW_TRUST,
    UNSEEN_DAYS,
    NewTurn,
    Turn,
    TurnKind,
    lowered,
    raised,
    row_with,
    turn_of,
)
from memories.repository.vectors import Vector
from memories.repository.write_context import WriteContext

LONGEST_NAME = 64
"""Characters of the name of a wing or a room."""


@dataclass(frozen=True, slots=True)
class TurnPage:
    """``total`` counts all that were asked for; ``rows`` are those of this page, last seen first."""

    total: int
    rows: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """A room of a wing, and how many turns are in it."""

    wing: str
    room: str
    turns: int


class Turns:
    """The turns of one database. Thread safe; everything raised is a ``MemsuiteError``."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context
        self.vectors = TurnVectors()

    # -- filing -----------------------------------------------------------------------

    def embed(self, turns: Sequence[NewTurn]) -> dict[str, Vector]:
        """The unit vectors of turns by id; turns without a text need none. Never with the lock held."""
        self._context.store.read(self._context.require_identity)
        told = [turn for turn in turns if turn.text]
        if not told:
            return {}
        found = self._context.embedder.embed_documents([turn.text for turn in told])
        return {turn.id: vector for turn, vector in zip(told, found, strict=True)}

    def file(
        self,
        turns: Sequence[NewTurn],
        vectors: Mapping[str, Vector],
        author: Author,
        *,
        threshold: float,
    ) -> Filed:
        """File a batch in one commit. A turn whose id was filed before is left out, one that says a
        stored one of the same person again (cosine from ``threshold``) is counted into that."""
        context = self._context
        identity = context.embedder.identity
        with context.store.transaction(
            author, "file_turns", wait=context.lock_wait, identity=identity
        ) as transaction:
            context.require_identity(transaction.snapshot)
            return Filing(transaction, self.vectors, vectors, threshold).file(turns)

    # -- reading ----------------------------------------------------------------------

    def get(self, turn_id: str) -> Turn:
        """Raises ``not_found``."""
        found = self.of([turn_id])
        if turn_id not in found:
            raise _not_found(turn_id)
        return found[turn_id]

    def of(self, ids: Collection[str]) -> dict[str, Turn]:
        """Turns by id, trashed ones too; ids that are not stored are left out."""
        return self._context.store.read(lambda snapshot: turns_by_id(snapshot, ids))

    def last_of(self, session_id: str) -> Turn | None:
        """The newest turn of a session; None where it has none."""

        def read(snapshot: Snapshot) -> Turn | None:
            newest = last_id(snapshot, session_id)
            return turns_by_id(snapshot, [newest])[newest] if newest else None

        return self._context.store.read(read)

    def count(self, chosen: TurnFilter | None = None) -> int:
        where = (chosen or TurnFilter()).as_predicate()
        return self._context.store.read(lambda snapshot: snapshot.row_count(schema.TURNS, where))

    def page(self, chosen: TurnFilter | None = None, *, limit: int = 50, offset: int = 0) -> TurnPage:
        """A page of the turns for which everything asked holds, last seen first."""

        def read(snapshot: Snapshot) -> TurnPage:
            ids = _ids(snapshot, chosen or TurnFilter())
            found = turns_by_id(snapshot, ids[offset : offset + limit])
            return TurnPage(len(ids), tuple(found[name] for name in ids[offset : offset + limit]))

        return self._context.store.read(read)

    def ids(self, chosen: TurnFilter | None = None) -> list[str]:
        """Ids of the turns for which everything asked holds, last seen first."""
        return self._context.store.read(lambda snapshot: _ids(snapshot, chosen or TurnFilter()))

    def matching(self, words: str, chosen: TurnFilter | None = None, *, limit: int = 500) -> list[str]:
        """Ids of the chosen turns that hold any of the blank-joined ``words``, the best match first."""
        found = self._context.store.read(
            lambda snapshot: lexical_turns(snapshot, words, chosen or TurnFilter(), limit)
        )
        return [name for name, _ in found]

    def people(self) -> tuple[str, ...]:
        """Whose turns there are, trashed ones too."""
        rows = self._context.store.read(lambda snapshot: snapshot.arrow(schema.TURNS, "", ["user_id"]))
        return () if rows is None else tuple(sorted(pc.unique(rows["user_id"]).to_pylist()))

    def rooms(self, chosen: TurnFilter | None = None) -> tuple[Room, ...]:
        """The wings with their rooms and how many turns each holds, by name."""
        where = (chosen or TurnFilter()).as_predicate()

        def read(snapshot: Snapshot) -> tuple[Room, ...]:
            table = snapshot.arrow(schema.TURNS, where, ["wing", "room"])
            if table is None:
                return ()
            counted = table.group_by(["wing", "room"]).aggregate([([], "count_all")])
            found = [Room(row["wing"], row["room"], row["count_all"]) for row in counted.to_pylist()]
            return tuple(sorted(found, key=lambda room: (room.wing, room.room)))

        return self._context.store.read(read)

    def prunable(self, at: datetime | None = None) -> list[str]:
        """Ids of the turns unseen for 180 days with trust below 0.6. Mirrored entries of the built-in
        memory are not among them: they go when it drops them."""
        since = (at or now()) - timedelta(days=UNSEEN_DAYS)
        chosen = TurnFilter(trust_below=LOW_TRUST, unseen_since=since)
        builtin = set(self.ids(replace(chosen, kind=str(TurnKind.BUILTIN))))
        return [name for name in self.ids(chosen) if name not in builtin]

    # -- changing ---------------------------------------------------------------------

    def move(
        self, ids: Collection[str], author: Author, *, wing: str | None = None, room: str | None = None
    ) -> int:
        """Put turns into another wing or room; returns how many that changed."""
        changes: dict[str, Any] = {
            name: _name(name, value) for name, value in (("wing", wing), ("room", room)) if value is not None
        }
        return self._change(ids, author, "move_turns", lambda turn, _: replace(turn, **changes))

    def rename_wing(self, wing: str, into: str, author: Author) -> int:
        """Rename a wing, or merge it into one that is there; returns how many turns moved."""
        return self.move(self.ids(TurnFilter(wing=wing)), author, wing=into)

    def confirm(self, ids: Collection[str], author: Author) -> int:
        """Raise the trust of turns that turned out right, as one more sighting would."""
        return self._change(
            ids, author, "confirm_turns", lambda turn, _: replace(turn, trust=raised(turn.trust))
        )

    def doubt(self, ids: Collection[str], author: Author) -> int:
        """Lower the trust of turns that were taken back."""
        return self._change(
            ids, author, "doubt_turns", lambda turn, _: replace(turn, trust=lowered(turn.trust))
        )

    def trash(self, ids: Collection[str], author: Author) -> int:
        """Put turns away: nothing finds them any more until they are restored."""
        return self._change(
            ids,
            author,
            "trash_turns",
            lambda turn, stamp: replace(turn, trashed_at=turn.trashed_at or stamp.at),
        )

    def restore(self, ids: Collection[str], author: Author) -> int:
        """Bring turns back from the trash."""
        return self._change(ids, author, "restore_turns", lambda turn, _: replace(turn, trashed_at=None))

    def erase(self, ids: Collection[str], author: Author) -> int:
        """Delete rows for good, for purge; returns how many were there."""
        with self._context.store.transaction(
            author, "erase_turns", wait=self._context.lock_wait
        ) as transaction:
            there = turns_by_id(transaction.snapshot, ids)
            for name in there:
                transaction.delete(schema.TURNS, name)
        return len(there)

    def _change(
        self,
        ids: Collection[str],
        author: Author,
        operation: str,
        change: Callable[[Turn, Stamp], Turn],
    ) -> int:
        """Change turns in one commit; ids that are not stored are left out."""
        context = self._context
        if not ids:
            return 0
        with context.store.transaction(author, operation, wait=context.lock_wait) as transaction:
            changed = 0
            for row in whole_rows(transaction.snapshot, ids).values():
                before = turn_of(row)
                after = change(before, transaction.stamp)
                if after != before:
                    after = replace(after, generation=transaction.stamp.generation)
                    transaction.replace(schema.TURNS, row_with(row, after))
                    changed += 1
        return changed


def _ids(snapshot: Snapshot, chosen: TurnFilter) -> list[str]:
    table = snapshot.arrow(schema.TURNS, chosen.as_predicate(), ["id", "last_seen_at"])
    if table is None:
        return []
    order = pc.sort_indices(table, [("last_seen_at", "descending"), ("id", "descending")])
    found: list[str] = table["id"].take(order).to_pylist()
    return found


def _name(field: str, value: str) -> str:
    name = " ".join(value.split())
    if not name or len(name) > LONGEST_NAME:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            field,
            f"The name of a {field} has 1 to {LONGEST_NAME} characters.",
            received=value,
        )
    return name


def _not_found(turn_id: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.NOT_FOUND, "turn_id", "No turn has this id.", received=turn_id)
