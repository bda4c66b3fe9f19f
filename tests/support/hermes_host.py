"""A small host that loads and calls a memory provider in the order Hermes Agent documents.

It stands in for the host's loader and agent loop where the real one is not installed; the provider
it drives is the real one. `newer=True` adds what hosts after 0.19 bring.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAMESPACE = "_hermes_user_memory"


class _Base(ABC):
    """The host's abstract provider, as far as a provider depends on it."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def is_available(self) -> bool: ...

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None: ...

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]: ...


class Context:
    """What `register` is given."""

    def __init__(self) -> None:
        self.provider: Any = None
        self.registered = 0

    def register_memory_provider(self, provider: Any) -> None:
        self.provider = provider
        self.registered += 1


@dataclass(frozen=True)
class RecallStatus:
    provider_label: str
    count: int
    glyph: str = "*"


def spawn_context_thread(target: Callable[[], None], *, name: str, daemon: bool = True) -> threading.Thread:
    """Unstarted, as the newer host's own helper returns it."""
    return threading.Thread(target=target, name=name, daemon=daemon)


@contextmanager
def host_modules(*, newer: bool = False) -> Iterator[None]:
    """`agent.memory_provider` importable inside, everything the host loaded forgotten after."""
    before = set(sys.modules)
    module = types.ModuleType("agent.memory_provider")
    methods: dict[str, Any] = {"unavailable_reason": lambda self: ""} if newer else {}
    module.MemoryProvider = type("MemoryProvider", (_Base,), methods)  # type: ignore[attr-defined]
    if newer:
        module.RecallStatus = RecallStatus  # type: ignore[attr-defined]
        module.spawn_context_thread = spawn_context_thread  # type: ignore[attr-defined]
    package = types.ModuleType("agent")
    package.__path__ = []
    sys.modules |= {"agent": package, "agent.memory_provider": module}
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if name.split(".")[0] in ("agent", _NAMESPACE):
                del sys.modules[name]


def load_module(folder: Path) -> types.ModuleType:
    """The plugin's module, every top-level file executed first as the host does, its errors swallowed."""
    name = f"{_NAMESPACE}.{folder.name}"
    sys.modules.setdefault(_NAMESPACE, types.ModuleType(_NAMESPACE))
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    for file in folder.glob("*.py"):
        if file.name != "__init__.py":
            _execute(f"{name}.{file.stem}", file)
    spec.loader.exec_module(module)
    return module


def load_provider(folder: Path) -> Any:
    """A new provider instance, registered as the host registers it for each agent."""
    context = Context()
    load_module(folder).register(context)
    return context.provider


def _execute(name: str, file: Path) -> None:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception:  # the host hides these at DEBUG; what depends on the module fails later by itself
        return
