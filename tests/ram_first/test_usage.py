"""The opt-in telemetry."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from .conftest import Ask, Notes


@pytest.fixture
def log(hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The telemetry file, switched on and not there yet."""
    monkeypatch.setenv("RAM_FIRST_USAGE_LOG", "1")
    return hermes_home / "plugin-data" / "ram-first-context" / "usage.jsonl"


def entries(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("value", [None, "", "0", "true", "yes"])
def test_nothing_is_written_unless_the_variable_is_1(
    ask: Ask, notes: Notes, log: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
):
    if value is None:
        monkeypatch.delenv("RAM_FIRST_USAGE_LOG")
    else:
        monkeypatch.setenv("RAM_FIRST_USAGE_LOG", value)
    ask("terminal")
    assert not log.parent.parent.exists()


def test_one_line_per_search_with_time_length_and_hits(ask: Ask, notes: Notes, log: Path):
    ask("terminal")
    ask("smørbrød zsh")
    first, second = entries(log)
    assert list(first) == ["ts", "q_len", "hits"]
    assert (first["q_len"], first["hits"]) == (8, 1)
    assert (second["q_len"], second["hits"]) == (12, 0)
    assert datetime.fromisoformat(first["ts"]).tzinfo is not None


def test_the_query_is_nowhere(ask: Ask, notes: Notes, log: Path):
    ask("terminal serial")
    assert "terminal" not in log.read_text()


def test_a_search_that_failed_has_no_hits(ask: Ask, log: Path):
    assert "error" in ask("terminal")[0]
    assert entries(log)[0]["hits"] == 0


def test_only_its_owner_reads_it(ask: Ask, notes: Notes, log: Path):
    ask("terminal")
    assert log.stat().st_mode & 0o077 == 0
    assert log.parent.stat().st_mode & 0o077 == 0


def test_lines_of_eight_threads_stay_whole(ask: Ask, notes: Notes, log: Path):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: ask("terminal"), range(80)))
    assert [entry["hits"] for entry in entries(log)] == [1] * 80


def _folder(log: Path) -> None:
    log.mkdir(parents=True)


def _file_for_a_folder(log: Path) -> None:
    log.parent.parent.mkdir(parents=True)
    log.parent.write_text("in the way")


def _pipe_nobody_reads(log: Path) -> None:
    log.parent.mkdir(parents=True)
    os.mkfifo(log)


def _full_disk(log: Path) -> None:
    log.parent.mkdir(parents=True)
    log.symlink_to("/dev/full")


@pytest.mark.parametrize("broken", [_folder, _file_for_a_folder, _pipe_nobody_reads, _full_disk])
def test_a_broken_sink_breaks_nothing(ask: Ask, notes: Notes, log: Path, broken: Any):
    broken(log)
    assert notes.named(ask("terminal")) == ["terminal"]
