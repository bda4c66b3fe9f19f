"""Directories whose names mean something elsewhere: in a URI, in a pattern, in another encoding."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories.repository import Author, MemoryRepository
from memories.repository.health import examine
from memories.repository.integrity import verify
from memories.repository.tables import MOST_FRAGMENTS
from memories.settings import load_settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

CHECKOUT = Path(__file__).parents[2]
NAMES = [
    "two words é",
    unicodedata.normalize("NFD", "é"),
    "漢字#?",
    "50% 100%25 %2F",
    "a&b=c+d {x} [a]*",
    "s3:",
    'quo\'te and "quote"',
    "~",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_database_lives_in_a_directory_of_any_name(
    tmp_path: Path,
    fast_embedder: Embedder,
    real_embedder: Embedder,
    agent: Author,
    payload: PayloadMaker,
    name: str,
) -> None:
    """Written, compacted, overwritten by a re-embedding, looked at, and opened anew: in this very
    directory, and nothing beside it."""
    settings = load_settings(hermes_home=tmp_path / name, db_path=tmp_path / name / f"{name} db")
    repository = MemoryRepository.open(settings, fast_embedder)
    stored = repository.add(payload("Gateway"), agent).memory_id
    repository.update(stored, payload("Gateway", "Gateway moved"), agent)
    repository._store._tables.compact("memories", fsync=True)
    repository.add(payload("Proxy"), agent)
    other = MemoryRepository.open(settings, real_embedder)
    other.reembedding().run(agent, lambda done, total: None)
    reopened = MemoryRepository.open(settings, real_embedder).snapshot()
    assert {found for found, _ in reopened.lexical("gateway", limit=5)} == {stored}
    assert reopened.nearest(real_embedder.embed_query("Gateway moved"), limit=1)[0][0] == stored
    health = examine(settings.db_path, settings.backups_dir)
    assert health.sound and verify(settings.db_path, lambda done, total: None).sound
    assert other.usage.fault() == ""
    assert [path.name for path in tmp_path.iterdir() if path.name != "hermes-home"] == [name]
    assert [path.name for path in (tmp_path / name).iterdir()] == [f"{name} db"]


def test_a_home_behind_a_symbolic_link_is_the_same_database(
    tmp_path: Path, fast_embedder: Embedder, agent: Author, payload: PayloadMaker
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    by_link = MemoryRepository.open(load_settings(db_path=tmp_path / "link" / "db"), fast_embedder)
    by_name = MemoryRepository.open(load_settings(db_path=tmp_path / "real" / "db"), fast_embedder)
    for number in range(MOST_FRAGMENTS // 2 + 1):
        by_link.add(payload(f"Link_{number}"), agent)
        by_name.add(payload(f"Name_{number}"), agent)
    assert by_link.count() == by_name.count() == 2 * (MOST_FRAGMENTS // 2 + 1)
    assert (tmp_path / "link").is_symlink()


_IN_ANOTHER_LOCALE = """
import sys
from memories.embedding.static import static_embedder
from memories.repository import Author, MemoryRepository
from memories.settings import load_settings
settings = load_settings()
repository = MemoryRepository.open(settings, static_embedder())
form = {"domain": "Verger", "subject": "Pépinière 漢字", "facts": ["La clé est sous la pierre: ключ"],
        "tier": 2, "category": "fact", "tags": ["été"]}
stored = repository.add(form, Author("agent")).memory_id
again = MemoryRepository.open(settings, static_embedder())
memory = again.get(stored).memory
assert memory.facts == ("La clé est sous la pierre: ключ",), memory.facts
assert again.snapshot().lexical("pepiniere", limit=5)[0][0] == stored
print(ascii(str(again.path)))
"""


@pytest.mark.parametrize("utf8_mode", ["0", "1"])
def test_a_process_with_another_locale_stores_and_finds_every_script(tmp_path: Path, utf8_mode: str) -> None:
    home = tmp_path / "mémoire 漢"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))},
        "LC_ALL": "C",
        "PYTHONUTF8": utf8_mode,
        "PYTHONCOERCECLOCALE": "0",
        "HERMES_HOME": str(home),
        "PYTHONPATH": str(CHECKOUT),
    }
    script = home.with_name("script.py")
    script.write_text(_IN_ANOTHER_LOCALE, encoding="utf-8")
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list(home.rglob("HEAD"))) == 1
    assert {path.name for path in tmp_path.iterdir()} == {home.name, script.name}
