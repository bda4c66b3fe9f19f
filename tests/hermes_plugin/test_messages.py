from __future__ import annotations

import pytest

from hermes_plugin.provider.messages import MOST_SHOWN, shown_by_tools, text_of


def tool(text: str, name: str = "terminal") -> dict[str, str]:
    return {"role": "tool", "name": name, "content": text, "tool_call_id": "1"}


USER = {"role": "user", "content": "Which port?"}
ASSISTANT = {"role": "assistant", "content": "8443"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("said", "said"),
        ([{"type": "text", "text": "one"}, {"type": "image_url"}, "two"], "one\ntwo"),
        (None, ""),
        (7, ""),
    ],
)
def test_the_words_of_a_message(content: object, text: str) -> None:
    assert text_of(content) == text


def test_what_tools_showed_since_the_person_spoke_newest_first() -> None:
    messages = [tool("of the turn before"), USER, tool("first"), ASSISTANT, tool("second"), ASSISTANT]
    assert shown_by_tools(messages) == "second\nfirst"


def test_recall_does_not_confirm_itself() -> None:
    assert shown_by_tools([USER, tool("port=8443", "lancedb_search"), ASSISTANT]) == ""


def test_no_more_is_shown_than_is_read() -> None:
    assert len(shown_by_tools([USER, *(tool("x" * 3_000) for _ in range(5))])) == MOST_SHOWN


@pytest.mark.parametrize("odd", [None, "text", 7, [None, 3, {"role": "tool"}], {}])
def test_anything_else_shows_nothing(odd: object) -> None:
    assert shown_by_tools(odd) == ""
