"""Rows that an import could not place, each with its reason, until a person puts them right or lets them go.

A row a person is done with stays, without its text: the same import run again must not bring it back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import quoted
from memories.repository.records import Author, Row, now
from memories.repository.snapshot import Snapshot
from memories.repository.write_context import WriteContext

ACCEPTED, DISCARDED = "accepted", "discarded"
"""Reasons of rows a person is done with; those still open have an error code."""

SETTLED = frozenset({ACCEPTED, DISCARDED})


@dataclass(frozen=True, slots=True)
class Misfit:
    """A row of a source that does not fit. ``kind`` is what it would have been (``memory``, ``edge``,
    ``conflict``, ``turn``, ``lesson``, ``revision``, ``usage``), ``place`` where it stands in the source,
    ``row`` what was read, with secrets masked."""

    system: str
    kind: str
    place: str
    source_id: str
    code: str
    field: str
    message: str
    row: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The same whenever the same row is met again."""
        text = json.dumps([self.system, self.kind, self.source_id, self.row], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def as_row(self, at: datetime) -> Row:
        kept = {"kind": self.kind, "place": self.place, "id": self.source_id, "field": self.field}
        raw = json.dumps(kept | {"row": self.row}, default=str, separators=(",", ":"))
        return {
            "id": self.id,
            "source": f"import:{self.system}",
            "reason": self.code,
            "message": self.message,
            "raw": raw,
            "at": at,
        }


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A row as it waits. ``row`` is what was read; empty where a person is done with it."""

    id: str
    source: str
    reason: str
    message: str
    kind: str
    place: str
    source_id: str
    field: str
    row: Mapping[str, Any]
    at: datetime

    @property
    def is_open(self) -> bool:
        return self.reason not in SETTLED


class Quarantine:
    """The quarantined rows of one database."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def page(self, *, limit: int = 50, offset: int = 0) -> tuple[int, list[Quarantined]]:
        """How many rows wait, and a page of them, the newest import first."""
        return self._context.store.read(lambda snapshot: _page(snapshot, limit, offset))

    def get(self, row_id: str) -> Quarantined:
        """Raises ``not_found``."""
        return self._context.store.read(lambda snapshot: _one(snapshot, row_id))

    def settle(self, row_id: str, author: Author, reason: str) -> None:
        """A person is done with a row: ``ACCEPTED`` (its memory is stored) or ``DISCARDED``. Raises
        ``not_found``."""
        with self._context.store.transaction(author, reason, wait=self._context.lock_wait) as transaction:
            found = _one(transaction.snapshot, row_id)
            row = {"id": row_id, "source": found.source, "reason": reason, "message": "", "raw": ""}
            transaction.replace(schema.QUARANTINE, row | {"at": now()})


def _page(snapshot: Snapshot, limit: int, offset: int) -> tuple[int, list[Quarantined]]:
    rows = snapshot.rows(schema.QUARANTINE, columns=["id", "at", "reason"])
    waiting = sorted((row for row in rows if row["reason"] not in SETTLED), key=_newest_first)
    wanted = [row["id"] for row in waiting[offset : offset + limit]]
    return len(waiting), [_one(snapshot, row_id) for row_id in wanted]


def _newest_first(row: Row) -> tuple[float, str]:
    return -row["at"].timestamp(), row["id"]


def _one(snapshot: Snapshot, row_id: str) -> Quarantined:
    rows = snapshot.rows(schema.QUARANTINE, f"id = {quoted(row_id)}")
    if not rows:
        raise MemsuiteError(ErrorCode.NOT_FOUND, "id", "No quarantined row has this id.", received=row_id)
    return quarantined_of(rows[0])


def quarantined_of(row: Row) -> Quarantined:
    kept = json.loads(row["raw"]) if row["raw"] else {}
    return Quarantined(
        id=row["id"],
        source=row["source"],
        reason=row["reason"],
        message=row["message"],
        kind=kept.get("kind", ""),
        place=kept.get("place", ""),
        source_id=kept.get("id", ""),
        field=kept.get("field", ""),
        row=kept.get("row", {}),
        at=row["at"],
    )
