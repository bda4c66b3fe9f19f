from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider import TOOL_NAMES, SuiteProvider
from hermes_plugin.provider.shared_store import open_stores
from memories.contract import CONTRACT_VERSION
from tests.support.provider_calls import call, form

Start = Callable[..., SuiteProvider]
WRITES = {
    "lancedb_add": form(),
    "lancedb_update": {"memory_id": "x", **form()},
    "lancedb_delete": {"memory_id": "x"},
}


def code_of(answer: dict[str, Any]) -> str:
    return answer["error"]["code"]


# -- before and after a session --------------------------------------------------------


def test_a_new_instance_touches_nothing(hermes_home: Path) -> None:
    provider = SuiteProvider()
    assert provider.name == "lancedb-suite"
    assert provider.is_available()
    assert not hermes_home.exists()


def test_the_schemas_are_the_same_before_and_after_initialize(start: Start) -> None:
    assert SuiteProvider().get_tool_schemas() == start().get_tool_schemas()


def test_every_hook_survives_being_called_before_initialize() -> None:
    provider = SuiteProvider()
    assert provider.system_prompt_block() == ""
    assert provider.prefetch("tea") == ""
    assert provider.on_pre_compress([]) == ""
    assert provider.recall_status() is None
    provider.on_turn_start(1, "hello")
    provider.sync_turn("a", "b", session_id="s", messages=[])
    provider.queue_prefetch("tea", session_id="s")
    provider.on_memory_write("add", "memory", "text", {"session_id": "s"})
    provider.on_delegation("task", "result", child_session_id="c")
    provider.on_session_switch("s2", parent_session_id="s", reset=True)
    provider.on_session_end([])
    provider.shutdown()


@pytest.mark.parametrize("tool", TOOL_NAMES)
def test_every_tool_answers_before_initialize(tool: str) -> None:
    arguments = WRITES.get(tool, {"query": "x"} if tool == "lancedb_search" else {})
    arguments = {"memory_id": "x"} if tool == "lancedb_get" else arguments
    assert code_of(call(SuiteProvider(), tool, **arguments)) == "store_unavailable"


def test_after_shutdown_tools_answer_and_nothing_stays_open(start: Start) -> None:
    provider = start()
    call(provider, "lancedb_add", **form())
    provider.shutdown()
    provider.shutdown()
    assert code_of(call(provider, "lancedb_list")) == "store_unavailable"
    assert open_stores() == ()


def test_a_later_initialize_works_again(start: Start, hermes_home: Path) -> None:
    provider = start()
    provider.shutdown()
    provider.initialize("s2", hermes_home=str(hermes_home), platform="cli")
    assert call(provider, "lancedb_add", **form())["status"] == "created"
    provider.shutdown()


