"""What a write of the host's built-in memory means for its mirror.

Hosts name the entry that goes by ``old_text``, which may be a part of it, and newer ones by
``previous_content``, which is the whole of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BEFORE = ("previous_content", "old_text")


@dataclass(frozen=True, slots=True)
class MirrorChange:
    """``target`` is which list of the built-in memory; ``content`` the entry that came, ``retires`` the one
    that went, whole or a part of it; each may be ""."""

    target: str
    content: str
    retires: str


def change_of(action: object, target: object, content: object, metadata: object) -> MirrorChange | None:
    """The change that a committed write makes; None for what changes nothing that is mirrored."""
    said, before = _text(content), _first(metadata, _BEFORE)
    kind, place = _text(action).strip().lower(), _text(target).strip().lower() or "memory"
    if kind == "add" and said:
        return MirrorChange(place, said, "")
    if kind == "replace" and said:
        return MirrorChange(place, said, before)
    if kind == "remove" and (before or said):
        return MirrorChange(place, "", before or said)
    return None


def session_of(metadata: object) -> str:
    """The session that the host names for this write; "" where it names none."""
    return _first(metadata, ("session_id",))


def _first(metadata: object, names: tuple[str, ...]) -> str:
    if not isinstance(metadata, Mapping):
        return ""
    found: Mapping[Any, Any] = metadata
    return next((text for text in (_text(found.get(name)) for name in names) if text), "")


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
