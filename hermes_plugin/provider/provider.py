"""The memory provider: every hook of the host, each a few lines over the modules beside it.

The class names no type of the host, so that it can be used and tested without it; the plugin folder
mixes it with the host's `MemoryProvider`. Instances are made and thrown away freely by the host
(status pages, dashboards), so a constructor costs nothing and touches nothing.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings, load_settings

from . import configuration, handlers, mirroring
from .answers import answer_text, error_text, unexpected_text
from .arguments import checked
from .capturing import counts_of
from .handlers import WRITING_TOOLS, Call
from .identity import PROVIDER_NAME, missing_modules
from .install_hint import install_command
from .prefetch import Prefetcher
from .prompt import looks_empty, prompt_block
from .recording import SessionRecording
from .session import Session, WriteBudget
from .shared_store import StoreLease, lease
from .tools import tool_schemas
from .warmup import WarmUp

logger = logging.getLogger(__name__)


class SuiteProvider:
    """The `lancedb-suite` memory provider. Every method survives being called at any time."""

    def __init__(self) -> None:
        self._session = Session(inspection=True)
        self._settings: Settings | None = None
        self._store: StoreLease | None = None
        self._warm_up: WarmUp | None = None
        self._prefetcher = Prefetcher()
        self._recording = SessionRecording()
        self._writes = WriteBudget()

    @property
    def name(self) -> str:
        return PROVIDER_NAME

    # -- is it usable ------------------------------------------------------------------------------

    def is_available(self) -> bool:
        """True when everything this provider imports is installed.

        Hosts that cannot say why a provider is unavailable drop it in silence. There it stays, and
        its tools say which command mends it.
        """
        return not missing_modules() or not _host_says_why(self)

    def unavailable_reason(self) -> str:
        missing = missing_modules()
        if not missing:
            return ""
        return f"{', '.join(missing)} not installed in Hermes' environment; run: {install_command()}"

    # -- beginning and end -------------------------------------------------------------------------

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Bind the session and start the warm-up; opens nothing on the calling thread."""
        self._bind(Session.from_host(session_id, kwargs), kwargs.get("hermes_home"))
        if self._store is not None and not missing_modules():
            self._warm_up = WarmUp(self._store)
            self._warm_up.start()
        if self._settings is not None and not missing_modules():
            self._recording.begin(self._settings, self._session)

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Bind the session to read only, without any thread."""
        self._bind(Session.from_host(session_id, kwargs, inspection=True), kwargs.get("hermes_home"))

    def on_session_switch(self, new_session_id: str, *, reset: bool = False, **_: Any) -> None:
        """Turns that follow belong to the new session; a compression keeps the old id."""
        self._session = self._session.at(str(new_session_id or ""))
        self._recording.switch(reset=bool(reset))

    def on_session_end(self, messages: object = None) -> None:
        """File what was said, as far as the time goes that this and the shutdown have together."""
        self._recording.drain()

    def shutdown(self) -> None:
        """File what was said and let running threads end, so that no native call outlives the
        interpreter; return the store. All within what the end of the session has left of four seconds."""
        deadline = time.monotonic() + self._recording.seconds_left
        warm_up, self._warm_up = self._warm_up, None
        store, self._store = self._store, None
        self._recording.end()
        if warm_up is not None and not warm_up.join(max(0.0, deadline - time.monotonic())):
            logger.warning("the memory warm-up was still running at shutdown")
        self._prefetcher.join(max(0.0, deadline - time.monotonic()))
        if store is not None:
            store.give_back()

    # -- what the model sees -----------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return tool_schemas()

    def handle_tool_call(self, tool_name: str, args: object, **kwargs: Any) -> str:
        """One JSON object, whatever happens."""
        try:
            return self._answer(tool_name, args, self._session.at(str(kwargs.get("session_id") or "")))
        except MemsuiteError as error:
            return error_text(error)
        except Exception as error:
            logger.exception("%s failed", tool_name)
            return unexpected_text(error)

    def system_prompt_block(self) -> str:
        if self._settings is None or missing_modules():
            return ""
        return prompt_block(empty=self._is_empty(self._settings))

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        store, settings = self._store, self._settings
        if store is None or settings is None or not settings.auto_prefetch:
            return ""
        text = self._prefetcher.recall(
            str(query or ""), self._session.at(session_id), store, settings.prefetch_budget_chars
        )
        self._recording.recalled(text)
        return text

    def recall_status(self) -> Any:
        """What the last prefetch added, in the host's own type; None when nothing, or on older hosts."""
        try:
            from agent.memory_provider import RecallStatus
        except ImportError:
            return None
        count = self._prefetcher.last_count
        return RecallStatus(provider_label="LanceDB memory", count=count) if count else None

    # -- what is recorded --------------------------------------------------------------------------

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: object = None,
        **_: Any,
    ) -> None:
        """With auto_capture on, put the completed turn on the disk; a thread files it later."""
        session = self._session.at(session_id)
        self._recording.exchange(user_content, assistant_content, messages, session)

    def on_memory_write(self, action: str, target: str, content: str, metadata: object = None) -> None:
        """Mirror what the built-in memory has added, replaced or removed."""
        change = mirroring.change_of(action, target, content, metadata)
        if change is not None:
            self._recording.builtin(change, self._session.at(mirroring.session_of(metadata)))

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **_: Any) -> None:
        """Record a finished task under the session of the agent that did it."""
        self._recording.delegation(task, result, self._session.at(child_session_id))

    # -- hooks with nothing to do ------------------------------------------------------------------

    def on_turn_start(self, turn_number: int, message: str, **_: Any) -> None:
        """Nothing: this runs on the turn's own thread."""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Nothing: recall for the coming turn is asked with that turn's own words."""

    def on_pre_compress(self, messages: object, **_: Any) -> str:
        """Promises nothing it has not saved."""
        return ""

    # -- settings ----------------------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        return configuration.config_schema()

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        configuration.save_config(values, hermes_home)

    def get_status_config(self, provider_config: object = None) -> dict[str, Any]:
        settings = self._current_settings()
        shown = configuration.status(settings, self._problem())
        return shown | configuration.capture_status(settings, counts_of(settings))

    def post_setup(self, hermes_home: str, config: dict[str, Any]) -> None:
        """Select this provider and save that; the host leaves both to this hook."""
        configuration.select_in_host(hermes_home, config)
        settings = load_settings(hermes_home=hermes_home)
        print(f"\n  Memory provider: {PROVIDER_NAME} (saved in config.yaml)")
        print(f"  Database: {settings.db_path}")
        if reason := self.unavailable_reason():
            print(f"  {reason}", file=sys.stderr)
        print("  Start a new session to use it.\n")

    def backup_paths(self) -> list[str]:
        return configuration.paths_outside_home(self._current_settings())

    # -- within ------------------------------------------------------------------------------------

    def _bind(self, session: Session, hermes_home: str | Path | None) -> None:
        settings = load_settings(hermes_home=hermes_home)
        previous, self._store = self._store, lease(settings)
        self._session, self._settings = session, settings
        if previous is not None:
            previous.give_back()
        for warning in settings.warnings:
            logger.warning("memory settings: %s", warning)

    def _answer(self, tool: str, args: object, session: Session) -> str:
        arguments = checked(tool, args)
        if reason := self.unavailable_reason():
            raise MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "", reason)
        store, settings = self._store, self._settings
        if store is None or settings is None:
            raise MemsuiteError(
                ErrorCode.STORE_UNAVAILABLE, "", "the memory is not running in this session; start a new one"
            )
        if tool not in WRITING_TOOLS:
            with store.use() as repository:
                answer = handlers.run(tool, Call(repository, session, arguments))
            self._recording.answered(answer)
            return answer_text(tool, answer, offset=arguments.get("offset", 0))
        return answer_text(tool, self._write(tool, arguments, session, store, settings.write_limit))

    def _write(
        self, tool: str, arguments: Mapping[str, Any], session: Session, store: StoreLease, limit: int
    ) -> Mapping[str, Any]:
        if session.read_only:
            raise MemsuiteError(
                ErrorCode.CONTEXT_INACTIVE,
                "",
                "scheduled, delegated and inspecting agents may read the memory but not change it",
            )
        self._writes.reserve(session.session_id, limit)
        changed = False
        try:
            with store.use() as repository:
                answer = handlers.run(tool, Call(repository, session, arguments))
            changed = handlers.changed_something(answer)
            return answer
        finally:
            if not changed:
                self._writes.give_back(session.session_id)

    def _is_empty(self, settings: Settings) -> bool:
        store = self._store
        if store is None or not store.is_open:
            return looks_empty(settings)
        try:
            with store.use(wait=0.0) as repository:
                return repository.count() == 0
        except MemsuiteError:
            return looks_empty(settings)

    def _current_settings(self) -> Settings:
        return self._settings or load_settings(hermes_home=configuration.active_home())

    def _problem(self) -> str:
        failure = self._store.failure if self._store is not None else None
        return self.unavailable_reason() or (failure.message if failure else "") or self._recording.problem


def _host_says_why(provider: object) -> bool:
    """Whether the host's own base class knows `unavailable_reason` (0.20 and newer)."""
    return any(
        base.__name__ == "MemoryProvider" and hasattr(base, "unavailable_reason")
        for base in type(provider).__mro__
    )