@pytest.mark.parametrize("module", ["lancedb", "onnxruntime"])
def test_a_missing_dependency_is_named_with_the_command_that_mends_it(
    start: Start, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    provider = start()
    answer = call(provider, "lancedb_list")
    assert code_of(answer) == "store_unavailable"
    assert answer["error"]["message"].startswith(f"{module} not installed")
    assert "pip install" in answer["error"]["message"]
    assert provider.get_status_config({})["problem"] == provider.unavailable_reason()


# -- the tools -------------------------------------------------------------------------


def test_an_add_is_found_by_get_list_and_graph(start: Start) -> None:
    provider = start()
    added = call(provider, "lancedb_add", **form())
    other = call(
        provider,
        "lancedb_add",
        **form(
            "proxy", "It stands before it", relations=[{"type": "depends", "target_id": added["memory_id"]}]
        ),
    )
    memory = call(provider, "lancedb_get", memory_id=added["memory_id"])
    assert memory["memory"]["facts"] == ["port=7777 for the gateway"]
    assert [edge["memory_id"] for edge in memory["edges_in"]] == [other["memory_id"]]
    page = call(provider, "lancedb_list", limit=1)
    assert (page["total"], [row["id"] for row in page["rows"]]) == (2, [other["memory_id"]])
    graph = call(provider, "lancedb_graph", memory_id=other["memory_id"])
    assert {node["id"] for node in graph["nodes"]} == {added["memory_id"], other["memory_id"]}
    assert call(provider, "lancedb_graph")["by_type"] == {"depends": 1}


def test_a_repeat_a_conflict_a_known_subject_and_a_mistake_each_get_their_answer(start: Start) -> None:
    provider = start()
    first = call(provider, "lancedb_add", **form())
    repeat = call(provider, "lancedb_add", **form())
    conflict = call(provider, "lancedb_add", **form("gateway_port", "port=8888 for the gateway"))
    known = call(provider, "lancedb_add", **form("gateway_port", "It is only reachable from home"))
    wrong = call(provider, "lancedb_add", **form(tier=7))
    assert (repeat["status"], repeat["memory_id"]) == ("idempotent", first["memory_id"])
    assert code_of(conflict) == "conflicting_claims"
    assert (known["success"], known["status"]) == (False, "update_suggested")
    assert code_of(wrong) == "invalid_tier"
    assert call(provider, "lancedb_list")["total"] == 1


def test_an_update_and_a_delete(start: Start) -> None:
    provider = start()
    memory_id = call(provider, "lancedb_add", **form())["memory_id"]
    updated = call(
        provider, "lancedb_update", memory_id=memory_id, **form("gateway_port", "port=8888 for the gateway")
    )
    assert (updated["status"], updated["revision"]) == ("updated", 2)
    stale = call(
        provider, "lancedb_update", memory_id=memory_id, base_revision=1, **form("gateway_port", "port=1")
    )
    assert code_of(stale) == "version_conflict"
    assert call(provider, "lancedb_delete", memory_id=memory_id)["restorable"] is True
    assert code_of(call(provider, "lancedb_get", memory_id=memory_id)) == "memory_not_found"


def test_conflicts_show_both_contents(start: Start) -> None:
    provider = start()
    call(provider, "lancedb_add", **form())
    other = call(provider, "lancedb_add", **form("other_port", "port=8888 for the gateway"))
    call(
        provider,
        "lancedb_update",
        memory_id=other["memory_id"],
        **form("gateway_port", "port=8888 for the gateway"),
    )
    answer = call(provider, "lancedb_conflicts", status="open")
    assert answer["count"] == 1
    assert {answer["conflicts"][0]["content_a"], answer["conflicts"][0]["content_b"]} == {
        "Hermes:gateway_port port=7777 for the gateway. [Tier=2]",
        "Hermes:gateway_port port=8888 for the gateway. [Tier=2]",
    }


def test_turns_are_said_not_to_be_recorded(start: Start) -> None:
    answer = call(start(), "lancedb_search", query="tea", scope="turns")
    assert (answer["success"], answer["abstained"], answer["results"]) == (True, True, [])


def test_a_long_list_is_cut_and_can_be_read_on_to_its_end(start: Start) -> None:
    provider = start()
    for number in range(45):
        call(provider, "lancedb_add", **form(f"subject_{number}", f"number={number} " + "word " * 80))
    seen: list[str] = []
    while True:
        text = provider.handle_tool_call("lancedb_list", {"limit": 200, "offset": len(seen)})
        assert len(text) <= 20_000
        answer = json.loads(text)
        seen += [row["id"] for row in answer["rows"]]
        if not answer.get("truncated"):
            break
        assert answer["how_to_go_on"] == f"ask again with offset={len(seen)}"
    assert len(set(seen)) == 45


@pytest.mark.parametrize("tool", [*TOOL_NAMES, "lancedb_unheard_of"])
@pytest.mark.parametrize("arguments", [None, [], "text", {"nonsense": 1}, {1: 2}])
def test_nonsense_is_answered_as_one_json_object(start: Start, tool: str, arguments: Any) -> None:
    answer = json.loads(start().handle_tool_call(tool, arguments))
    assert answer["success"] is False
    assert answer["contract_version"] == CONTRACT_VERSION


def test_what_an_agent_writes_carries_who_and_where(start: Start, hermes_home: Path) -> None:
    from memories.embedding.factory import create_embedder
    from memories.repository import MemoryRepository
    from memories.settings import load_settings

    provider = start("s7", user_id="u1", platform="telegram")
    memory_id = call(provider, "lancedb_add", **form())["memory_id"]
    settings = load_settings(hermes_home=hermes_home)
    with MemoryRepository.open(settings, create_embedder(settings)) as repository:
        memory = repository.get(memory_id).memory
    assert (memory.source, memory.session_id, memory.user_id, memory.platform) == (
        "agent",
        "s7",
        "u1",
        "telegram",
    )


# -- what a context may do -------------------------------------------------------------


@pytest.mark.parametrize(
    "details", [{"agent_context": "subagent"}, {"platform": "cron"}, {"platform": "flush"}]
)
@pytest.mark.parametrize("tool", WRITES)
def test_a_passive_context_may_not_write(start: Start, details: dict[str, str], tool: str) -> None:
    assert code_of(call(start(**details), tool, **WRITES[tool])) == "context_inactive"


def test_a_passive_context_may_read(start: Start) -> None:
    memory_id = call(start(), "lancedb_add", **form())["memory_id"]
    passive = start("s2", agent_context="cron")
    assert call(passive, "lancedb_get", memory_id=memory_id)["success"]
    assert call(passive, "lancedb_list")["total"] == 1


def test_a_primary_initialize_activates_a_passive_instance(start: Start, hermes_home: Path) -> None:
    provider = start(agent_context="cron")
    provider.initialize("s2", hermes_home=str(hermes_home), platform="cli", agent_context="primary")
    assert call(provider, "lancedb_add", **form())["status"] == "created"


def test_an_inspection_starts_no_thread_and_reads_only(hermes_home: Path) -> None:
    before = threading.active_count()
    provider = SuiteProvider()
    provider.initialize_for_inspection("s1", hermes_home=str(hermes_home), platform="cli")
    assert threading.active_count() == before
    assert code_of(call(provider, "lancedb_add", **form())) == "context_inactive"
    provider.shutdown()


def test_writes_beyond_the_sessions_limit_are_refused(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSUITE_WRITE_LIMIT", "2")
    provider = start()
    call(provider, "lancedb_add", **form("one", "a=1"))
    for _ in range(3):
        call(provider, "lancedb_add", **form("one", "a=1"))  # repeats change nothing and count nothing
    call(provider, "lancedb_add", **form("two", "b=2"))
    assert code_of(call(provider, "lancedb_add", **form("three", "c=3"))) == "write_limit_reached"
    assert call(provider, "lancedb_list")["total"] == 2
    provider.on_session_switch("s2", reset=True)
    assert call(provider, "lancedb_add", **form("three", "c=3"))["success"]


def test_a_session_id_given_with_the_call_wins(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSUITE_WRITE_LIMIT", "1")
    provider = start("s1")
    call(provider, "lancedb_add", **form("one", "a=1"))
    other = json.loads(provider.handle_tool_call("lancedb_add", form("two", "b=2"), session_id="s9"))
    assert other["success"] is True


# -- the system prompt -----------------------------------------------------------------


def test_the_prompt_of_an_empty_store_differs_and_needs_no_database(start: Start, hermes_home: Path) -> None:
    provider = start()
    provider.shutdown()
    cold = provider.system_prompt_block()
    provider = start()
    call(provider, "lancedb_add", **form())
    assert "empty" in cold
    assert "empty" not in provider.system_prompt_block()


def test_a_cold_process_tells_a_filled_store_from_an_empty_one(start: Start, hermes_home: Path) -> None:
    filler = start()
    call(filler, "lancedb_add", **form())
    filler.shutdown()
    cold = SuiteProvider()
    cold.initialize_for_inspection("s2", hermes_home=str(hermes_home))
    assert "empty" not in cold.system_prompt_block()
    cold.shutdown()


def test_the_prompt_is_short_promises_no_tool_and_names_the_guide(start: Start) -> None:
    provider = start()
    call(provider, "lancedb_add", **form())
    block = provider.system_prompt_block()
    assert len(block) < 800
    assert "memory-writing.md" in block
    assert not any(name in block for name in TOOL_NAMES)


# -- settings --------------------------------------------------------------------------


def test_post_setup_selects_the_provider(hermes_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hermes_home.mkdir()
    config: dict[str, Any] = {"memory": {}}
    SuiteProvider().post_setup(str(hermes_home), config)
    assert config["memory"]["provider"] == "lancedb-suite"
    assert "provider: lancedb-suite" in (hermes_home / "config.yaml").read_text()
    assert "lancedb-suite" in capsys.readouterr().out


def test_backup_paths_need_no_initialize(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert SuiteProvider().backup_paths() == []
    monkeypatch.setenv("MEMSUITE_DB_PATH", str(tmp_path / "elsewhere"))
    assert SuiteProvider().backup_paths() == [str(tmp_path / "elsewhere")]


def test_the_status_tells_why_the_store_does_not_open(start: Start, hermes_home: Path) -> None:
    (hermes_home / "lancedb").mkdir(parents=True)
    (hermes_home / "lancedb" / "HEAD").write_text("{broken")
    provider = start()
    assert code_of(call(provider, "lancedb_list")) == "store_unavailable"
    assert "HEAD" in provider.get_status_config({})["problem"]


def test_a_failure_to_open_is_not_remembered(start: Start, hermes_home: Path) -> None:
    head = hermes_home / "lancedb" / "HEAD"
    head.parent.mkdir(parents=True)
    head.write_text("{broken")
    provider = start()
    assert code_of(call(provider, "lancedb_list")) == "store_unavailable"
    head.unlink()
    assert call(provider, "lancedb_list")["total"] == 0
