"""The health report over a real database and a real model, and the command that prints it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from maintenance.health import examine_health
from memories.embedding import Embedder
from memories.embedding.ollama import OllamaEmbedder
from memories.repository import Author, MemoryRepository
from memories.settings import Settings, load_settings
from tests.repository.damage import cut, data_files, listing, overwrite

CHECKOUT = Path(__file__).parents[2]


def _form(subject: str) -> dict[str, object]:
    facts = [f"{subject} listens on the quay"]
    return {"domain": "Tidewater", "subject": subject, "facts": facts, "tier": 2, "category": "tech"}


@pytest.fixture
def settings(hermes_home: Path) -> Settings:
    hermes_home.mkdir(mode=0o700)
    return load_settings(hermes_home=hermes_home, embed_model="builtin:static")


@pytest.fixture
def stored(settings: Settings, fast_embedder: Embedder) -> list[str]:
    repository = MemoryRepository.open(settings, fast_embedder)
    return [repository.add(_form(subject), Author("agent")).memory_id for subject in ("Gateway", "Crane")]


def test_the_report_says_what_is_there(
    settings: Settings, stored: list[str], fast_embedder: Embedder
) -> None:
    answer = examine_health(settings, fast_embedder).as_answer()
    head = json.loads((settings.db_path / "HEAD").read_text())
    assert answer["success"] is True
    assert answer["database"]["generation"] == head["generation"] == 2
    assert answer["database"]["lineage"] == head["lineage"]
    assert answer["database"]["write_lock"] == "free"
    assert (answer["database"]["spool_files"], answer["database"]["quarantine_rows"]) == (None, 0)
    assert answer["tables"]["memories"]["rows"] == 2
    assert answer["storage"]["managed_backup_bytes"] == 0
    assert answer["storage"]["reclaimable_bytes"] is None
    assert {"lancedb", "pyarrow"} <= answer["engines"].keys()
    assert answer["integrity"] is None


def test_the_model_is_asked_and_its_time_taken(
    settings: Settings, stored: list[str], fast_embedder: Embedder
) -> None:
    embedder = examine_health(settings, fast_embedder).embedder
    assert (embedder.reachable, embedder.identity) == (True, str(fast_embedder.identity))
    assert embedder.latency_ms is not None and embedder.latency_ms > 0


def test_a_model_that_does_not_answer_damages_nothing(settings: Settings, stored: list[str]) -> None:
    report = examine_health(settings, OllamaEmbedder("nomic-embed-text", "http://127.0.0.1:9"))
    assert (report.embedder.reachable, report.embedder.latency_ms) == (False, None)
    assert report.embedder.message
    assert report.sound


def test_durability_given_up_is_said(settings: Settings, stored: list[str], fast_embedder: Embedder) -> None:
    unsafe = load_settings(hermes_home=settings.hermes_home, environ={"MEMSUITE_FSYNC": "off"})
    assert examine_health(settings, fast_embedder).as_answer()["database"]["fsync"] is True
    assert examine_health(unsafe, fast_embedder).as_answer()["database"]["fsync"] is False


def _health(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "HERMES_HOME": str(settings.hermes_home),
        "MEMSUITE_EMBED_MODEL": "builtin:static",
        "COLUMNS": "100",
    }
    return subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), "health", *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )


def test_a_sound_database_ends_with_zero_and_is_not_touched(settings: Settings, stored: list[str]) -> None:
    before = listing(settings.db_path)
    done = _health(settings, "--deep")
    assert (done.returncode, done.stderr) == (0, "")
    assert "All 2 rows are as written." in done.stdout
    assert listing(settings.db_path) == before


def test_changed_bytes_end_with_one_and_name_the_memory_and_the_file(
    settings: Settings, stored: list[str]
) -> None:
    (path,) = [path for path in data_files(settings.db_path) if b"Crane listens" in path.read_bytes()]
    overwrite(path, path.read_bytes().index(b"Crane listens"), b"Brine")
    assert _health(settings).returncode == 0
    done = _health(settings, "--deep", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert answer["success"] is False
    assert answer["integrity"]["damaged_memories"] == [stored[1]]
    assert answer["integrity"]["damaged_rows"][0]["file"] == str(path)
    printed = _health(settings, "--deep").stdout
    assert stored[1] in printed and path.name in printed


def test_a_short_file_is_named_without_deep(settings: Settings, stored: list[str]) -> None:
    path = data_files(settings.db_path)[0]
    cut(path, 100)
    done = _health(settings)
    assert done.returncode == 1
    assert path.name in done.stdout
    assert "100 bytes instead of" in done.stdout


def test_a_broken_head_is_said_and_ends_with_one(settings: Settings, stored: list[str]) -> None:
    (settings.db_path / "HEAD").write_text("")
    done = _health(settings, "--deep", "--json")
    assert done.returncode == 1
    assert "HEAD" in json.loads(done.stdout)["database"]["problem"]


def test_a_place_without_a_database_is_refused(settings: Settings, tmp_path: Path) -> None:
    done = _health(settings, "--db-path", str(tmp_path / "nowhere"), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "store_unavailable"
    assert not (tmp_path / "nowhere").exists()
