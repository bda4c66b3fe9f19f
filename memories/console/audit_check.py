"""Reads an audit history from its file and says what is not as it was written.

Found are a changed byte, a missing row (the last one too), rows that changed places, rows that nobody
with the key wrote, payloads that differ or were blanked without a record. Not found, by anything in the
file: a whole file and its note exchanged together for older ones. For that, keep the end of the history
that the check prints somewhere else, and hand it to a later check.
"""

from __future__ import annotations

import heapq
import hmac
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from memories.console.audit_chain import (
    CHAINED,
    EVENTS,
    HEAD,
    PAYLOADS,
    ChainedTable,
    Link,
    digest_of,
    mac_of,
    seal_of,
)

BLANK_ACTION = "blank_payloads"
"""The action of the event that records which payloads were blanked."""

_GUARDED = {
    EVENTS.name: ("update", "delete", "insert"),
    CHAINED[1].name: ("update", "delete", "insert"),
    PAYLOADS: ("update", "delete", "insert"),
    HEAD: ("update", "delete"),
}


class Wrong(StrEnum):
    """What can be wrong with a history."""

    CHANGED = "changed"
    MISSING = "missing"
    SURPLUS = "surplus"
    CUT = "cut"
    UNSEALED = "unsealed"
    PAYLOAD = "payload"
    UNGUARDED = "unguarded"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Fault:
    """``position`` is the row's place in the chain, 0 where the fault has none."""

    kind: Wrong
    says: str
    position: int = 0


@dataclass(slots=True)
class Checked:
    """``rows`` were read, ``end`` is the last of them, ``blanked`` payloads were blanked by a purge."""

    rows: int = 0
    end: Link = field(default_factory=Link)
    blanked: int = 0
    faults: list[Fault] = field(default_factory=list)

    def add(self, kind: Wrong, says: str, position: int = 0) -> None:
        self.faults.append(Fault(kind, says, position))


def check(file: Path, key: bytes, anchors: Sequence[Link] = ()) -> Checked:
    """Check the history in a console's database. ``anchors`` are rows known to have been in it.

    The file is only read. One without a history is sound where nothing says that there was one.
    """
    checked = Checked()
    try:
        with closing(_opened(file)) as connection:
            connection.execute("BEGIN")
            if not _has_history(connection):
                return nothing_at_all(anchors)
            _check_structure(connection, checked)
            wanted = {anchor.position for anchor in anchors}
            seen = _check_chain(connection, key, checked, wanted)
            _check_head(connection, key, checked)
            _miss_anchors(checked, anchors, seen)
            _check_payloads(connection, checked)
    except sqlite3.DatabaseError as error:
        checked.add(Wrong.DAMAGED, f"The file cannot be read to its end ({error}).")
    return checked


def nothing_at_all(anchors: Sequence[Link]) -> Checked:
    """What is to be said where there is no database."""
    checked = Checked()
    _miss_anchors(checked, anchors, {})
    return checked


def _opened(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    # Bytes that are no UTF-8 are to be found as a change, not to end the check.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


def _has_history(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (EVENTS.name,)).fetchone()
    return found is not None


def _check_structure(connection: sqlite3.Connection, checked: Checked) -> None:
    for table, changes in _GUARDED.items():
        for (said,) in connection.execute(f"PRAGMA integrity_check('{table}')"):
            if said != "ok":
                checked.add(Wrong.DAMAGED, f"{table}: {said}.")
        kept = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        present = {name for (name,) in connection.execute(kept, (table,))}
        for change in changes:
            if f"{table}_{change}" not in present:
                checked.add(Wrong.UNGUARDED, f"The trigger that refuses {change} of {table} is gone.")


def _check_chain(
    connection: sqlite3.Connection, key: bytes, checked: Checked, wanted: set[int]
) -> dict[int, str]:
    """Follow the chain from its first row; returns the hashes at the wanted positions."""
    seen: dict[int, str] = {}
    for table, row in _rows(connection):
        *values, mac = row
        position = int(values[0])
        expected = checked.end.position + 1
        if position < expected:
            checked.add(Wrong.SURPLUS, f"Row {position} is there twice.", position)
        elif position > expected:
            checked.add(Wrong.MISSING, _gap(expected, position - 1), expected)
        if position == expected and not _same(mac, mac_of(key, checked.end.mac, table, values)):
            checked.add(Wrong.CHANGED, f"Row {position} or its place is not as it was written.", position)
        checked.rows += 1
        checked.end = Link(position, str(mac))
        if position in wanted:
            seen[position] = str(mac)
    return seen


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[ChainedTable, Sequence[Any]]]:
    def of(table: ChainedTable) -> Iterator[tuple[int, ChainedTable, Sequence[Any]]]:
        for row in connection.execute(table.selection):
            yield row[0], table, row

    for _, table, row in heapq.merge(*map(of, CHAINED), key=lambda found: found[0]):
        yield table, row


