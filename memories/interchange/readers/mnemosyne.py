"""Mnemosyne's SQLite file, read-only: working memory and facts as turns, or as memories where a row has
the canonical form."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.items import Item, MemoryItem, MisfitItem, Note, TurnItem
from memories.interchange.old_facts import old_text
from memories.interchange.readers import values
from memories.interchange.readers.base import ForeignReader
from memories.interchange.systems import System

FILE = "mnemosyne.db"
IN_HOME = ("mnemosyne/data/mnemosyne.db", "data/mnemosyne.db", FILE)

_WORKING = "SELECT * FROM working_memory ORDER BY timestamp, id"
_FACTS = "SELECT * FROM facts ORDER BY timestamp, fact_id"
_CATEGORIES = {"preference": "user_pref", "instruction": "user_pref", "decision": "decision"}


class MnemosyneReader(ForeignReader):
    """``path`` is the file, or a directory that holds it as a Hermes home does."""

    def __init__(self, path: Path) -> None:
        self._path = _file(path)
        self._now = datetime.now(UTC)

    @property
    def total(self) -> int:  # type: ignore[override]
        with _opened(self._path) as connection:
            return sum(
                int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for table in _tables(connection)
            )

    def items(self) -> Iterator[Item]:
        with _opened(self._path) as connection:
            tables = _tables(connection)
            if "working_memory" in tables:
                for row in connection.execute(_WORKING):
                    yield from self._working(dict(row))
            if "facts" in tables:
                for row in connection.execute(_FACTS):
                    yield self._fact(dict(row))

    def _working(self, row: Mapping[str, Any]) -> Iterator[Item]:
        place = f"working_memory {row.get('id')}"
        try:
            name, text = (
                values.identifier(row.get("id")),
                values.text_of(row.get("content"), "content").strip(),
            )
            ended = self._ended(row)
            if ended is not None:
                yield Note("superseded or expired rows kept as trashed turns")
            memory = None if ended else _memory(place, name, text, row)
            if memory is not None:
                yield memory
            elif text:
                yield TurnItem(place, name, text, _columns(row, text, ended))
            else:
                raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "content", "The row holds no text.")
        except MemsuiteError as error:
            yield MisfitItem(place, "turn", str(row.get("id") or ""), error, values.plain(row))

    def _ended(self, row: Mapping[str, Any]) -> datetime | None:
        """Since when a row is no longer true: superseded, or past its time."""
        until = _time(row.get("valid_until"), "valid_until")
        if row.get("superseded_by"):
            return until or _time(row.get("timestamp"), "timestamp") or self._now
        return until if until is not None and until <= self._now else None

    def _fact(self, row: Mapping[str, Any]) -> Item:
        place = f"facts {row.get('fact_id')}"
        try:
            parts = [
                values.text_of(row.get(name), name).strip() for name in ("subject", "predicate", "object")
            ]
            name = values.identifier(row.get("fact_id"), "fact_id")
            text = " ".join(part for part in parts if part)
            if not text:
                raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "object", "The row holds no text.")
            columns = _columns(row, text, None) | {"room": "facts"}
            columns["trust"] = values.number(row.get("confidence"), "confidence", 0.0, 1.0, 0.5)
            return TurnItem(place, name, text, columns)
        except MemsuiteError as error:
            return MisfitItem(place, "turn", str(row.get("fact_id") or ""), error, values.plain(row))


def _memory(place: str, name: str, text: str, row: Mapping[str, Any]) -> MemoryItem | None:
    try:
        parsed = old_text(text)
    except MemsuiteError:
        return None
    made_at = _time(row.get("timestamp"), "timestamp")
    return MemoryItem(
        place=place,
        id=name,
        payload={
            "domain": parsed.domain,
            "subject": parsed.subject,
            "facts": list(parsed.facts),
            "tier": int(parsed.tier),
            "category": _CATEGORIES.get(str(row.get("memory_type")), "fact"),
            "relations": [relation.as_dict() for relation in parsed.relations],
            "quality": values.number(row.get("importance"), "importance", 0.0, 1.0, 0.5),
        },
        created_at=made_at,
        updated_at=made_at,
        session_id=values.text_of(row.get("session_id")),
        user_id=values.text_of(row.get("author_id")),
        original=values.plain(row),
        recalls=int(values.number(row.get("recall_count"), "recall_count", 0, 2**53, 0)),
        recalled_at=_time(row.get("last_recalled"), "last_recalled"),
    )


def _columns(row: Mapping[str, Any], text: str, ended: datetime | None) -> dict[str, Any]:
    said_at = _time(row.get("timestamp"), "timestamp") or _time(row.get("created_at"), "created_at")
    return {
        "kind": "exchange",
        "user_text": text,
        "assistant_text": "",
        "wing": "general",
        "room": str(row.get("source") or "conversations")[: values.ID_MAX],
        "session_id": values.text_of(row.get("session_id")),
        "user_id": values.text_of(row.get("author_id")),
        "source": f"import:{System.MNEMOSYNE}",
        "occurred_at": said_at,
        "last_seen_at": _time(row.get("last_recalled"), "last_recalled") or said_at,
        "seen_count": 1,
        "trashed_at": ended,
    }


def _time(value: Any, field: str) -> datetime | None:
    return values.iso_time(value, field) if isinstance(value, str) else values.seconds(value, field)


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    found = next((path / name for name in IN_HOME if (path / name).is_file()), None)
    if found is None:
        raise _unreadable(path)
    return found


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Read-only. A file that nobody has open is read without the files that reading beside a writer
    leaves; one with a log is read with it."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or not log.stat().st_size:
        address += "&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as error:
        raise _unreadable(path) from error


def _tables(connection: sqlite3.Connection) -> list[str]:
    known = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('working_memory', 'facts')"
    found = [str(row[0]) for row in connection.execute(known)]
    if not found:
        raise sqlite3.DatabaseError("no table of Mnemosyne")
    return found


def _unreadable(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER, "source", "This is no database of Mnemosyne.", received=str(path)
    )
