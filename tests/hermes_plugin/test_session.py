from __future__ import annotations

import threading

import pytest

from hermes_plugin.provider.session import Session, WriteBudget
from memories.contract import ErrorCode, MemsuiteError


@pytest.mark.parametrize(
    ("context", "platform", "read_only"),
    [
        ("", "cli", False),
        ("primary", "cli", False),
        ("primary", "telegram", False),
        ("cron", "cli", True),
        ("subagent", "cli", True),
        ("flush", "telegram", True),
        ("somethingnew", "cli", True),
        ("primary", "cron", True),
        ("primary", "CRON", True),
        ("primary", "flush", True),
        ("", "subagent", True),
    ],
)
def test_only_the_agent_a_person_talks_to_may_write(context: str, platform: str, read_only: bool) -> None:
    session = Session.from_host("s1", {"agent_context": context, "platform": platform})
    assert session.read_only is read_only


def test_an_inspection_may_only_read() -> None:
    assert Session.from_host("s1", {}, inspection=True).read_only


@pytest.mark.parametrize(
    ("details", "group"),
    [
        ({}, False),
        ({"chat_type": "dm", "chat_id": "7"}, False),
        ({"chat_type": "group", "chat_id": "7"}, True),
        ({"chat_type": "forum"}, True),
        ({"chat_type": "channel"}, True),
        ({"chat_type": "never heard of"}, True),
        ({"chat_id": "7"}, True),
    ],
)
def test_a_chat_of_unknown_kind_counts_as_a_group(details: dict[str, str], group: bool) -> None:
    assert Session.from_host("s1", details).is_group is group


def test_switching_keeps_the_person_and_takes_the_new_id() -> None:
    session = Session.from_host("s1", {"user_id": "u1", "platform": "telegram"}).at("s2")
    assert (session.session_id, session.user_id, session.platform) == ("s2", "u1", "telegram")


def test_switching_to_no_id_changes_nothing() -> None:
    assert Session(session_id="s1").at("").session_id == "s1"


def test_absent_details_are_empty_texts() -> None:
    assert Session.from_host("s1", {"user_id": None}).user_id == ""


def test_the_write_after_the_limit_is_refused() -> None:
    budget = WriteBudget()
    budget.reserve("s1", 1)
    with pytest.raises(MemsuiteError) as caught:
        budget.reserve("s1", 1)
    assert caught.value.code is ErrorCode.WRITE_LIMIT_REACHED


def test_each_session_has_a_budget_of_its_own() -> None:
    budget = WriteBudget()
    budget.reserve("s1", 1)
    budget.reserve("s2", 1)


def test_a_write_that_changed_nothing_is_given_back() -> None:
    budget = WriteBudget()
    budget.reserve("s1", 1)
    budget.give_back("s1")
    budget.reserve("s1", 1)


def test_threads_together_get_no_more_than_the_limit() -> None:
    budget, granted = WriteBudget(), []

    def take() -> None:
        for _ in range(50):
            try:
                budget.reserve("s1", 100)
                granted.append(1)
            except MemsuiteError:
                pass

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 100
