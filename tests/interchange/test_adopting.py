"""Adopting an older suite's database in its place, and swapping back."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding.base import Embedder
from memories.interchange.adopting import Adopting
from memories.repository import Author, MemoryRepository
from memories.repository.foreign import is_older_suite
from memories.settings import Settings, load_settings
from tests.interchange.conftest import Print

PLACED = 12


@pytest.fixture
def settings(tmp_path: Path, older_suite: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A Hermes home whose database is the older suite's."""
    monkeypatch.setenv("MEMSUITE_FSYNC", "off")
    shutil.copytree(older_suite, tmp_path / "home" / "lancedb")
    return load_settings(hermes_home=tmp_path / "home")


@pytest.fixture
def contents(fingerprint: Print) -> Callable[[Path], dict[str, str]]:
    """Every file below a folder by its name there."""

    def of(path: Path) -> dict[str, str]:
        return {str(Path(name).relative_to(path)): digest for name, (_, digest) in fingerprint(path).items()}

    return of


def test_the_old_directory_lies_aside_unaltered_and_ours_in_its_place(
    settings: Settings, fast_embedder: Embedder, contents: Any
) -> None:
    before = contents(settings.db_path)
    adoption = Adopting(settings, fast_embedder).run()
    assert contents(adoption.older) == before
    assert MemoryRepository.open(settings, fast_embedder).count() == adoption.memories == PLACED
    assert adoption.verification is not None
    assert adoption.verification.checked["memory"] == PLACED


def test_adopting_twice_does_nothing_more(settings: Settings, fast_embedder: Embedder) -> None:
    Adopting(settings, fast_embedder).run()
    again = Adopting(settings, fast_embedder).run()
    assert (again.memories, again.report) == (PLACED, None)


def test_swapping_back_restores_the_old_one_and_keeps_ours(
    settings: Settings, fast_embedder: Embedder, contents: Any, payload: Any, author: Author
) -> None:
    before = contents(settings.db_path)
    Adopting(settings, fast_embedder).run()
    MemoryRepository.open(settings, fast_embedder).add(payload("later"), author)
    swapped = Adopting(settings, fast_embedder).back()
    assert contents(settings.db_path) == before
    assert swapped.written_since == 1
    assert (swapped.adopted / "HEAD").is_file()


def test_what_was_swapped_back_can_be_adopted_again(settings: Settings, fast_embedder: Embedder) -> None:
    Adopting(settings, fast_embedder).run()
    Adopting(settings, fast_embedder).back()
    assert Adopting(settings, fast_embedder).run().memories == PLACED


def test_nothing_to_adopt_is_said(tmp_path: Path, fast_embedder: Embedder) -> None:
    settings = load_settings(hermes_home=tmp_path / "empty")
    for act in (Adopting(settings, fast_embedder).run, Adopting(settings, fast_embedder).back):
        with pytest.raises(MemsuiteError) as refused:
            act()
        assert refused.value.code is ErrorCode.NOT_FOUND


def test_a_failing_import_leaves_the_old_one_in_place(
    settings: Settings, fast_embedder: Embedder, contents: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(settings.db_path)

    def fails(*_: Any) -> Any:
        raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "gone")

    with monkeypatch.context() as broken, pytest.raises(MemsuiteError):
        broken.setattr(fast_embedder, "embed_documents", fails)
        Adopting(settings, fast_embedder).run()
    assert contents(settings.db_path) == before
    assert Adopting(settings, fast_embedder).run().memories == PLACED


def test_a_database_written_meanwhile_is_not_swapped(
    settings: Settings, fast_embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(what: str, done: int, total: int) -> None:
        if what == "Verifying":
            (settings.db_path / "memories.lance" / "new").write_text("later", encoding="utf-8")

    with pytest.raises(MemsuiteError) as refused:
        Adopting(settings, fast_embedder).run(write)
    assert refused.value.code is ErrorCode.STORE_BUSY
    assert is_older_suite(settings.db_path)
    assert Adopting(settings, fast_embedder).run().memories == PLACED


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("stops_at", range(3))
def test_a_kill_within_the_swap_is_made_good(
    exchanges: bool,
    stops_at: int,
    settings: Settings,
    fast_embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped before the first, second and third renaming, with and without the one-step exchange."""
    renames, rename = iter(range(9)), Path.rename

    def stops(path: Path, target: Path) -> Path:
        if path.parent == settings.db_path.parent and next(renames) == stops_at:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as broken:
        if not exchanges:
            broken.setattr("memories.interchange.adopting.exchange", lambda *_: False)
        broken.setattr(Path, "rename", stops)
        with contextlib.suppress(KeyboardInterrupt):
            Adopting(settings, fast_embedder).run()
    adoption = Adopting(settings, fast_embedder).run()
    assert MemoryRepository.open(settings, fast_embedder).count() == adoption.memories == PLACED
    assert is_older_suite(adoption.older)


CHILD = """
import sys
from memories.embedding.static import static_embedder
from memories.interchange.adopting import Adopting
from memories.settings import load_settings

print("begins", flush=True)
Adopting(load_settings(hermes_home=sys.argv[1]), static_embedder()).run()
"""


def test_killed_at_any_moment_one_of_the_two_is_in_place(
    settings: Settings, fast_embedder: Embedder, contents: Any
) -> None:
    before = contents(settings.db_path)
    for delay in (0.3, 0.8, 1.3):
        arguments = [sys.executable, "-c", CHILD, str(settings.hermes_home)]
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        if is_older_suite(settings.db_path):
            assert contents(settings.db_path) == before
        else:
            assert MemoryRepository.open(settings, fast_embedder).count() == PLACED
    adoption = Adopting(settings, fast_embedder).run()
    assert adoption.memories == PLACED
    assert contents(adoption.older) == before
