"""Repositories side by side, stores of other systems, and what tells that a source was only read."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memories.repository import Author, MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

Made = Callable[[str], MemoryRepository]
Print = Callable[[Path], dict[str, tuple[int, str]]]

ARCHIVE = Path(__file__).parents[1] / "support" / "older_suite.tar.gz"


@pytest.fixture
def made(tmp_path: Path, fast_embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Opens the repository of a name, each in a Hermes home of its own."""
    monkeypatch.setenv("MEMSUITE_FSYNC", "off")

    def make(name: str) -> MemoryRepository:
        return MemoryRepository.open(load_settings(hermes_home=tmp_path / name), fast_embedder)

    return make


@pytest.fixture
def author() -> Author:
    return Author("agent", session_id="session-1", user_id="user-1")


@pytest.fixture(scope="session")
def unpacked_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("older-suite")
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture
def older_suite(unpacked_suite: Path) -> Path:
    """A directory that the older suite's engine wrote; tests only read it."""
    return unpacked_suite / "lancedb"


@pytest.fixture
def older_export(unpacked_suite: Path) -> Path:
    return unpacked_suite / "lancedb-memories.json"


@pytest.fixture(scope="session")
def fingerprint() -> Print:
    """Every file of a source with its time and content."""

    def of(path: Path) -> dict[str, tuple[int, str]]:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return {
            str(file): (file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).hexdigest())
            for file in files
        }

    return of


@pytest.fixture(scope="session")
def payload() -> Callable[..., dict[str, Any]]:
    def make(subject: str, *facts: str, **more: Any) -> dict[str, Any]:
        required = {"domain": "Orchard", "subject": subject, "tier": 2, "category": "tech"}
        return required | {"facts": list(facts) or [f"{subject} is in use"]} | more

    return make
