from __future__ import annotations

from pathlib import Path

import pytest
from capture.made_up_history import write_history

from memories.settings import load_settings
from tests.support.commands import Run


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return write_history(tmp_path / "elsewhere.db")


def test_lessons_are_put_forward_once(run: Run, history: Path) -> None:
    (first,) = run("consolidate", "--state-db", str(history), "--json").answers
    (second,) = run("consolidate", "--state-db", str(history), "--json").answers
    assert (first["corrections"], first["known"]) == (60, 0)
    assert first["created"] == len(first["lessons"]) > 15
    assert (second["created"], second["extended"], second["known"]) == (0, 0, 60)


def test_it_reports_lessons_and_counts_for_a_person(run: Run, history: Path) -> None:
    done = run("consolidate", "--state-db", str(history))
    assert done.exit == 0
    assert "60 corrections" in done.out
    assert "3 × Use pnpm instead of npm." in done.out


def test_the_history_of_the_hermes_home_is_read_unless_left_out(run: Run) -> None:
    write_history(load_settings().hermes_home / "state.db")
    assert run("consolidate", "--no-state-db", "--json").answers[0]["read"] == 0
    assert run("consolidate", "--json", "--dry-run").answers[0]["corrections"] == 60


def test_without_turns_and_history_there_is_nothing_to_do(run: Run) -> None:
    done = run("consolidate", "--json")
    assert (done.exit, done.answers[0]["read"]) == (0, 0)


def test_a_dry_run_makes_no_database(run: Run, history: Path) -> None:
    (answer,) = run("consolidate", "--state-db", str(history), "--dry-run", "--json").answers
    assert answer["lessons"] and not load_settings().db_path.exists()


def test_since_leaves_out_what_is_older(run: Run, history: Path) -> None:
    (answer,) = run("consolidate", "--state-db", str(history), "--since", "2100-01-01", "--json").answers
    assert answer["corrections"] == 0


def test_since_takes_days(run: Run, history: Path) -> None:
    (answer,) = run("consolidate", "--state-db", str(history), "--since", "99999d", "--json").answers
    assert answer["corrections"] == 60


def test_a_wrong_time_or_file_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("consolidate", "--since", "soon").exit == 2
    missing = run("consolidate", "--state-db", str(tmp_path / "none.db"), "--json")
    assert missing.exit == 1
    assert missing.answers[0]["error"]["field"] == "state_db"
