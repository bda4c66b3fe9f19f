"""The recall tool inside the real Hermes Agent, on a database made by the real Mnemosyne."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PLUGINS = CHECKOUT / "hermes_plugin"
SHARED = CHECKOUT.parent / "shared"
RUNNER = SHARED / "tools" / "hermes_e2e" / "run_e2e.py"
SAMPLE = SHARED / "data" / "mnemosyne" / "mnemosyne.db"
HERMES = Path(os.environ.get("HERMES_E2E_VENV") or Path.home() / ".cache" / "hermes-e2e")

pytestmark = [
    pytest.mark.skipif(not RUNNER.is_file(), reason=f"{RUNNER.name} is not beside this checkout"),
    pytest.mark.skipif(not HERMES.is_dir(), reason="the real Hermes Agent is not installed for tests"),
]

TERMINALS = ["All terminals in the lab run zsh, not bash."]
TERMINAL = ["The terminal is a tool; the AND gate is a reserved word."]

# Asks the copied plugin for two profiles in one process, through the host's own switch between them.
TWO_PROFILES = """
import importlib.util, json, sys
from hermes_constants import reset_hermes_home_override, set_hermes_home_override

folder, *homes = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "p", folder + "/__init__.py", submodule_search_locations=[folder]
)
plugin = sys.modules["p"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
for home in homes:
    token = set_hermes_home_override(home)
    print(json.dumps([plugin.has_database(), json.loads(plugin.recall({"query": "terminal"}))]))
    reset_hermes_home_override(token)
"""


def call(query: object, **more: object) -> dict[str, Any]:
    return {"name": "mnemosyne_fts_recall", "arguments": {"query": query, **more}}


def run_hermes(home: Path, calls: list[dict[str, Any]], *options: str) -> dict[str, Any]:
    """One turn of the real `hermes chat` in which the scripted model makes these calls: the report."""
    done = subprocess.run(
        [
            *(sys.executable, str(RUNNER), "--hermes", str(HERMES), "--hermes-home", str(home)),
            *("--calls", json.dumps(calls), *options),
        ],
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert "checks" in report, report
    return report


def contents(result: list[dict[str, Any]]) -> list[str]:
    return [row["content"] for row in result]


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def in_home(home: Path) -> Path:
    """The sample database where a Hermes home has it."""
    folder = home / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    return Path(shutil.copy(SAMPLE, folder))


def test_the_model_gets_rows_and_the_database_stays_as_it_was(tmp_path: Path):
    database = in_home(tmp_path / "home # 漢")
    before = digest(database)
    report = run_hermes(
        tmp_path / "home # 漢",
        [
            call("terminal"),
            call("termin*", limit=50),
            call("AND gate"),
            call("NEAR(the"),
            call("thursday"),
            call("friday"),
            call("*"),
            call("terminal", limit=True),
            call(5),
        ],
        *("--plugin", str(PLUGINS / "ram_first_context"), "--env", "RAM_FIRST_USAGE_LOG=1"),
    )
    assert report["ok"], report
    assert (report["plugin"], report["kind"], report["log_warnings"]) == ("ram-first-context", "tool", [])
    word, prefix, operator, near, updated, replaced, star, bad_limit, bad_query = (
        made["result"] for made in report["calls"]
    )
    assert contents(word) == contents(operator) == TERMINAL
    assert sorted(contents(prefix)) == TERMINALS + TERMINAL
    assert contents(near) == ['He said "unterminated and left NEAR(the river).']
    assert contents(updated) == ["Deploys happen on Thursday: never after 16:00."]
    assert (replaced, star) == ([], [])
    assert "limit" in bad_limit[0]["error"]
    assert "query" in bad_query[0]["error"]
    assert digest(database) == before
    log = tmp_path / "home # 漢" / "plugin-data" / "ram-first-context" / "usage.jsonl"
    assert [json.loads(line)["hits"] for line in log.read_text().splitlines()] == [1, 2, 1, 1, 1, 0, 0]


def test_it_is_hidden_where_there_is_no_database(tmp_path: Path):
    report = run_hermes(tmp_path / "home", [call("terminal")], "--plugin", str(PLUGINS / "ram_first_context"))
    assert report["calls"][0]["advertised"] is False
    assert report["checks"]["hermes_exit_zero"]


def test_it_works_beside_the_memory_provider(tmp_path: Path):
    database = in_home(tmp_path / "home")
    before = digest(database)
    packages = os.pathsep.join([str(CHECKOUT), sysconfig.get_path("purelib")])
    report = run_hermes(
        tmp_path / "home",
        [call("terminal"), {"name": "lancedb_list", "arguments": {}}, call("zsh")],
        *("--plugin", str(PLUGINS / "lancedb_suite"), "--also", str(PLUGINS / "ram_first_context")),
        *("--env", f"PYTHONPATH={packages}"),
    )
    assert report["ok"], report
    first, provider, second = (made["result"] for made in report["calls"])
    assert (contents(first), contents(second)) == (TERMINAL, TERMINALS)
    assert provider["success"] is True
    assert digest(database) == before


def test_each_profile_of_one_process_has_its_own_database(tmp_path: Path):
    in_home(tmp_path / "full")
    done = subprocess.run(
        [
            *(str(HERMES / "bin" / "python"), "-c", TWO_PROFILES, str(PLUGINS / "ram_first_context")),
            *(str(tmp_path / name) for name in ("full", "empty", "full")),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    full, empty, again = map(json.loads, done.stdout.splitlines())
    assert full[0] is True
    assert contents(full[1]) == TERMINAL
    assert again == full
    assert empty[0] is False
    assert "error" in empty[1][0]
