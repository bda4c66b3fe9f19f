"""Providers over a real database, with the static model so that a test costs milliseconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider import SuiteProvider

Start = Callable[..., SuiteProvider]


@pytest.fixture
def start(hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a provider as the host does: `start()`, or with any detail the host may give."""
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:static")
    started: list[SuiteProvider] = []

    def begin(session_id: str = "s1", **details: Any) -> SuiteProvider:
        provider = SuiteProvider()
        provider.initialize(session_id, **{"hermes_home": str(hermes_home), "platform": "cli", **details})
        started.append(provider)
        return provider

    yield begin
    for provider in started:
        provider.shutdown()


@pytest.fixture
def configure(hermes_home: Path) -> Callable[..., None]:
    """Write settings of the next provider, as the host's panel would."""

    def write(**settings: Any) -> None:
        folder = hermes_home / "lancedb-suite"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(settings))

    return write
