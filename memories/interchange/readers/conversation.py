"""The two sides of an exchange that was kept as one text."""

from __future__ import annotations

import re

_SIDES = re.compile(r"\A\s*User:\s*(?P<user>.*?)\n\s*\n?Assistant:\s*(?P<assistant>.*)\Z", re.DOTALL)


def sides_of(text: str) -> tuple[str, str]:
    """What the user and what the assistant said; a text that names no sides is all the user's."""
    found = _SIDES.match(text)
    return (found["user"].strip(), found["assistant"].strip()) if found else (text, "")
