from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memories.capture.state_db import count_messages, user_messages
from memories.contract import ErrorCode, MemsuiteError

from .made_up_history import FIRST, KARI, TOM, write_history

WRITTEN = sum(len(talk) for talk in (*TOM, *KARI))


@pytest.fixture
def history(tmp_path: Path) -> Path:
    folder = tmp_path / "odd # name?"
    folder.mkdir()
    return write_history(folder / "state.db")


def test_every_message_of_a_person_is_read_with_the_answer_before_it(history: Path):
    found = list(user_messages(history))
    assert len(found) == WRITTEN
    written = {(one.user_id, one.platform, one.after, one.text) for one in found}
    for user, platform, talks in (("kari", "telegram", KARI), ("tom", "cli", TOM)):
        assert {(user, platform, *exchange) for talk in talks for exchange in talk} <= written


def test_what_was_taken_back_overheard_or_said_by_programs_is_left_out(history: Path):
    said = " ".join(message.text for message in user_messages(history))
    assert not any(word in said for word in ("taken back", "overheard", "moon", "tool's words"))


def test_what_was_pushed_beside_the_words_is_not_read(history: Path):
    assert not any("memory-context" in message.text for message in user_messages(history))


def test_since_leaves_out_what_is_older(history: Path):
    since = datetime.fromtimestamp(FIRST, UTC) + timedelta(days=1)
    assert len(list(user_messages(history, since=since))) == WRITTEN - len(TOM[0])


def test_reading_leaves_the_file_as_it_is(history: Path):
    before = history.read_bytes()
    list(user_messages(history))
    assert history.read_bytes() == before


def test_messages_in_parts_are_read_by_their_texts(history: Path):
    with closing(sqlite3.connect(history)) as connection, connection:
        parts = '\x00json:[{"type": "text", "text": "No, use pnpm."}, {"type": "image_url"}]'
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('tom-0', 'user', ?, ?)",
            (parts, FIRST),
        )
    assert "No, use pnpm." in [message.text for message in user_messages(history)]


def test_an_older_history_without_later_columns_is_read(tmp_path: Path):
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE sessions (id TEXT, source TEXT);"
            "CREATE TABLE messages "
            "(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);"
            "INSERT INTO messages VALUES (1, 's', 'user', 'Hello', 0);"
        )
    (message,) = user_messages(path)
    assert (message.text, message.user_id) == ("Hello", "")


@pytest.mark.parametrize("content", [b"", b"no database", None])
def test_what_is_no_history_is_named(tmp_path: Path, content: bytes | None):
    path = tmp_path / "state.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MemsuiteError) as caught:
        list(user_messages(path))
    assert caught.value.code is ErrorCode.STORE_UNAVAILABLE
    assert path.exists() is (content is not None)


def test_messages_are_counted_for_the_progress_line(history: Path):
    assert count_messages(history) > WRITTEN


@pytest.mark.parametrize(
    ("chat_id", "chat_type", "owner"),
    [
        (None, None, "tom"),
        ("7", "dm", "tom"),
        ("-9", "group", "group:telegram:-9"),
        ("-9", None, "group:telegram:-9"),
    ],
)
def test_words_in_a_group_belong_to_the_group(
    history: Path, chat_id: str | None, chat_type: str | None, owner: str
):
    with closing(sqlite3.connect(history)) as connection, connection:
        connection.execute(
            "INSERT INTO sessions (id, source, user_id, chat_id, chat_type, started_at) "
            "VALUES ('here', 'telegram', 'tom', ?, ?, 0)",
            (chat_id, chat_type),
        )
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('here', 'user', 'Hello', 0)"
        )
    (said,) = (message for message in user_messages(history) if message.session_id == "here")
    assert said.user_id == owner
