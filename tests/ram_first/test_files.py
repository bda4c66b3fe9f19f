"""What may lie where the database should be, and that nothing there is ever changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_plugin.ram_first_context import search as search_module
from hermes_plugin.ram_first_context.home import has_database
from tests.support.mnemosyne import Mnemosyne

from .conftest import Ask, Notes

NOBODY = 65534
REAL_CONNECT = sqlite3.connect


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def error(rows: list[dict[str, object]]) -> str:
    """The one error of an answer that is nothing else."""
    ((key, message),) = rows[0].items()
    assert (len(rows), key) == (1, "error")
    return str(message)


@pytest.mark.parametrize("query", ["terminal", "termin*", "nothinglikethis", "AND NEAR( : *", "x" * 5000])
def test_a_query_leaves_the_bytes_as_they_were(ask: Ask, notes: Notes, query: str):
    before = digest(notes.database)
    ask(query)
    assert digest(notes.database) == before


def test_a_search_by_substring_leaves_the_bytes_as_they_were(ask: Ask, notes: Notes):
    with closing(sqlite3.connect(notes.database)) as connection:
        connection.execute("DROP TABLE fts_working_data")
        connection.commit()
    before = digest(notes.database)
    assert notes.named(ask("zsh")) == ["terminals"]
    assert digest(notes.database) == before


def test_the_search_has_no_connection_that_could_write(
    ask: Ask, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    monkeypatch.setattr(
        sqlite3, "connect", lambda name, **options: opened.append(name) or REAL_CONNECT(name, **options)
    )
    assert notes.named(ask("terminal")) == ["terminal"]
    (uri,) = opened
    with (
        closing(REAL_CONNECT(uri, uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM working_memory")


def test_rows_that_a_live_writer_still_has_in_its_wal_are_found(ask: Ask, hermes_home: Path, tmp_path: Path):
    with Mnemosyne(hermes_home, journal_mode="wal") as mnemosyne:
        first = mnemosyne.remember("The kettle is on the left shelf.")
        alone = Path(shutil.copy(mnemosyne.database, tmp_path / "without-wal.db"))
        with closing(sqlite3.connect(alone)) as connection:
            assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
        before = digest(mnemosyne.database)
        assert [row["id"] for row in ask("kettle")] == [first]
        second = mnemosyne.remember("Another kettle is in the lab.")
        assert {row["id"] for row in ask("kettle")} == {first, second}
        assert digest(mnemosyne.database) == before


def test_a_writer_in_delete_mode_is_read_between_its_writes(ask: Ask, hermes_home: Path):
    with Mnemosyne(hermes_home, journal_mode="delete") as mnemosyne:
        note = mnemosyne.remember("The kettle is on the left shelf.")
        assert [row["id"] for row in ask("kettle")] == [note]
        mnemosyne.update(note, content="The kettle is broken.")
        assert [row["content"] for row in ask("kettle")] == ["The kettle is broken."]
        assert ask("shelf") == []


def test_a_file_that_stays_locked_is_an_error(ask: Ask, notes: Notes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_module, "LOCK_WAIT", 0.05)
    with closing(sqlite3.connect(notes.database, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        assert "locked" in error(ask("terminal"))
    assert notes.named(ask("terminal")) == ["terminal"]


def test_no_database_is_an_error(ask: Ask, hermes_home: Path):
    assert "no Mnemosyne database" in error(ask("terminal"))
    assert not hermes_home.exists()


def test_a_directory_in_its_place_is_no_database(ask: Ask, database_place: Path):
    database_place.mkdir()
    assert "no Mnemosyne database" in error(ask("terminal"))
    assert not has_database()


def test_a_pipe_in_its_place_is_no_database(ask: Ask, database_place: Path):
    os.mkfifo(database_place)
    assert "no Mnemosyne database" in error(ask("terminal"))


def test_an_empty_file_is_an_error_and_stays_empty(ask: Ask, database_place: Path):
    database_place.touch()
    assert "working_memory" in error(ask("terminal"))
    assert list(database_place.parent.iterdir()) == [database_place]
    assert database_place.stat().st_size == 0


def test_a_file_that_is_no_database_is_an_error(ask: Ask, database_place: Path):
    database_place.write_text("terminal " * 1000)
    assert "not a database" in error(ask("terminal"))


@pytest.mark.parametrize("size", [1, 99, 100, 4095, 4096, 8192])
def test_a_file_truncated_near_its_beginning_is_an_error(ask: Ask, notes: Notes, size: int):
    os.truncate(notes.database, size)
    assert "cannot be read" in error(ask("terminal"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(cut=st.floats(0, 1), damage=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=64))))
def test_any_truncation_and_damage_gives_an_array(
    ask: Ask, made: Notes, notes: Notes, cut: float, damage: list[tuple[float, bytes]]
):
    content = bytearray(made.database.read_bytes())
    for place, garbage in damage:
        start = int(place * (len(content) - len(garbage)))
        content[start : start + len(garbage)] = garbage
    notes.database.write_bytes(content[: int(cut * len(content))])
    before = digest(notes.database)
    for query in ("terminal", "t*", "%"):
        assert all(set(row) == {"error"} or "rank" in row for row in ask(query))
    assert digest(notes.database) == before


@pytest.mark.parametrize(
    "name", ["two blanks", "a#b", "a?mode=rwc", "50%41", "é漢", "a&b=c;d", "line\nbreak", "'\""]
)
def test_any_path_will_do(ask: Ask, made: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    home = tmp_path / name
    folder = home / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    shutil.copy(made.database, folder)
    monkeypatch.setenv("HERMES_HOME", str(home))
    before = set(tmp_path.iterdir())
    assert has_database()
    assert made.named(ask("terminal")) == ["terminal"]
    assert set(tmp_path.iterdir()) == before


def test_a_relative_home_will_do(ask: Ask, notes: Notes, hermes_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(hermes_home.parent)
    monkeypatch.setenv("HERMES_HOME", hermes_home.name)
    assert notes.named(ask("terminal")) == ["terminal"]


def test_a_path_that_no_system_allows_is_no_database(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hermes_plugin.ram_first_context.home.hermes_home", lambda: Path("/a\0b"))
    assert not has_database()
    assert "no Mnemosyne database" in error(ask("terminal"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach too, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def ordinary_user(open_folder: Path) -> Iterator[None]:
    """Not root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("locked", ["mnemosyne.db", "."], ids=["the file", "its folder"])
def test_what_may_not_be_read_is_an_error(
    ask: Ask,
    made: Notes,
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    locked: str,
):
    folder = open_folder / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    shutil.copy(made.database, folder)
    monkeypatch.setenv("HERMES_HOME", str(open_folder))
    (folder / locked).chmod(0)
    request.getfixturevalue("ordinary_user")
    assert "cannot be read" in error(ask("terminal"))


def test_values_that_json_lacks_are_replaced(ask: Ask, notes: Notes):
    with closing(sqlite3.connect(notes.database)) as connection:
        connection.execute(
            """UPDATE working_memory SET importance = 9e999, source = x'ff41',
               metadata_json = CAST(x'fe42' AS TEXT) WHERE id = ?""",
            (notes.ids["terminal"],),
        )
        connection.commit()
    (row,) = ask("terminal")
    assert (row["importance"], row["source"], row["metadata_json"]) == (None, "\ufffdA", "\ufffdB")
