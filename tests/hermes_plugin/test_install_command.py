from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    try:
        call_command("install_plugin", *words)
        status = 0
    except SystemExit as end:
        status = int(str(end.code))
    return status, capsys.readouterr().out


def test_it_installs_selects_and_says_so(hermes_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = run(capsys, "--provider", "--select", "--json")
    answer = json.loads(printed)
    assert status == 0
    assert [step["action"] for step in answer["steps"]] == ["installed", "selected"]
    assert (hermes_home / "plugins" / "lancedb-suite" / "__init__.py").is_file()


def test_a_check_of_an_empty_home_fails_and_writes_nothing(
    hermes_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "--provider", "--check")[0] == 1
    assert not hermes_home.exists()


def test_somebody_elses_folder_is_refused_with_status_two(
    hermes_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = hermes_home / "plugins" / "lancedb-suite"
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    status, printed = run(capsys, "--provider")
    assert status == 2
    assert str(folder) in printed
    assert "--replace" in printed


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(
    hermes_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed = run(capsys, "--dry-run", "--select", "--hermes-home", str(hermes_home))
    assert status == 0
    assert "Dry run" in printed
    assert not hermes_home.exists()
