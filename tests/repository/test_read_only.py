"""A directory nobody may write: reading works, writing says so, nothing changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from tests.repository.conftest import PayloadMaker


@pytest.fixture
def sealed(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> Iterator[MemoryRepository]:
    """A database whose directory takes no new file. Root is above the mode bits, so for root the
    immutable attribute does it, where the file system has one."""
    repository.add(payload("One"), agent)
    folders = [repository.path, *(path for path in repository.path.rglob("*") if path.is_dir())]
    if os.geteuid() == 0:
        if not shutil.which("chattr") or subprocess.run(["chattr", "+i", repository.path]).returncode:
            pytest.skip("running as root on a file system without an immutable attribute")
        subprocess.run(["chattr", "+i", *folders], check=True)
        yield repository
        subprocess.run(["chattr", "-i", *folders], check=True)
    else:
        for folder in folders:
            folder.chmod(0o500)
        yield repository
        for folder in folders:
            folder.chmod(0o700)


def test_reading_a_sealed_directory_works(sealed: MemoryRepository) -> None:
    assert sealed.count() == 1
    assert sealed.list_memories().rows[0].subject == "One"
    assert sealed.snapshot().lexical("one", limit=5)


def test_writing_to_a_sealed_directory_is_refused_and_changes_nothing(
    sealed: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = sealed.list_memories().rows[0].id
    for work in (
        lambda: sealed.add(payload("Two"), agent),
        lambda: sealed.update(stored, payload("One", "changed"), agent),
        lambda: sealed.delete(stored, agent),
    ):
        with pytest.raises(MemsuiteError) as refused:
            work()
        assert refused.value.code is ErrorCode.STORE_READ_ONLY
    assert sealed.count() == 1


def test_counting_usage_in_a_sealed_directory_fails_no_reader(sealed: MemoryRepository) -> None:
    stored = sealed.list_memories().rows[0].id
    sealed.usage.record_recall([stored])
    assert sealed.get(stored).memory.subject == "One"
