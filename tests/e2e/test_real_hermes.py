"""The issue's own scenario inside the real Hermes Agent, offline against a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import hermes_e2e
from tests.support.provider_calls import form

pytestmark = pytest.mark.skipif(bool(hermes_e2e.MISSING), reason=hermes_e2e.MISSING)

GATEWAY = form("gateway_port", "port=7777 for the gateway", "The gateway runs on the NAS")
PROXY = form("reverse_proxy", "Caddy stands before the gateway")


def step(tool: str, arguments: dict[str, Any], **expect: Any) -> dict[str, Any]:
    """One scripted tool call; in `expect`, `__` stands for a dot of the answer's path."""
    return {
        "name": f"lancedb_{tool}",
        "arguments": arguments,
        "expect": {path.replace("__", "."): value for path, value in expect.items()},
    }


def id_of(call: int) -> dict[str, str]:
    return {"$ref": f"{call}:memory_id"}


FIRST_SESSION = [
    # Five adds: new, repeated, conflicting, same subject, invalid.
    step("add", GATEWAY, success=True, status="created", contract_version=3),
    step("add", GATEWAY, success=True, status="idempotent"),
    step(
        "add",
        form("gateway_port", "port=8888 for the gateway"),
        success=False,
        error__code="conflicting_claims",
        error__received__0__existing="7777",
    ),
    step("add", form("gateway_port", "Only reachable from home"), success=False, status="update_suggested"),
    step(
        "add",
        {**PROXY, "relations": [{"type": "depends", "target_id": id_of(0)}]},
        success=True,
        status="created",
    ),
    # After a success, since the host appends a warning to the third failure of one tool in a row.
    step("add", form("printer", "It is out of paper", tier=4), success=False, error__code="invalid_tier"),
    step("search", {"query": "port of the gateway"}, success=True, abstained=False),
    step("search", {"query": "birthday of my aunt Brunhilde"}, success=True, abstained=True, count=0),
    step(
        "get",
        {"memory_id": id_of(0)},
        success=True,
        memory__subject="gateway_port",
        edges_in__0__type="depends",
    ),
    step("list", {"limit": 10}, success=True, total=2, count=2),
    step("graph", {"memory_id": id_of(0)}, success=True, edges__0__type="depends"),
    step("graph", {}, success=True, by_type__depends=1),
    step("conflicts", {}, success=True, count=0),
    # A second value for one claim key under the same subject makes a conflict that a person must settle.
    step("add", form("backup_port", "port=9999 for the gateway"), success=True, status="created"),
    step(
        "update",
        {"memory_id": id_of(13), **form("gateway_port", "port=9999 for the gateway")},
        success=True,
        status="updated",
        revision=2,
        conflicts__0__claim_key="port",
    ),
    step("conflicts", {"status": "open"}, success=True, count=1, conflicts__0__claim_key="port"),
    step("delete", {"memory_id": id_of(13)}, success=True, restorable=True, conflicts_closed=1),
    step("get", {"memory_id": id_of(13)}, success=False, error__code="memory_not_found"),
    # The arguments of another tool are refused, whatever name they come under.
    step("delete", {"query": "gateway"}, success=False, error__code="unknown_field"),
]
SECOND_SESSION = [
    step(
        "search",
        {"query": "port of the gateway"},
        success=True,
        abstained=False,
        results__0__subject="gateway_port",
    ),
    step("list", {}, success=True, total=2),
]


def turns() -> list[dict[str, Any]]:
    return [
        {
            "user": "Please note how our gateway is set up.",
            "calls": FIRST_SESSION,
            "final": "Noted.",
            "system_contains": ["Long-term memory (lancedb-suite)", "It is empty so far"],
        },
        {
            "user": "What is the port of the gateway?",
            "calls": SECOND_SESSION,
            "final": "7777.",
            "switch": {"reset": True},
        },
    ]


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hermes_e2e.environment_with_suite(tmp_path_factory.mktemp("hermes") / "venv")


@pytest.mark.parametrize("mode", ["cli", "agent"])
def test_a_second_session_finds_what_the_first_stored(hermes: Path, tmp_path: Path, mode: str) -> None:
    home = tmp_path / "home"
    folder = home / "lancedb-suite"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"auto_prefetch": true}', encoding="utf-8")
    report = hermes_e2e.run(turns(), "--mode", mode, hermes=hermes, home=home)
    assert hermes_e2e.failures(report) == []
    calls = report["calls"]
    first = calls[0]["result"]["memory_id"]
    assert calls[1]["result"]["memory_id"] == first
    assert calls[3]["result"]["candidates"] == [first]
    assert calls[6]["result"]["results"][0]["id"] == first
    assert calls[-2]["result"]["results"][0]["id"] == first
    assert all(len(call["result_raw"]) <= 20_000 for call in calls)
    recalled = [turn["prefetch_shown_to_model"] for turn in report["turns"]]
    assert recalled[0] == ""
    if mode == "agent":
        # In a process of its own the second session is cold, and may rightly run into recall's deadline.
        assert first in recalled[1]
        assert recalled[1].startswith("<recalled-memories>")


def test_a_host_whose_environment_lost_the_package_says_which_command_mends_it(tmp_path: Path) -> None:
    turn = {
        "user": "What is the port of the gateway?",
        "calls": [
            step("search", {"query": "port"}, success=False, error__code="store_unavailable"),
            step("add", GATEWAY, success=False, error__code="store_unavailable"),
        ],
        "final": "My memory is not installed.",
        "system_contains": ["-m pip install hermes-memory-suite"],
    }
    report = hermes_e2e.run([turn], hermes=hermes_e2e.hermes_environment(), home=tmp_path / "home")
    assert hermes_e2e.failures(report) == []
    for call in report["calls"]:
        assert call["result"]["error"]["expected"].endswith("-m pip install hermes-memory-suite")


def test_hermes_own_commands_select_and_show_it(hermes: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    hermes_e2e.install_from_repository(tmp_path / "repository", hermes=hermes, home=home)
    setup = hermes_e2e.command("memory", "setup", "lancedb-suite", hermes=hermes, home=home)
    status = hermes_e2e.command("memory", "status", hermes=hermes, home=home)
    own = hermes_e2e.command("lancedb-suite", "status", "--json", hermes=hermes, home=home)
    assert "Memory provider: lancedb-suite" in setup
    assert "lancedb-suite  (local) ← active" in status
    assert json.loads(own.splitlines()[-1])["memories"] == 0
