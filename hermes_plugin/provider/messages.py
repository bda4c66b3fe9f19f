"""Reading the messages of a conversation as the host keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_SHOWN = 4_000
"""Characters of tool results looked at, those of the last tools: what an answer was made from."""

_OURS = "lancedb_"


def text_of(content: object) -> str:
    """The words of a message; hosts may pass a list of parts for one with pictures."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def shown_by_tools(messages: object) -> str:
    """What tools have returned since the person's last message, newest first, at most ``MOST_SHOWN``
    characters. This suite's own tools are left out: recall must not confirm itself."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return ""
    shown = ""
    for text in _results(messages):
        shown = f"{shown}\n{text}" if shown else text
        if len(shown) >= MOST_SHOWN:
            break
    return shown[:MOST_SHOWN]


def _results(messages: Sequence[Any]) -> Iterator[str]:
    for message in reversed(messages):
        if not isinstance(message, Mapping):
            continue
        if message.get("role") == "user":
            return
        name = message.get("name") or message.get("tool_name")
        if message.get("role") == "tool" and isinstance(name, str) and not name.startswith(_OURS):
            yield text_of(message.get("content"))