def _gap(first: int, last: int) -> str:
    return f"Row {first} is missing." if first == last else f"Rows {first} to {last} are missing."


def _check_head(connection: sqlite3.Connection, key: bytes, checked: Checked) -> None:
    found = connection.execute(f"SELECT position, mac, seal FROM {HEAD} WHERE id = 1").fetchone()
    if found is None:
        if checked.rows:
            checked.add(Wrong.UNSEALED, "The seal over the last row is gone.")
        return
    head = Link(found[0], str(found[1]))
    if not _same(found[2], seal_of(key, head)):
        checked.add(Wrong.UNSEALED, "The seal over the last row is not of this installation's key.")
    elif head.position > checked.end.position:
        checked.add(Wrong.MISSING, _gap(checked.end.position + 1, head.position), checked.end.position + 1)
    elif head != checked.end:
        checked.add(Wrong.SURPLUS, "The history goes on after the row that is sealed as its last.")


def _miss_anchors(checked: Checked, anchors: Iterable[Link], seen: dict[int, str]) -> None:
    for anchor in anchors:
        if seen.get(anchor.position) != anchor.mac:
            checked.add(
                Wrong.CUT,
                f"Row {anchor.position}, noted outside the database, is not in it: it was emptied, cut short "
                "or exchanged for another copy.",
                anchor.position,
            )


def _check_payloads(connection: sqlite3.Connection, checked: Checked) -> None:
    recorded = _recorded_blankings(connection)
    query = (
        f"SELECT e.position, p.part, p.salt, p.body, p.blanked_at, e.ids_digest, e.text_digest "
        f"FROM {PAYLOADS} p LEFT JOIN {EVENTS.name} e ON e.position = p.event_id ORDER BY p.event_id, p.part"
    )
    kept: set[tuple[int, str]] = set()
    for position, part, salt, body, blanked_at, ids_digest, text_digest in connection.execute(query):
        if position is None:
            checked.add(Wrong.PAYLOAD, "A payload belongs to no event.")
            continue
        kept.add((position, part))
        if blanked_at is not None:
            checked.blanked += 1
            if position not in recorded or salt or body:
                checked.add(
                    Wrong.PAYLOAD, f"The {part} of row {position}: blanked, but on no record.", position
                )
        elif digest_of(salt, body) != (ids_digest if part == "ids" else text_digest):
            checked.add(Wrong.PAYLOAD, f"The {part} of row {position}: not as written.", position)
    _miss_payloads(connection, checked, kept)


def _miss_payloads(connection: sqlite3.Connection, checked: Checked, kept: set[tuple[int, str]]) -> None:
    query = f"SELECT position, ids_digest, text_digest FROM {EVENTS.name}"
    for position, ids_digest, text_digest in connection.execute(query):
        for part, digest in (("ids", ids_digest), ("text", text_digest)):
            if digest and (position, part) not in kept:
                checked.add(Wrong.PAYLOAD, f"The {part} of row {position}: missing.", position)


def _recorded_blankings(connection: sqlite3.Connection) -> set[int]:
    query = (
        f"SELECT p.body FROM {PAYLOADS} p JOIN {EVENTS.name} e ON e.position = p.event_id "
        "WHERE e.action = ? AND p.part = 'text' AND p.blanked_at IS NULL"
    )
    found: set[int] = set()
    for (body,) in connection.execute(query, (BLANK_ACTION,)):
        try:
            found.update(json.loads(body)["parameters"]["positions"])
        except (ValueError, KeyError, TypeError):
            continue  # its digest does not fit either, and that is said
    return found


def _same(stored: object, computed: str) -> bool:
    return hmac.compare_digest(str(stored).encode("utf-8", "surrogatepass"), computed.encode())
