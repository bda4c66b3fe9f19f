"""The chain of the audit history: every row carries a keyed hash over itself and the row before.

Two tables share one chain and one row of positions without gaps. ``head`` names the last row under a
seal of the same key, so that a row taken from the end is missed as well.

Values are hashed as SQLite holds them, and every statement here is plain SQL: between what is hashed
and what is stored stands no conversion.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

Value = str | int | None
SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class ChainedTable:
    """``columns`` are all but ``position``, which comes first, and ``mac``, which comes last."""

    name: str
    columns: tuple[str, ...]

    @property
    def selection(self) -> str:
        return f"SELECT position, {', '.join(self.columns)}, mac FROM {self.name} ORDER BY position"

    @property
    def insertion(self) -> str:
        marks = ", ".join(["%s"] * (len(self.columns) + 2))
        return f"INSERT INTO {self.name} (position, {', '.join(self.columns)}, mac) VALUES ({marks})"


EVENTS = ChainedTable(
    "memories_audit_event",
    (
        "operation_id",
        "at",
        "actor",
        "user_id",
        "address",
        "process",
        "action",
        "undoes",
        "ids",
        "ids_total",
        "ids_digest",
        "text_digest",
    ),
)
COMPLETIONS = ChainedTable(
    "memories_audit_completion",
    ("event_id", "at", "result", "code", "changed", "unchanged", "refused", "stored", "recovered"),
)
CHAINED = (EVENTS, COMPLETIONS)
PAYLOADS = "memories_audit_payload"
HEAD = "memories_audit_head"


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the chain."""

    position: int = 0
    mac: str = ""


class Cursor(Protocol):
    """The part of a Django cursor that is used here."""

    def execute(self, sql: str, params: Any = ..., /) -> Any: ...
    def fetchone(self) -> Any: ...


def chain_key(secret: str) -> bytes:
    """The key of the chain, derived from the installation's secret; no other use of it shares it."""
    return hmac.digest(secret.encode(), b"memsuite audit chain 1", hashlib.sha256)


def append(cursor: Cursor, key: bytes, table: ChainedTable, values: Mapping[str, Value]) -> Link:
    """Write a row at the end, inside the caller's transaction, which holds the write lock.

    Where the head is gone or its seal is broken the row is linked to nothing, so that going on never
    covers up what was done to the rows before it: the check finds this one.
    """
    head = _head(cursor, key)
    position = _last_position(cursor) + 1
    row = (position, *(values[name] for name in table.columns))
    made = Link(position, mac_of(key, head.mac, table, row))
    cursor.execute(table.insertion, (*row, made.mac))
    cursor.execute(
        f"INSERT INTO {HEAD} (id, position, mac, seal) VALUES (1, %s, %s, %s) ON CONFLICT (id) DO UPDATE "
        "SET position = excluded.position, mac = excluded.mac, seal = excluded.seal",
        (made.position, made.mac, seal_of(key, made)),
    )
    return made


def add_payload(cursor: Cursor, event: int, part: str, salt: str, body: str) -> None:
    cursor.execute(
        f"INSERT INTO {PAYLOADS} (event_id, part, salt, body) VALUES (%s, %s, %s, %s)",
        (event, part, salt, body),
    )


def mac_of(key: bytes, previous: str, table: ChainedTable, row: Sequence[Value]) -> str:
    """The keyed hash of a row (position first, without its own hash) after the row before it."""
    return _keyed(key, ["row", previous, table.name, *row])


def seal_of(key: bytes, link: Link) -> str:
    return _keyed(key, ["head", link.position, link.mac])


def digest_of(salt: str, body: str) -> str:
    """The hash of a payload. Salted, so that a blanked text cannot be found again by guessing."""
    return hashlib.sha256(_bytes([salt, body])).hexdigest()


def new_salt() -> str:
    return secrets.token_hex(SALT_BYTES)


def stamp(moment: datetime) -> str:
    """A time as Django keeps it in SQLite: UTC with microseconds, sortable as text."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"


def _head(cursor: Cursor, key: bytes) -> Link:
    cursor.execute(f"SELECT position, mac, seal FROM {HEAD} WHERE id = 1")
    found = cursor.fetchone()
    if found is None:
        return Link()
    link = Link(found[0], found[1])
    return link if hmac.compare_digest(found[2].encode(), seal_of(key, link).encode()) else Link()


def _last_position(cursor: Cursor) -> int:
    ends = " UNION ALL ".join(
        f"SELECT max(position) p FROM {name}" for name in (EVENTS.name, COMPLETIONS.name)
    )
    cursor.execute(f"SELECT max(p) FROM ({ends} UNION ALL SELECT position FROM {HEAD})")
    return int(cursor.fetchone()[0] or 0)


def _keyed(key: bytes, values: list[Value]) -> str:
    return hmac.digest(key, _bytes(values), hashlib.sha256).hex()


def _bytes(values: Sequence[Value]) -> bytes:
    # Surrogates stand for bytes that are no UTF-8, which only a damaged file holds.
    # So do values of another kind than these columns hold; repr tells them from any text.
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=lambda odd: [repr(odd)])
    return text.encode("utf-8", "surrogatepass")
