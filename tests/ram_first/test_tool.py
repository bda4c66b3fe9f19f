"""The handler: which arguments it takes, and that it answers an array whatever it is given."""

from __future__ import annotations

import contextvars
import json
import shutil
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_plugin.ram_first_context.home import has_database
from hermes_plugin.ram_first_context.tool import recall
from tests.support.mnemosyne import Mnemosyne

from .conftest import Ask, Notes

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner),
    max_leaves=8,
)


@pytest.fixture
def sixty(hermes_home: Path) -> None:
    with Mnemosyne(hermes_home) as mnemosyne:
        for number in range(60):
            mnemosyne.remember(f"Kettle number {number} is ready.")


@pytest.mark.parametrize(
    ("limit", "rows"),
    [(None, 5), (1, 1), (7, 7), (50, 50), (51, 50), (10**30, 50), (0, 1), (-3, 1), (-(10**30), 1)],
)
def test_the_limit_is_clamped(ask: Ask, sixty: None, limit: int | None, rows: int):
    assert len(ask("kettle", limit=limit)) == rows


def test_five_rows_without_a_limit(ask: Ask, sixty: None):
    assert len(ask("kettle")) == 5


@pytest.mark.parametrize("limit", [True, False, 5.0, "5", "", [5], {}, float("nan")])
def test_a_limit_that_is_no_integer_is_an_error(ask: Ask, notes: Notes, limit: object):
    (row,) = ask("terminal", limit=limit)
    assert "limit has to be an integer" in row["error"]


@pytest.mark.parametrize("query", [None, 5, True, 1.5, ["terminal"], {"a": 1}, b"terminal"])
def test_a_query_that_is_no_string_is_an_error(ask: Ask, notes: Notes, query: object):
    (row,) = ask(query)
    assert "query has to be a string" in row["error"]


@pytest.mark.parametrize("query", ["", " ", "\t\n\u3000", "*", "** *", "\0", "\ud800"])
def test_a_query_without_words_finds_nothing(ask: Ask, notes: Notes, query: str):
    assert ask(query) == []


def test_a_query_without_words_needs_no_database(ask: Ask):
    assert ask("") == []


def test_arguments_of_another_tool_are_refused(ask: Ask, notes: Notes):
    (row,) = ask("terminal", top_k=3)
    assert "query and limit, nothing else" in row["error"]


@pytest.mark.parametrize("args", [None, [], "terminal", 3, {}])
def test_arguments_that_are_no_object_with_a_query_are_an_error(notes: Notes, args: object):
    assert [list(row) for row in json.loads(recall(args))] == [["error"]]


def test_text_of_every_script_is_kept(notes: Notes):
    answer = recall({"query": "smørbrød"})
    assert "Café résumé: smørbrød, 漢字 and 🧪 in the lab." in answer
    assert answer.encode("utf-8").isascii() is False


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the database is only read
@given(args=ANYTHING | st.fixed_dictionaries({"query": ANYTHING}, optional={"limit": ANYTHING}))
def test_any_arguments_give_an_array_of_objects(notes: Notes, args: Any):
    answer = recall(args)
    answer.encode("utf-8")
    rows = json.loads(answer)
    assert isinstance(rows, list)
    assert all(isinstance(row, dict) for row in rows)


def test_a_failing_host_gives_an_array(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    def no_home() -> Path:
        raise RuntimeError("no profile")

    monkeypatch.setitem(sys.modules, "hermes_constants", _host(no_home))
    (row,) = ask("terminal")
    assert "RuntimeError" in row["error"]
    assert not has_database()


def test_eight_threads_get_the_same_answers(notes: Notes):
    queries = ["terminal", "termin*", "the", "AND", "nothing", "50%"] * 20
    expected = [recall({"query": query}) for query in queries]
    with ThreadPoolExecutor(8) as threads:
        every = list(threads.map(lambda _: [recall({"query": query}) for query in queries], range(8)))
    assert every == [expected] * 8


def test_two_profiles_in_one_process_see_their_own_database(
    made: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    full, empty = tmp_path / "full", tmp_path / "empty"
    (full / "mnemosyne" / "data").mkdir(parents=True)
    shutil.copy(made.database, full / "mnemosyne" / "data")
    with Mnemosyne(empty) as mnemosyne:
        other = mnemosyne.remember("A terminal of the other profile.")
    active: contextvars.ContextVar[Path] = contextvars.ContextVar("active")
    monkeypatch.setitem(sys.modules, "hermes_constants", _host(active.get))

    def ids(home: Path) -> list[str]:
        active.set(home)
        return [row["id"] for row in json.loads(recall({"query": "terminal"}))]

    homes = [full, empty] * 20
    with ThreadPoolExecutor(4) as threads:
        futures = [threads.submit(contextvars.Context().run, ids, home) for home in homes]
    expected = {full: [made.ids["terminal"]], empty: [other]}
    assert [future.result() for future in futures] == [expected[home] for home in homes]


def _host(get_hermes_home: Any) -> types.ModuleType:
    module = types.ModuleType("hermes_constants")
    module.get_hermes_home = get_hermes_home  # type: ignore[attr-defined]
    return module
