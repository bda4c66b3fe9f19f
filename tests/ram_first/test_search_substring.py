"""Search without a usable index: by substring, ordered by importance."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from .conftest import Ask, Notes

BROKEN = {
    "missing": "DROP TABLE fts_working",
    "without its data": "DROP TABLE fts_working_data",
    # 1 and 10 are FTS5's own records; the words are behind them.
    "with damaged data": "UPDATE fts_working_data SET block = x'00ff' WHERE id > 10",
    "without its rows": "DELETE FROM fts_working_content",
    "of another kind": "DROP TABLE fts_working; CREATE TABLE fts_working (id, content, rank)",
}


def change(notes: Notes, script: str) -> None:
    with closing(sqlite3.connect(notes.database)) as connection:
        connection.executescript(script)


@pytest.fixture
def unindexed(notes: Notes) -> Notes:
    change(notes, BROKEN["missing"])
    return notes


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_index_is_done_without(ask: Ask, notes: Notes, broken: str):
    change(notes, broken)
    rows = ask("bench serial")
    assert notes.named(rows) == ["terminal"]
    assert rows[0]["rank"] == 0


def test_every_term_must_be_somewhere(ask: Ask, unindexed: Notes):
    assert unindexed.named(ask("console bench")) == ["terminal"]
    assert ask("console zsh") == []


def test_the_most_important_comes_first(ask: Ask, unindexed: Notes):
    assert unindexed.named(ask("the")) == ["terminal", "cafe", "river"]


def test_of_equally_important_ones_the_newest_comes_first(ask: Ask, unindexed: Notes):
    change(unindexed, "UPDATE working_memory SET importance = 0.5")
    for name, year in {"cafe": 2031, "river": 2001}.items():
        dated = f"UPDATE working_memory SET timestamp = '{year}-01-01T00:00:00'"
        change(unindexed, f"{dated} WHERE id = '{unindexed.ids[name]}'")
    assert unindexed.named(ask("the")) == ["cafe", "terminal", "river"]


def test_a_note_without_importance_comes_last(ask: Ask, unindexed: Notes):
    change(unindexed, f"UPDATE working_memory SET importance = NULL WHERE id = '{unindexed.ids['terminal']}'")
    assert unindexed.named(ask("the")) == ["cafe", "river", "terminal"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("50%", ["discount"]),
        ("5%0", []),
        ("%", ["discount"]),
        ("server_01", ["discount"]),
        ("serverX01", []),
        ("server-01", []),
        ("r_n", []),
        ("C:\\srv\\x", ["discount"]),
        ("\\", ["discount"]),
        ("NEAR(the", ["river"]),
        ('"left', ["river"]),
        ("漢", ["cafe"]),
        ("🧪", ["cafe"]),
        ("SMØRBRØD", ["cafe"]),
    ],
)
def test_every_character_is_itself(ask: Ask, unindexed: Notes, query: str, found: list[str]):
    assert unindexed.named(ask(query)) == found


def test_a_trailing_star_is_dropped(ask: Ask, unindexed: Notes):
    assert unindexed.named(ask("termin*")) == ["terminal", "terminals"]


def test_a_star_alone_finds_nothing(ask: Ask, unindexed: Notes):
    assert ask("*") == []


def test_the_limit_holds(ask: Ask, unindexed: Notes):
    assert unindexed.named(ask("the", limit=2)) == ["terminal", "cafe"]
