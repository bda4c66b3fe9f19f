"""Capture inside the real Hermes Agent: each completed turn is filed exactly once, whatever was killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.provider import SuiteProvider
from memories.capture.spool import files_in, spool_folder
from memories.embedding.static import static_embedder
from memories.repository import MemoryRepository
from memories.settings import load_settings
from tests.support import hermes_e2e

pytestmark = pytest.mark.skipif(bool(hermes_e2e.MISSING), reason=hermes_e2e.MISSING)

SAID = (
    "The gateway listens on port 8443",
    "Bread is baked on Fridays at six",
    "Our cat is called Pixel",
    "Invoices go to the harbour office",
    "The car needs winter tyres in November",
    "Grandmother prefers letters to phone calls",
    "The server room key hangs behind the clock",
    "Please book the sauna for Sunday",
    "My favourite colour is burnt orange",
    "Ingrid takes over the support rota",
)
KILLED_AFTER = 7


def turns(said: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"user": text, "calls": [], "final": f"Understood, point {SAID.index(text) + 1}."} for text in said
    ]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    folder = made / "lancedb-suite"
    folder.mkdir(parents=True)
    settings = {"auto_capture": True, "embed_model": "builtin:static"}
    (folder / "config.json").write_text(json.dumps(settings))
    return made


def _filed(home: Path) -> Counter[str]:
    """How often each text was filed, as a turn or as another wording of one."""
    settings = load_settings(hermes_home=home)
    repository = MemoryRepository.open(settings, static_embedder())
    rows = repository.turns.page(limit=500).rows
    assert sum(row.seen_count for row in rows) == sum(1 + len(row.variants) for row in rows)
    return Counter(
        text.partition("\n")[0].removeprefix("User: ") for row in rows for text in (row.text, *row.variants)
    )


def _kill_once_written(spool: Path, words: bytes, killed: threading.Event) -> None:
    """SIGKILL the process whose spool file holds some words."""
    while not killed.is_set():
        time.sleep(0.01)
        for path in files_in(spool):
            if words in path.read_bytes():
                os.kill(int(path.stem), signal.SIGKILL)
                killed.set()


def _take_up_the_rest(home: Path) -> None:
    """What the four seconds of a shutdown did not suffice for is filed by the next start."""
    provider = SuiteProvider()
    provider.initialize("after", hermes_home=str(home), platform="cli")
    ends = time.monotonic() + 30
    while files_in(spool_folder(home / "lancedb")) and time.monotonic() < ends:
        time.sleep(0.05)
    provider.shutdown()


def test_killed_after_a_turn_and_started_again_each_turn_is_filed_once(tmp_path: Path, home: Path) -> None:
    hermes = hermes_e2e.environment_with_suite(tmp_path / "venv")
    killed = threading.Event()
    spool = spool_folder(home / "lancedb")
    last = f"point {KILLED_AFTER}.".encode()
    watcher = threading.Thread(target=_kill_once_written, args=(spool, last, killed), daemon=True)
    watcher.start()
    try:
        hermes_e2e.run(turns(SAID), "--mode", "agent", hermes=hermes, home=home)
    finally:
        was_killed = killed.is_set()
        killed.set()
    assert was_killed
    report = hermes_e2e.run(turns(SAID[KILLED_AFTER:]), "--mode", "agent", hermes=hermes, home=home)
    assert hermes_e2e.failures(report) == []
    _take_up_the_rest(home)
    filed = _filed(home)
    assert set(filed) == set(SAID)
    assert set(filed.values()) == {1}
    assert files_in(spool) == []
