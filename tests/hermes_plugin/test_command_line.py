from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider import SuiteProvider
from tests.support.hermes_host import host_modules, load_module
from tests.support.provider_calls import call, form

FOLDER = Path(__file__).resolve().parents[2] / "hermes_plugin" / "lancedb_suite"
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `hermes lancedb-suite …` as the host wires it; gives the exit status and what was printed."""

    def execute(*words: str) -> tuple[int, str]:
        with host_modules():
            load_module(FOLDER)
            parser = argparse.ArgumentParser(prog="hermes lancedb-suite")
            sys.modules["_hermes_user_memory.lancedb_suite.cli"].register_cli(parser)
            options = parser.parse_args(words)
            try:
                options.func(options)
                status = 0
            except SystemExit as end:
                status = int(str(end.code or 0))
        return status, capsys.readouterr().out

    return execute


def test_status_of_a_fresh_home_creates_nothing(run: Run, hermes_home: Path) -> None:
    status, printed = run("status")
    assert status == 0
    assert "memories: 0" in printed
    assert not hermes_home.exists()


def test_status_counts_what_the_agent_stored(run: Run, start: Callable[..., SuiteProvider]) -> None:
    call(start(), "lancedb_add", **form())
    status, printed = run("status", "--json")
    answer: dict[str, Any] = json.loads(printed)
    assert (status, answer["memories"], answer["provider"]) == (0, 1, "lancedb-suite")


def test_search_prints_what_the_tool_returns(run: Run, start: Callable[..., SuiteProvider]) -> None:
    provider = start()
    call(provider, "lancedb_add", **form())
    found = call(provider, "lancedb_search", query="gateway_port")
    status, printed = run("search", "gateway_port", "--json")
    assert status == 0
    assert [row["id"] for row in json.loads(printed)["results"]] == [row["id"] for row in found["results"]]
    assert found["count"] == 1


def test_a_refused_argument_exits_with_two(run: Run, start: Callable[..., SuiteProvider]) -> None:
    call(start(), "lancedb_add", **form())
    assert run("search", "gateway", "--top-k", "500")[0] == 2


def test_doctor_reports_as_json(run: Run, start: Callable[..., SuiteProvider]) -> None:
    call(start(), "lancedb_add", **form())
    _, printed = run("doctor", "--json")
    assert json.loads(printed)["findings"]


def test_without_a_subcommand_the_help_is_shown(run: Run) -> None:
    status, printed = run()
    assert status == 0
    assert "status" in printed
    assert "compact" in printed


def test_status_counts_the_turns_that_were_captured(
    run: Run, start: Callable[..., SuiteProvider], configure: Callable[..., None]
) -> None:
    configure(auto_capture=True)
    provider = start()
    call(provider, "lancedb_list")  # the store is open from here on
    provider.sync_turn("The gateway listens on port 8443", "Noted.")
    provider.shutdown()
    answer = json.loads(run("status", "--json")[1])
    assert (answer["turns"], answer["captured"]) == (1, "filed 1")


def test_compact_says_what_there_is_to_do_and_keeps_what_is_stored(
    run: Run, start: Callable[..., SuiteProvider]
) -> None:
    provider = start()
    for number in range(3):
        call(provider, "lancedb_add", **form(f"subject_{number}", f"fact number {number}"))
    planned = json.loads(run("compact", "--dry-run", "--json")[1])
    status, printed = run("compact", "--json")
    answer = json.loads(printed)
    assert (status, answer["success"]) == (0, True)
    assert (answer["status"] == "not_needed") == (planned["status"] == "not_needed")
    assert run("compact")[1].startswith("status: ")
    assert call(provider, "lancedb_list")["total"] == 3
