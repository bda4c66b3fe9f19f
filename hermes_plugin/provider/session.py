"""Who a provider instance speaks for right now, and what that allows."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

_PASSIVE_PLATFORMS = frozenset({"cron", "flush", "subagent"})
_DIRECT_CHATS = frozenset({"dm", "private", "direct"})


@dataclass(frozen=True, slots=True)
class Session:
    """The session, person and place the host named at `initialize` (texts; "" where unknown)."""

    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    agent_identity: str = ""
    agent_context: str = ""
    chat_type: str = ""
    chat_id: str = ""
    inspection: bool = False

    @classmethod
    def from_host(cls, session_id: str, details: Mapping[str, Any], *, inspection: bool = False) -> Session:
        def text(name: str) -> str:
            value = details.get(name)
            return "" if value is None else str(value)

        return cls(
            session_id=str(session_id or ""),
            user_id=text("user_id"),
            platform=text("platform").lower(),
            agent_identity=text("agent_identity"),
            agent_context=text("agent_context").lower(),
            chat_type=text("chat_type").lower(),
            chat_id=text("chat_id"),
            inspection=inspection,
        )

    @property
    def read_only(self) -> bool:
        """No writes, no capture, no prefetch: scheduled, delegated and inspecting agents.

        The platform is looked at as well, because hosts up to 0.19 call every context primary.
        """
        return (
            self.inspection
            or self.agent_context not in ("", "primary")
            or self.platform in _PASSIVE_PLATFORMS
        )

    @property
    def is_group(self) -> bool:
        """More than one person may read this chat; an unknown kind of chat counts as a group."""
        if self.chat_type:
            return self.chat_type not in _DIRECT_CHATS
        return bool(self.chat_id)

    @property
    def owner(self) -> str:
        """Whose the turns of this session are: who may ever be shown them.

        A group is a person of its own here, so that what one member said privately never reaches the
        others, nor the group's words a member's private chat. Where a host names a chat but no person,
        the chat stands for the person; on the command line both are empty, and the owner is too.
        """
        if self.is_group:
            return f"group:{self.platform}:{self.chat_id}"
        if self.user_id or not self.chat_id:
            return self.user_id
        return f"chat:{self.platform}:{self.chat_id}"

    def at(self, session_id: str) -> Session:
        """The same person and place under another session id; an empty id changes nothing."""
        return replace(self, session_id=session_id) if session_id else self


class WriteBudget:
    """Counts the changes each session made and refuses beyond the limit; thread safe.

    A runaway or injected agent can so spoil a bounded number of rows. Counted per process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, int] = {}

    def reserve(self, session_id: str, limit: int) -> None:
        """Take one write out of the session's budget, or raise `write_limit_reached`."""
        with self._lock:
            used = self._used.get(session_id, 0)
            if used >= limit:
                raise MemsuiteError(
                    ErrorCode.WRITE_LIMIT_REACHED,
                    "",
                    f"this session has made {limit} changes, its limit; a new session may go on",
                    received=used,
                    expected=limit,
                )
            self._used[session_id] = used + 1

    def give_back(self, session_id: str) -> None:
        """Return a reserved write that changed nothing."""
        with self._lock:
            self._used[session_id] = max(0, self._used.get(session_id, 0) - 1)
