"""Each benchmark of the repository end to end, at the smallest size that says anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maintenance.bench.benchmark import discovered
from maintenance.bench.speed import bar_of
from tests.support.commands import Run


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "result.json"


def _document(output: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return document


def test_benchmarks_are_found_by_their_modules() -> None:
    found = discovered()
    assert {"crash", "write-cost", "speed"} <= found.keys()
    assert all(name == benchmark.name for name, benchmark in found.items())


def test_no_kill_loses_or_halves_a_change(run: Run, output: Path, tmp_path: Path) -> None:
    done = run("bench", "crash", "--kills", "4", "--output", str(output), "--directory", str(tmp_path / "d"))
    figures = _document(output)["figures"]
    assert (done.exit, _document(output)["failures"]) == (0, [])
    assert (figures["kills"], figures["lost_acknowledged"], figures["half_changes"]) == (4, 0, 0)
    assert figures["reader_checks"] > 0
    assert list((tmp_path / "d").iterdir()) == []


def test_writers_beside_each_other_leave_what_an_oracle_expects(run: Run, output: Path) -> None:
    run("bench", "crash", "--writers", "3", "--readers", "1", "--seconds", "4", "--output", str(output))
    figures = _document(output)["figures"]
    assert figures["changes"] > 0
    assert (figures["differences"], figures["unhandled"], figures["half_changes"]) == (0, 0, 0)
    assert {row["door"] for row in _document(output)["rows"]} == {"plugin", "console", "command"}


def test_write_cost_counts_what_each_kind_of_change_leaves(run: Run, output: Path) -> None:
    run("bench", "write-cost", "--rows", "60", "--updates", "20", "--samples", "5", "--output", str(output))
    document = _document(output)
    rows = {row["change"]: row for row in document["rows"]}
    assert rows.keys() == {"add", "update of the facts", "tag edit", "tag edit of 100", "delete"}
    assert all(row["bytes"] > 0 and row["versions"] >= 1 for row in rows.values())
    figures = document["figures"]
    assert figures["bytes_after_updates"] > figures["live_bytes"] > figures["live_bytes_without_history"]
    assert document["databases"][0]["tables"]["memories"]["rows"] == 60


def test_speed_measures_each_size_beside_the_other(run: Run, output: Path) -> None:
    done = run(
        "bench",
        "speed",
        "--rows",
        "20,40",
        "--updates",
        "2",
        "--samples",
        "2",
        "--output",
        str(output),
        "--json",
    )
    document = _document(output)
    works = [{row["work"] for row in document["rows"] if row["rows"] == rows} for rows in (20, 40)]
    assert works[0] == works[1]
    assert {"add", "search hybrid", "list page", "open and first search"} <= works[0]
    assert done.answers[0]["figures"] == document["figures"]
    assert document["figures"]["add_ratio"] > 0
    assert [state["name"] for state in document["databases"]] == ["20 rows", "40 rows"]


@pytest.mark.parametrize(
    ("work", "rows", "bar"),
    [
        ("search hybrid", 1_000, ("p50_ms", 15)),
        ("search hybrid", 2_000, ("p50_ms", 25)),
        ("add", 100_000, None),
        ("get", 1_000, None),
    ],
)
def test_a_size_between_two_bars_has_that_of_the_larger(
    work: str, rows: int, bar: tuple[str, float] | None
) -> None:
    assert bar_of(work, rows) == bar


@pytest.mark.parametrize(
    "arguments", [("crash", "--kils", "3"), ("speed", "--rows", "few"), ("nothing",), ()]
)
def test_wrong_arguments_are_refused(run: Run, arguments: tuple[str, ...]) -> None:
    from django.core.management.base import CommandError

    with pytest.raises(CommandError):
        run("bench", *arguments)


def test_a_place_for_the_result_is_looked_at_before_anything_is_measured(run: Run, tmp_path: Path) -> None:
    done = run("bench", "crash", "--output", str(tmp_path / "missing" / "r.json"), "--json")
    assert (done.exit, done.answers[0]["error"]["field"]) == (2, "output")
