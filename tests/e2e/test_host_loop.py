"""Two sessions of a host that loads the plugin folder and calls its hooks in the documented order.

Needs nothing but this checkout; the real Hermes Agent is driven in test_real_hermes.py.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider.shared_store import open_stores
from tests.support.hermes_host import host_modules, load_provider
from tests.support.provider_calls import form

FOLDER = Path(__file__).resolve().parents[2] / "hermes_plugin" / "lancedb_suite"
Tools = Callable[[Any], None]


@pytest.fixture(params=[False, True], ids=["host-0.19", "newer-host"])
def host(request: pytest.FixtureRequest) -> Iterator[None]:
    with host_modules(newer=request.param):
        yield


@pytest.fixture
def folder(hermes_home: Path) -> Path:
    (hermes_home / "lancedb-suite").mkdir(parents=True)
    (hermes_home / "lancedb-suite" / "config.json").write_text('{"auto_prefetch": true}')
    return Path(shutil.copytree(FOLDER, hermes_home / "plugins" / "lancedb-suite"))


def session(folder: Path, session_id: str, message: str, tools: Tools) -> tuple[str, str]:
    """One session of one turn; gives the prompt block and what was recalled before the turn."""
    home = folder.parents[1]
    provider = load_provider(folder)
    assert provider.is_available()
    schemas = provider.get_tool_schemas()
    provider.initialize(session_id, hermes_home=str(home), platform="cli", agent_context="primary")
    assert provider.get_tool_schemas() == schemas
    block = provider.system_prompt_block()
    provider.on_turn_start(1, message)
    recalled = provider.prefetch(message, session_id="")
    tools(provider)
    provider.sync_turn(message, "Done.", session_id=session_id, messages=[])
    provider.queue_prefetch(message, session_id=session_id)
    provider.on_session_end([])
    provider.shutdown()
    return block, recalled


def ask(provider: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(provider.handle_tool_call(tool, arguments))
    return answer


def test_a_second_session_is_reminded_of_what_the_first_stored(host: None, folder: Path) -> None:
    ids: list[str] = []

    def store(provider: Any) -> None:
        ids.append(ask(provider, "lancedb_add", form())["memory_id"])
        assert ask(provider, "lancedb_add", form())["status"] == "idempotent"

    def find(provider: Any) -> None:
        found = ask(provider, "lancedb_search", {"query": "port of the gateway"})
        assert [row["id"] for row in found["results"]] == ids

    first_block, first_recalled = session(folder, "s1", "Our gateway has port 7777.", store)
    second_block, second_recalled = session(folder, "s2", "What is the port of the gateway?", find)
    assert "empty" in first_block
    assert first_recalled == ""
    assert "empty" not in second_block
    assert ids[0] in second_recalled
    assert open_stores() == ()


def test_two_agents_of_one_gateway_see_each_others_writes(host: None, folder: Path) -> None:
    home = folder.parents[1]
    first, second = load_provider(folder), load_provider(folder)
    for number, provider in enumerate((first, second)):
        provider.initialize(f"s{number}", hermes_home=str(home), platform="telegram", user_id=f"u{number}")
    memory_id = ask(first, "lancedb_add", form())["memory_id"]
    assert ask(second, "lancedb_get", {"memory_id": memory_id})["success"]
    first.shutdown()
    assert ask(second, "lancedb_list", {})["total"] == 1
    second.shutdown()
    assert open_stores() == ()
