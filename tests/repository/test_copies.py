"""A directory copied while writers are at work opens at a state that it holds whole."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.integrity import verify
from memories.settings import load_settings
from tests.repository.conftest import PayloadMaker
from tests.repository.test_processes import _say, _writer

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

Open = Callable[[Path], MemoryRepository]

COPIES = int(os.environ.get("TEST_COPIES", "12"))
"""Copies in the suite; the closing proof is run with 50."""


@pytest.fixture
def opened(fast_embedder: Embedder) -> Open:
    return lambda path: MemoryRepository.open(load_settings(db_path=path), fast_embedder)


def test_copies_made_while_two_processes_write_are_whole(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, opened: Open, tmp_path: Path
) -> None:
    repository.add(payload("First"), agent)
    writers = [
        _writer("add", repository.path, [f"{name}_{number}" for number in range(4000)]) for name in "ab"
    ]
    for process in writers:
        _say(process)
    seen = []
    try:
        for number in range(COPIES):
            copy = tmp_path / f"copy-{number}"
            # As `cp -r` and a backup do it: in whatever order the folder lists.
            shutil.copytree(repository.path, copy, copy_function=_copy)
            seen.append(opened(copy).count())
            assert verify(copy, lambda done, total: None).sound
            opened(copy).add(payload("Afterwards"), agent)
            assert opened(copy).count() == seen[-1] + 1
            shutil.rmtree(copy)
    finally:
        for process in writers:
            process.kill()
            process.wait()
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]


def _copy(source: str, target: str) -> None:
    """What is gone by the time its turn comes (a temporary file) is no part of the copy."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


def test_a_copy_that_lacks_the_newest_files_opens_at_the_newest_whole_state(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, opened: Open, tmp_path: Path
) -> None:
    """The folders first, HEAD last: the worst order there is."""
    repository.add(payload("One"), agent)
    copy = tmp_path / "copy"
    shutil.copytree(repository.path, copy)
    repository.add(payload("Two"), agent)
    shutil.copy(repository.path / "HEAD", copy / "HEAD")
    shutil.copy(repository.path / ".memsuite" / "heads", copy / ".memsuite" / "heads")
    assert [memory.subject for memory in opened(copy).list_memories().rows] == ["One"]
    opened(copy).add(payload("Three"), agent)
    assert {memory.subject for memory in opened(copy).list_memories().rows} == {"One", "Three"}


def test_the_original_never_opens_at_an_older_state(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, opened: Open
) -> None:
    repository.add(payload("One"), agent)
    files = set((repository.path / "memories.lance" / "_versions").iterdir())
    repository.add(payload("Two"), agent)
    for path in set((repository.path / "memories.lance" / "_versions").iterdir()) - files:
        path.unlink()
    with pytest.raises(MemsuiteError) as refused:
        opened(repository.path)
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE


def test_a_moved_directory_is_the_same_database(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, opened: Open, tmp_path: Path
) -> None:
    repository.add(payload("One"), agent)
    moved = tmp_path / "moved"
    lineage = repository.snapshot().head.lineage
    repository.path.rename(moved)
    opened(moved).add(payload("Two"), agent)
    assert opened(moved).count() == 2
    assert opened(moved).snapshot().head.lineage == lineage
