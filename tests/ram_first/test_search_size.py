"""Queries far beyond what a model asks: answered like any other, in time that does not grow with them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_plugin.ram_first_context import search as search_module
from tests.support.mnemosyne import Mnemosyne

from .conftest import Ask, Notes

HUGE = 100_000


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("x" * HUGE, id="one word"),
        pytest.param("the." * (HUGE // 4), id="one word of frequent tokens"),
        pytest.param('"' * HUGE, id="quotes"),
        pytest.param(" ".join(f"w{n}" for n in range(HUGE // 6)), id="distinct words"),
        pytest.param(" ".join(f"w{n}*" for n in range(HUGE // 7)), id="distinct prefixes"),
        pytest.param("漢 " * (HUGE // 2) + "x", id="two words, one repeated"),
        pytest.param("\0" * HUGE, id="NUL"),
    ],
)
def test_a_huge_query_is_answered(ask: Ask, notes: Notes, query: str):
    assert ask(query) == []


def test_a_frequent_word_repeated_a_hundred_kilobytes_long_finds_its_note(ask: Ask, notes: Notes):
    assert notes.named(ask("zsh " * (HUGE // 4))) == ["terminals"]


def test_what_is_too_long_for_the_index_is_found_by_substring(ask: Ask, hermes_home: Path):
    line = " ".join(f"step{n}" for n in range(search_module.MAX_INDEX_TERMS + 1))
    with Mnemosyne(hermes_home) as mnemosyne:
        long_note = mnemosyne.remember(f"The procedure: {line}.")
        mnemosyne.remember("The procedure: step1 step2.")
    assert [(row["id"], row["rank"]) for row in ask(line)] == [(long_note, 0)]


def test_a_search_past_its_deadline_is_given_up(
    ask: Ask, database_place: Path, monkeypatch: pytest.MonkeyPatch
):
    with closing(sqlite3.connect(database_place)) as connection:
        connection.executescript(
            """CREATE TABLE working_memory
               (id, content, source, importance, timestamp, memory_type, metadata_json);
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
               INSERT INTO working_memory(id, content) SELECT i, 'note ' || i FROM n"""
        )
    assert len(ask("note")) == 5
    monkeypatch.setattr(search_module, "DEADLINE", -1.0)
    (row,) = ask("note")
    assert "took more than" in row["error"]
