"""The commands that move memories in and out, and look at their form."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.support.commands import Run

ARCHIVE = Path(__file__).parents[1] / "support" / "older_suite.tar.gz"
CRANE = {"domain": "Harbour", "subject": "crane", "tier": 3, "category": "fact"}
LINES = [
    CRANE | {"facts": ["Lifts 40 t"], "id": "a"},
    CRANE | {"facts": ["Lifts 40 t."], "id": "b"},
    CRANE | {"facts": ["Is red"], "tier": 7},
]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return path


@pytest.fixture
def older(tmp_path: Path, hermes_home: Path) -> Path:
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(tmp_path / "older", filter="data")
    hermes_home.mkdir()
    shutil.move(tmp_path / "older" / "lancedb", hermes_home / "lancedb")
    return hermes_home / "lancedb"


def test_a_dry_run_says_what_would_be_done_and_does_nothing(run: Run, lines: Path, hermes_home: Path) -> None:
    ran = run("import_memories", str(lines), "--dry-run")
    assert (ran.exit, "2 memories" in ran.out, "line 3" in ran.out) == (0, True, True)
    assert not (hermes_home / "lancedb").exists()


def test_an_import_writes_its_report(run: Run, lines: Path, tmp_path: Path) -> None:
    ran = run("import_memories", str(lines), "--json", "--report", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert ran.answers == [report]
    assert report["added"] == {"memories": 2, "quarantine": 1}


def test_a_source_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    ran = run("import_memories", str(tmp_path / "missing"), "--json")
    assert (ran.exit, ran.answers[0]["error"]["code"]) == (2, "invalid_parameter")


def test_an_export_imports_elsewhere(run: Run, lines: Path, tmp_path: Path) -> None:
    run("import_memories", str(lines))
    exported = run("export_memories", str(tmp_path / "out.jsonl"), "--json").answers[0]
    assert exported["rows"]["memories"] == 2
    elsewhere = ("--db-path", str(tmp_path / "other"))
    (answer,) = run("import_memories", str(tmp_path / "out.jsonl"), "--json", *elsewhere).answers
    assert (answer["whole"], answer["added"]["memories"]) == (True, 2)


def test_there_is_nothing_to_export_without_a_database(run: Run, tmp_path: Path) -> None:
    assert run("export_memories", str(tmp_path / "out.jsonl")).exit == 1


def test_adopting_and_swapping_back(run: Run, older: Path) -> None:
    assert "Run 'adopt'." in run("doctor").out
    assert "adopt" in run("search_memories", "gateway").err
    (answer,) = run("adopt", "--json").answers
    assert (answer["status"], answer["memories"], answer["verified"]["memory"]) == ("adopted", 12, 12)
    assert run("search_memories", "gateway port").exit == 0
    (answer,) = run("adopt", "--back", "--json").answers
    assert (answer["status"], answer["written_since"]) == ("swapped_back", 0)
    assert run("adopt", "--back").exit == 2


def test_installing_beside_an_older_database_offers_to_adopt_it(run: Run, older: Path) -> None:
    assert "manage.py adopt" in run("install_plugin", "--provider").out


def test_drift_fails_only_where_it_is_asked_to(run: Run, older: Path) -> None:
    assert run("audit_format").exit == 0
    assert run("audit_format", "--fail-on-drift").exit == 1
    assert run("audit_format", "--json").answers[0]["drift"] == 8


def test_a_migration_is_planned_row_by_row(run: Run, older: Path) -> None:
    *rows, summary = run("migrate_format", "--json").answers
    assert summary["counts"]["auto_fix"] == sum(row["plan"] == "auto_fix" for row in rows) == 3


def test_an_older_graph_is_only_looked_at(run: Run, older: Path) -> None:
    assert run("graph_retention", "--json").answers[0]["faults"]["target_gone"] == 1
    assert run("graph_retention", "--apply").exit == 2


def test_duplicates_are_merged_when_that_is_asked_for(run: Run, lines: Path) -> None:
    run("import_memories", str(lines))
    assert [group["others"] for group in run("merge_duplicates", "--json").answers[0]["groups"]] == [["a"]]
    assert run("merge_duplicates", "--apply", "--json").answers[0]["keeper"] == "b"
    assert run("merge_duplicates", "--json").answers[0]["groups"] == []
    assert run("merge_duplicates", "--threshold", "7").exit == 2
