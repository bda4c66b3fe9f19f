"""One turn on its way: a line of the spool."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

FORMAT = 1
"""Written into each line; a line of another format is skipped and counted, like one that is not whole."""

EXCHANGE, BUILTIN, DELEGATION = "exchange", "builtin", "delegation"
"""The kinds of turns by name. The host waits for whoever writes a line, so the repository with its engine,
which has them as an enum, is not imported here."""

_KINDS = frozenset({EXCHANGE, BUILTIN, DELEGATION})


class LineError(Exception):
    """A line that is not whole or not of ours."""


@dataclass(frozen=True, slots=True)
class SpoolLine:
    """A turn as the hook saw it, screened by the quick pass and cut. ``id`` becomes the turn's id; for a
    mirrored entry of the built-in memory ``target`` is which of its lists, and ``retires`` the text of the
    entry that goes. ``shown`` is what tools have returned in the turn, kept no longer than until the
    worker has held the answer against it."""

    id: str
    kind: str
    user_text: str
    assistant_text: str
    occurred_at: datetime
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    truncated: bool = False
    target: str = ""
    retires: str = ""
    shown: str = ""

    def as_bytes(self) -> bytes:
        """One line of JSON with its end."""
        body = {
            "v": FORMAT,
            "id": self.id,
            "kind": self.kind,
            "user": self.user_text,
            "assistant": self.assistant_text,
            "at": self.occurred_at.astimezone(UTC).isoformat(timespec="microseconds"),
            "session": self.session_id,
            "person": self.user_id,
            "platform": self.platform,
            "truncated": self.truncated,
            "target": self.target,
            "retires": self.retires,
            "shown": self.shown,
        }
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> SpoolLine:
        """Raises ``LineError`` for anything that ``as_bytes`` has not written whole."""
        try:
            body: dict[str, Any] = json.loads(line)
            if body["v"] != FORMAT or body["kind"] not in _KINDS:
                raise LineError("a line of another version")
            return cls(
                id=_text(body["id"]),
                kind=body["kind"],
                user_text=_text(body["user"]),
                assistant_text=_text(body["assistant"]),
                occurred_at=datetime.fromisoformat(body["at"]).astimezone(UTC),
                session_id=_text(body["session"]),
                user_id=_text(body["person"]),
                platform=_text(body["platform"]),
                truncated=bool(body["truncated"]),
                target=_text(body["target"]),
                retires=_text(body["retires"]),
                shown=_text(body["shown"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise LineError(f"not a whole line ({type(error).__name__})") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
