from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from maintenance.bench.report import lines, shown, table
from maintenance.bench.results import DatabaseState, Result

MOMENT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def result(*failures: str) -> Result:
    return Result(
        command="manage.py bench made_up --rows 3",
        metrics={"p50_ms": "the median"},
        rows=[{"work": "add", "p50_ms": 12.345}, {"work": "get", "p50_ms": 1.0, "bar_ms": 5}],
        figures={"bytes_at_the_end": 123_456},
        failures=failures,
        databases=[DatabaseState("generated", "bench/x@4#y", 7, {"memories": {"version": 3, "rows": 2}})],
    )


def test_a_document_holds_what_is_needed_to_judge_it_later() -> None:
    document = result().as_document(MOMENT)
    assert document["command"] == "manage.py bench made_up --rows 3"
    assert document["date"] == "2026-11-30T12:00:00+00:00"
    assert document["versions"]["lancedb"] == "0.40.0"
    assert document["machine"].keys() == {"system", "processor", "cpus", "load", "python"}
    assert document["databases"][0]["tables"] == {"memories": {"version": 3, "rows": 2}}
    assert document["metrics"] == {"p50_ms": "the median"}


def test_a_result_passes_as_long_as_nothing_fell_short() -> None:
    assert result().as_document()["passed"] is True
    assert result("too slow").as_document()["passed"] is False


def test_the_file_is_the_document(tmp_path: Path) -> None:
    result().write(tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert document["rows"] == result().as_document()["rows"]


def test_the_report_gives_figures_table_and_verdict() -> None:
    text = "\n".join(lines(result("too slow")))
    assert "bytes at the end  123,456" in text
    assert "Fell short:\n  too slow" in text
    assert lines(result())[-1] == "Passed."


def test_numbers_stand_to_the_right_and_missing_cells_are_empty() -> None:
    assert table(result().rows) == [
        "work  p50_ms  bar_ms",
        "----  ------  ------",
        "add     12.3",
        "get        1       5",
    ]


def test_values_are_shown_as_people_read_them() -> None:
    values = (1234567, 0.12345, 4321.9, True, None, {}, {"add": 1200})
    assert [shown(value) for value in values] == [
        "1,234,567",
        "0.123",
        "4,322",
        "yes",
        "",
        "none",
        "add 1,200",
    ]
