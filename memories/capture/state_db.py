"""What people wrote to the assistant, out of Hermes' own history: read, and never written to.

`$HERMES_HOME/state.db` is SQLite in WAL mode. `content` is what was said; `api_content`, which also holds the
memory that was pushed beside it, is not read. Rows with `active = 0` were taken back by the person or
replaced by a summary. Facts about the file are from Hermes 0.19 (schema 22); a column that an older file
lacks is not asked for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError

# What Hermes puts before content that is a list of parts (text and images) rather than text.
_PARTS = "\x00json:"

# Sessions in which nobody speaks but programs.
_NOBODY = ("cron", "subagent", "batch", "flush")

# Columns of a session that tell whose words its messages are, and the chats of one person with the agent.
_WHOSE = ("user_id", "chat_id", "chat_type")
_ALONE = ("dm", "direct", "private")

_BUSY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Message:
    """What a person wrote, with the assistant's last answer before it in the session ("" for none)."""

    id: int
    session_id: str
    user_id: str
    platform: str
    text: str
    after: str
    at: datetime


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which of the columns that came later this file has."""

    active: bool
    observed: bool
    session: frozenset[str]


def user_messages(path: Path, *, since: datetime | None = None) -> Iterator[Message]:
    """The active messages of people, session by session in their order; with ``since`` those from then on.

    Raises ``store_unavailable`` where the file is not one of Hermes', or cannot be read.
    """
    try:
        with _opened(path) as connection:
            yield from _messages(connection, since)
    except sqlite3.Error as error:
        raise _unreadable(path, str(error)) from error


def count_messages(path: Path) -> int:
    """How many messages there are to read, for a progress line."""
    try:
        with _opened(path) as connection:
            row = connection.execute("SELECT count(*) FROM messages WHERE role = 'user'").fetchone()
    except sqlite3.Error as error:
        raise _unreadable(path, str(error)) from error
    return int(row[0])


def _messages(connection: sqlite3.Connection, since: datetime | None) -> Iterator[Message]:
    columns = _columns(connection)
    session, answer = "", ""
    for row in connection.execute(_query(columns)):
        if row["session_id"] != session:
            session, answer = row["session_id"], ""
        text = _text(row["content"])
        if row["role"] == "assistant":
            # An answer that only calls a tool has no words; the one before it is what was said.
            answer = text or answer
            continue
        at = datetime.fromtimestamp(row["timestamp"] or 0.0, UTC)
        if text and (since is None or at >= since):
            yield Message(row["id"], session, _owner(row), row["source"] or "", text, answer, at)


def _query(columns: _Columns) -> str:
    known = (f"s.{name}" if name in columns.session else f"'' AS {name}" for name in _WHOSE)
    nobody = ", ".join(f"'{source}'" for source in _NOBODY)
    conditions = [
        "m.role IN ('user', 'assistant')",
        f"coalesce(s.source, '') NOT IN ({nobody})",
        *(["m.active = 1"] if columns.active else []),
        # Overheard in a group, and not said to the assistant.
        *(["coalesce(m.observed, 0) = 0"] if columns.observed else []),
    ]
    return (
        f"SELECT m.id, m.session_id, m.role, m.content, m.timestamp, s.source, {', '.join(known)} "
        f"FROM messages AS m LEFT JOIN sessions AS s ON s.id = m.session_id "
        f"WHERE {' AND '.join(conditions)} ORDER BY m.session_id, m.id"
    )


def _columns(connection: sqlite3.Connection) -> _Columns:
    messages = {row["name"] for row in connection.execute("PRAGMA table_info(messages)")}
    sessions = {row["name"] for row in connection.execute("PRAGMA table_info(sessions)")}
    if missing := {"session_id", "role", "content", "timestamp"} - messages:
        raise sqlite3.DatabaseError(f"no column {sorted(missing)[0]} in messages")
    return _Columns("active" in messages, "observed" in messages, frozenset(sessions))


def _owner(row: sqlite3.Row) -> str:
    """Whose words these are, named as the plugin names it when it files a turn: a group is a person of its
    own, and where only the chat is known, the chat stands for the person."""
    user, chat, kind = (str(row[name] or "") for name in _WHOSE)
    is_group = kind not in _ALONE if kind else bool(chat)
    if is_group:
        return f"group:{row['source']}:{chat}"
    return user if user or not chat else f"chat:{row['source']}:{chat}"


def _text(content: object) -> str:
    """The words of a message; of one in parts the texts, without images."""
    if not isinstance(content, str):
        return ""
    if not content.startswith(_PARTS):
        return content.strip()
    try:
        parts = json.loads(content[len(_PARTS) :])
    except ValueError:
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ()
    return "\n".join(text.strip() for text in texts if isinstance(text, str))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise _unreadable(path, "there is no such file")
    # as_uri, since `#` and `?` in a plain path would name another file, and create it.
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def _unreadable(path: Path, why: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "state_db",
        f"Hermes' history cannot be read: {why}. Name it with --state-db, or leave it out with "
        "--no-state-db.",
        received=str(path),
    )
