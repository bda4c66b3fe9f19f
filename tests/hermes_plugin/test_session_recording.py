"""What the hooks record, for whom, and what they never do."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider import SuiteProvider
from hermes_plugin.provider.mirroring import MirrorChange, change_of
from memories.capture.counts import Counts
from memories.capture.filing import Filer
from memories.capture.lessons import LessonListener
from memories.capture.spool import Spool, files_in, spool_folder
from memories.embedding.static import static_embedder
from memories.repository import MemoryRepository
from memories.repository.turn_reading import TurnFilter
from memories.repository.turn_records import Turn
from memories.settings import load_settings
from tests.support.provider_calls import call, form

Start = Callable[..., SuiteProvider]
Configure = Callable[..., None]

SAID = "The gateway listens on port 8443"
ANSWERED = "Then I will open 8443 in the firewall."


@pytest.fixture
def recording(configure: Configure) -> None:
    configure(auto_capture=True)


@pytest.fixture
def turns() -> Callable[..., list[Turn]]:
    """The stored turns, as another process reads them; what a shutdown had no time for is filed first."""

    def read(**chosen: Any) -> list[Turn]:
        _file_the_rest()
        repository = MemoryRepository.open(load_settings(), static_embedder())
        found = repository.turns.page(TurnFilter(**chosen), limit=500).rows
        return sorted(found, key=lambda turn: turn.occurred_at)

    return read


Turns = Callable[..., list[Turn]]


def _file_the_rest() -> None:
    """File what waits in the spool of a process that is done."""
    settings = load_settings()
    spool = Spool(spool_folder(settings.db_path))
    if not spool.bytes_waiting():
        return
    repository = MemoryRepository.open(settings, static_embedder())
    filer = Filer(repository, settings, Counts(settings.db_path), LessonListener())
    for file in spool.files():
        while (batch := file.batch(100)) is not None:
            filer.file([waiting.line for waiting in batch.waiting])
            file.filed(batch.end)
        spool.finish(file)


def _wait_until_filed(hermes_home: Path) -> None:
    ends = time.monotonic() + 30
    while files_in(spool_folder(hermes_home / "lancedb")) and time.monotonic() < ends:
        time.sleep(0.02)


def test_a_completed_turn_is_filed_once(recording: None, start: Start, turns: Turns) -> None:
    provider = start(user_id="ada")
    provider.sync_turn(SAID, ANSWERED, session_id="")
    provider.on_session_end([])
    provider.shutdown()
    (kept,) = turns()
    assert (kept.user_text, kept.assistant_text) == (SAID, ANSWERED)
    assert (kept.session_id, kept.user_id, kept.platform, kept.seen_count) == ("s1", "ada", "cli", 1)


def test_without_the_setting_nothing_is_written(start: Start, hermes_home: Path) -> None:
    provider = start()
    provider.sync_turn(SAID, ANSWERED)
    provider.on_memory_write("add", "memory", "Prefers tea", {})
    provider.on_delegation("task", "result", child_session_id="c1")
    provider.shutdown()
    assert files_in(spool_folder(hermes_home / "lancedb")) == []


@pytest.mark.parametrize(
    "details",
    [{"agent_context": "cron"}, {"platform": "cron"}, {"platform": "flush"}, {"platform": "subagent"}],
)
def test_scheduled_and_delegated_agents_leave_no_turn_and_can_search(
    recording: None, start: Start, turns: Turns, details: dict[str, str]
) -> None:
    provider = start(**details)
    provider.sync_turn(SAID, ANSWERED)
    provider.on_memory_write("add", "memory", "Prefers tea", {})
    provider.on_session_end([])
    assert call(provider, "lancedb_search", query="gateway", scope="all")["success"]
    provider.shutdown()
    assert turns() == []


def test_an_inspecting_agent_leaves_no_turn(recording: None, hermes_home: Path, turns: Turns) -> None:
    provider = SuiteProvider()
    provider.initialize_for_inspection("s1", hermes_home=str(hermes_home), platform="cli")
    provider.sync_turn(SAID, ANSWERED)
    provider.shutdown()
    assert turns() == []


def test_a_switched_session_files_under_its_own_id_and_a_per_call_id_wins(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start()
    provider.sync_turn("first thing said", "one")
    provider.on_session_switch("s2", parent_session_id="s1", reset=True)
    provider.sync_turn("another matter entirely", "two")
    provider.sync_turn("bread and butter today", "three", session_id="s3")
    provider.shutdown()
    assert [turn.session_id for turn in turns()] == ["s1", "s2", "s3"]


def test_recalled_words_are_not_filed_again(recording: None, start: Start, turns: Turns) -> None:
    provider = start()
    call(provider, "lancedb_add", **form("gateway_port", "The blue gateway answers on port 8443"))
    assert call(provider, "lancedb_search", query="blue gateway port")["count"] == 1
    provider.sync_turn("Which port?", "The blue gateway answers on port 8443. Shall I open it?")
    provider.shutdown()
    assert [turn.assistant_text for turn in turns()] == ["Shall I open it?"]


def test_what_the_agent_stores_stays_the_persons_own_words(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start()
    call(provider, "lancedb_add", **form("gateway_port", "The blue gateway answers on port 8443"))
    provider.sync_turn("The blue gateway answers on port 8443. Remember that.", "Done.")
    provider.shutdown()
    assert [turn.user_text for turn in turns()] == ["The blue gateway answers on port 8443. Remember that."]


def test_the_built_in_memory_is_mirrored_through_replace_and_remove(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start()
    provider.on_memory_write("add", "user", "Prefers tea over coffee", {"session_id": "s9"})
    provider.on_memory_write("add", "memory", "The build runs at night", {})
    provider.on_memory_write("replace", "user", "Prefers coffee", {"old_text": "tea over"})
    provider.on_memory_write("remove", "memory", "", {"old_text": "The build runs at night"})
    provider.shutdown()
    (kept,) = turns(kind="builtin")
    assert (kept.text, kept.room) == ("Prefers coffee", "user")


def test_a_finished_task_is_filed_under_the_childs_session(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start()
    provider.on_delegation("find the docs", "they are in docs/", child_session_id="child-1")
    provider.shutdown()
    (kept,) = turns(kind="delegation")
    assert (kept.user_text, kept.assistant_text, kept.session_id) == (
        "find the docs",
        "they are in docs/",
        "child-1",
    )


def test_parts_of_a_message_with_pictures_are_joined(recording: None, start: Start, turns: Turns) -> None:
    provider = start()
    provider.sync_turn([{"type": "text", "text": SAID}, {"type": "image_url"}], ANSWERED)  # type: ignore[arg-type]
    provider.sync_turn(None, None)  # type: ignore[arg-type]
    provider.shutdown()
    assert [turn.user_text for turn in turns()] == [SAID]


@pytest.mark.parametrize(
    ("action", "content", "metadata", "change"),
    [
        ("add", "Prefers tea", {}, MirrorChange("user", "Prefers tea", "")),
        ("replace", "New", {"old_text": "ol"}, MirrorChange("user", "New", "ol")),
        ("replace", "New", {"old_text": "ol", "previous_content": "Old"}, MirrorChange("user", "New", "Old")),
        ("remove", "", {"old_text": "Old"}, MirrorChange("user", "", "Old")),
        ("remove", "Old", None, MirrorChange("user", "", "Old")),
        ("remove", "", {}, None),
        ("add", "  ", {}, None),
        ("read", "x", {}, None),
        ("add", None, "odd", None),
    ],
)
def test_a_write_of_the_built_in_memory_is_understood(
    action: str, content: object, metadata: object, change: MirrorChange | None
) -> None:
    assert change_of(action, "user", content, metadata) == change


def test_a_correction_is_filed_as_one_and_proposes_a_lesson(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start(user_id="ada")
    provider.sync_turn("Which port does the gateway use?", "It uses port 80.")
    provider.sync_turn("No, that's wrong. The gateway always uses port 8443.", "You're right, port 8443.")
    provider.shutdown()
    first, second = turns()
    assert (first.is_correction, second.is_correction) == (False, True)
    assert (second.wing, second.trust) == ("corrections", 1.0)
    assert first.trust < 0.5
    (lesson,) = MemoryRepository.open(load_settings(), static_embedder()).lessons.all()
    assert (lesson.user_id, str(lesson.status), lesson.evidence[0].id) == ("ada", "waiting", second.id)


def test_a_tool_result_that_bears_the_answer_out_raises_its_trust(
    recording: None, start: Start, turns: Turns
) -> None:
    provider = start()
    ran = {"role": "tool", "name": "terminal", "content": "listening: gateway port=8443", "tool_call_id": "1"}
    asked = {"role": "user", "content": "Which port does the gateway use?"}
    provider.sync_turn(asked["content"], "The gateway uses port=8443.", messages=[asked, ran])
    provider.sync_turn("And what about bread?", "On Fridays.", messages=[])
    provider.shutdown()
    assert [turn.trust for turn in turns()] == [pytest.approx(0.6), 0.5]


# -- whose turns they are --------------------------------------------------------------


def _search(provider: SuiteProvider, query: str, **more: Any) -> list[str]:
    answer = call(provider, "lancedb_search", query=query, **{"scope": "turns", **more})
    assert answer["success"]
    return [row["content"] for row in answer["results"]]


@pytest.fixture
def spoken(recording: None, start: Start, hermes_home: Path) -> dict[str, SuiteProvider]:
    """Ada and Bob each alone with the agent, and a group in which Ada speaks; all has been filed."""
    told = {
        "ada": start("dm-a", user_id="ada", platform="telegram", chat_type="dm", chat_id="1"),
        "bob": start("dm-b", user_id="bob", platform="telegram", chat_type="dm", chat_id="2"),
        "group": start("g-1", user_id="ada", platform="telegram", chat_type="group", chat_id="-9"),
    }
    for name, provider in told.items():
        provider.sync_turn(f"The vault code of the {name} safe is kept by Ingrid", "Noted.")
    _wait_until_filed(hermes_home)
    return told


@pytest.mark.parametrize("scope", ["turns", "all"])
@pytest.mark.parametrize("asking", ["ada", "bob", "group"])
def test_only_ones_own_turns_are_ever_found(
    spoken: dict[str, SuiteProvider], asking: str, scope: str
) -> None:
    found = _search(spoken[asking], "vault code safe kept by Ingrid", scope=scope)
    assert len(found) == 1
    assert f"the {asking} safe" in found[0]


def test_nobody_elses_turn_is_found_by_its_id(spoken: dict[str, SuiteProvider], turns: Turns) -> None:
    ids = {turn.user_id: turn.id for turn in turns()}
    assert set(ids) == {"ada", "bob", "group:telegram:-9"}
    assert _search(spoken["bob"], ids["ada"]) == []
    assert len(_search(spoken["bob"], ids["bob"])) == 1


def test_no_turn_is_ever_pushed_into_a_prompt(configure: Configure, start: Start, hermes_home: Path) -> None:
    configure(auto_capture=True, auto_prefetch=True)
    provider = start(user_id="ada")
    provider.sync_turn("The vault code of the safe is kept by Ingrid", "Noted.")
    _wait_until_filed(hermes_home)
    assert len(_search(provider, "vault code safe Ingrid")) == 1
    assert provider.prefetch("Who keeps the vault code of the safe?") == ""


# -- many at once ----------------------------------------------------------------------


def test_128_instances_on_one_path_share_one_store_one_spool_and_one_thread(
    recording: None, start: Start, turns: Turns
) -> None:
    first = start("warm")
    first.sync_turn("something to open everything with", "yes")
    first.on_session_end([])
    first.shutdown()
    gc.collect()
    before = (threading.active_count(), _descriptors())
    providers = [start(f"s{number}") for number in range(128)]
    failures: list[BaseException] = []

    def speak(part: list[SuiteProvider]) -> None:
        try:
            for provider in part:
                provider.sync_turn(f"{provider._session.session_id} says its own piece", "heard")
        except BaseException as error:
            failures.append(error)

    speakers = [threading.Thread(target=speak, args=(providers[at::8],)) for at in range(8)]
    for speaker in speakers:
        speaker.start()
    for speaker in speakers:
        speaker.join()
    assert failures == []
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("lancedb-suite-capture") == 1
    providers[0].on_session_end([])
    for provider in providers:
        provider.shutdown()
    gc.collect()
    assert sum(turn.seen_count for turn in turns()) == 129
    assert threading.active_count() <= before[0]
    assert _descriptors() <= before[1] + 2


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
