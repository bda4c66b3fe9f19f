"""What every test gets: a Hermes home of its own, and an environment that says nothing about the suite."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import django
import pytest

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

OURS = ("MEMSUITE_", "LANCEDB_", "HERMES_", "OLLAMA_")
KEPT = {"HERMES_E2E_VENV"}  # says where the real Hermes Agent is installed, not how ours is set up


def _variables_of_ours() -> list[str]:
    return [name for name in os.environ if name.startswith(OURS) and name not in KEPT]


# At import, since Django reads its settings once and before any fixture runs.
for _name in _variables_of_ours():
    del os.environ[_name]
_session_home = tempfile.mkdtemp(prefix="memsuite-tests-")
os.environ["HERMES_HOME"] = _session_home
os.environ["DJANGO_SETTINGS_MODULE"] = "memsuite_site.settings"


def pytest_configure() -> None:
    django.setup()


def pytest_unconfigure() -> None:
    shutil.rmtree(_session_home, ignore_errors=True)


@pytest.fixture(autouse=True)
def hermes_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The throw-away Hermes home of this test: HERMES_HOME points there, and it does not exist yet."""
    for name in _variables_of_ours():
        monkeypatch.delenv(name)
    home = tmp_path / "hermes-home"
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def fast_embedder() -> Iterator[Embedder]:
    """The static model: real word vectors in a tenth of a millisecond, for tests not about meaning."""
    from memories.embedding.static import static_embedder

    embedder = static_embedder()
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def real_embedder() -> Iterator[Embedder]:
    """The model the product uses by default."""
    from memories.embedding.minilm import minilm_embedder

    embedder = minilm_embedder()
    yield embedder
    embedder.close()
