"""Search by the index of a database made by the real package, in both journal modes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import NOTES, Ask, Notes

WORDS = sorted({word.lower() for note in NOTES.values() for word in re.findall("[A-Za-z]+", note["content"])})


def test_a_row_has_these_fields_and_the_stored_values(ask: Ask, notes: Notes):
    (row,) = ask("serial console")
    note = NOTES["terminal"]
    assert list(row) == [
        *("id", "content", "source", "importance", "timestamp", "memory_type", "metadata_json", "rank")
    ]
    assert (row["id"], row["content"], row["source"]) == (notes.ids["terminal"], note["content"], "user")
    assert row["importance"] == 0.9
    assert json.loads(row["metadata_json"]) == note["metadata"]
    assert row["rank"] < 0


def test_every_term_must_match(ask: Ask, notes: Notes):
    assert notes.named(ask("on 16")) == ["deploy"]
    assert ask("thursday umbrella") == []


def test_a_word_is_not_found_inside_another(ask: Ask, notes: Notes):
    assert notes.named(ask("terminal")) == ["terminal"]


def test_a_trailing_star_finds_what_begins_so(ask: Ask, notes: Notes):
    assert sorted(notes.named(ask("termin*"))) == ["terminal", "terminals"]


def test_a_star_alone_finds_nothing(ask: Ask, notes: Notes):
    assert ask("*") == []


def test_best_rank_comes_first(ask: Ask, notes: Notes):
    ranks = [row["rank"] for row in ask("the*")]
    assert len(ranks) > 1
    assert ranks == sorted(ranks)


def test_an_updated_note_is_found_by_its_new_words_alone(ask: Ask, notes: Notes):
    assert notes.named(ask("thursday")) == ["deploy"]
    assert ask("monday") == []


def test_a_forgotten_note_is_gone(ask: Ask, notes: Notes):
    assert ask("umbrella") == []


def test_rows_are_joined_on_id_although_the_index_has_other_rowids(ask: Ask, notes: Notes):
    with closing(sqlite3.connect(notes.database)) as connection:
        in_index = dict(connection.execute("SELECT id, rowid FROM fts_working"))
        in_table = dict(connection.execute("SELECT id, rowid FROM working_memory"))
    assert in_index[notes.ids["deploy"]] != in_table[notes.ids["deploy"]]
    (row,) = ask("deploys")
    assert (row["id"], row["content"]) == (
        notes.ids["deploy"],
        "Deploys happen on Thursday: never after 16:00.",
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("AND gate", ["terminal"]),
        ("zsh AND upstairs", []),
        ("NEAR(the", ["river"]),
        ("river):", ["river"]),
        ('"left', ["river"]),
        ("content:river", []),
        ("^river", ["river"]),
        ("-river", ["river"]),
        ("river OR zsh", []),
        ("NOT river", []),
        ("wait*", ["river"]),
        ("wait**", ["river"]),
        ('wait"*', ["river"]),
        ("50%", ["discount"]),
        ("server_01", ["discount"]),
        ("C:\\srv\\x.", ["discount"]),
        ("16:00", ["deploy"]),
        ("(((", []),
        ('"', []),
        ("'; DROP TABLE working_memory; --", []),
        ("terminal\0serial", ["terminal"]),
        ("terminal\ud800", ["terminal"]),
        ("漢字", ["cafe"]),
        ("cafe RESUME", ["cafe"]),
        ("smørbrød", ["cafe"]),
    ],
)
def test_what_looks_like_syntax_is_words(ask: Ask, notes: Notes, query: str, found: list[str]):
    assert sorted(notes.named(ask(query))) == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the database is only read
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_exactly_the_notes_with_all_the_words_are_found(ask: Ask, notes: Notes, words: list[str]):
    with closing(sqlite3.connect(notes.database)) as connection:
        stored = connection.execute("SELECT id, content FROM working_memory").fetchall()
    expected = {
        note_id for note_id, content in stored if set(words) <= set(re.findall(r"[^\W_]+", _folded(content)))
    }
    assert {row["id"] for row in ask(" ".join(words), limit=50)} == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the database is only read
@given(query=st.text(st.characters(), max_size=200))
def test_no_query_is_an_error(ask: Ask, notes: Notes, query: str):
    assert all("error" not in row for row in ask(query))


def _folded(text: str) -> str:
    """As the index folds the letters of NOTES."""
    return text.lower().translate(str.maketrans("éåû", "eau"))
