"""A disk that is full: said as that, nothing lost, readable meanwhile, writable once there is room."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, BulkChange, MemoryRepository, backup_check
from memories.repository.contents import contents_of
from memories.repository.health import examine
from memories.repository.integrity import verify
from memories.repository.upkeep import Maintenance, Mode
from memories.settings import load_settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

SIZE = 6 * 2**20
ROWS = 40


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small disk needs root")
    options = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(options, capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def small(disk: Path, fast_embedder: Embedder, agent: Author, payload: PayloadMaker) -> MemoryRepository:
    """A database on that disk with some memories."""
    repository = MemoryRepository.open(load_settings(db_path=disk / "db"), fast_embedder)
    repository.add_many([payload(f"Subject_{number}") for number in range(ROWS)], agent)
    return repository


def _fill(disk: Path, free: int) -> Path:
    """Leave only so many bytes free; a page more or less."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        try:
            while os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize > free:
                file.write(b"\0" * 4096)
                file.flush()
        except OSError as error:
            assert error.errno == errno.ENOSPC
    return ballast


Work = Callable[[MemoryRepository, list[str], "PayloadMaker", Author], object]
WORKS: dict[str, Work] = {
    "add": lambda repository, ids, payload, author: repository.add(payload("New"), author),
    "update": lambda repository, ids, payload, author: repository.update(
        ids[0], payload("Subject_0", "changed"), author
    ),
    "delete": lambda repository, ids, payload, author: repository.delete(ids[0], author),
    "bulk": lambda repository, ids, payload, author: repository.apply(
        BulkChange.of("add_tags", ["one", "two"]), ids, author
    ),
}


@pytest.mark.parametrize("free", [0, 4096, 16384, 49152])
@pytest.mark.parametrize("work", WORKS)
def test_a_write_on_a_full_disk_is_whole_or_says_so_and_changes_nothing(
    small: MemoryRepository,
    disk: Path,
    fast_embedder: Embedder,
    agent: Author,
    payload: PayloadMaker,
    work: str,
    free: int,
) -> None:
    ids = [memory.id for memory in small.list_memories(limit=100).rows]
    before, head = _content(small), (small.path / "HEAD").read_bytes()
    ballast = _fill(disk, free)
    try:
        WORKS[work](small, ids, payload, agent)
    except MemsuiteError as error:
        assert error.code is ErrorCode.DISK_FULL
        assert (small.path / "HEAD").read_bytes() == head
        assert _content(small) == before
    else:
        assert (small.path / "HEAD").read_bytes() != head
    reopened = MemoryRepository.open(small.settings, fast_embedder)
    assert _content(reopened) == _content(small)
    assert len(reopened.snapshot().lexical("subject", limit=100)) >= ROWS - 1
    ballast.unlink()
    assert reopened.add(payload("After"), agent).memory_id
    assert verify(reopened.path, lambda done, total: None).sound
    assert examine(reopened.path, disk / "backups").sound


def test_a_full_disk_refuses_every_write_it_has_no_room_for(
    small: MemoryRepository, disk: Path, agent: Author, payload: PayloadMaker
) -> None:
    """The test above would also hold if nothing ever ran out of room."""
    ids = [memory.id for memory in small.list_memories(limit=100).rows]
    _fill(disk, 0)
    for work in WORKS.values():
        with pytest.raises(MemsuiteError) as refused:
            work(small, ids, payload, agent)
        assert refused.value.code is ErrorCode.DISK_FULL


@pytest.mark.parametrize("free", [0, 65536, 98304])
def test_a_reembedding_on_a_full_disk_keeps_the_old_vectors_and_is_done_later(
    small: MemoryRepository, disk: Path, real_embedder: Embedder, agent: Author, free: int
) -> None:
    """Full while staging, and full while the table is written anew."""
    stored = small.snapshot().embedding_id
    ballast = _fill(disk, free)
    other = MemoryRepository(small.settings, real_embedder)
    with pytest.raises(MemsuiteError) as refused:
        other.reembedding().run(agent, lambda done, total: None)
    assert refused.value.code is ErrorCode.DISK_FULL
    assert small.snapshot().embedding_id == stored
    assert len(small.snapshot().nearest(small.embedder.embed_query("subject"), limit=100)) == ROWS
    ballast.unlink()
    assert other.reembedding().run(agent, lambda done, total: None).memories == ROWS
    assert verify(small.path, lambda done, total: None).sound


def _content(repository: MemoryRepository) -> dict[str, tuple[int, tuple[str, ...]]]:
    rows = repository.list_memories(limit=200).rows
    return {memory.id: (memory.revision, memory.tags) for memory in rows}


@pytest.mark.parametrize("free", [0, 65_536, 400_000])
@pytest.mark.parametrize("mode", list(Mode))
def test_maintenance_on_a_full_disk_names_its_step_and_harms_nothing(
    small: MemoryRepository,
    disk: Path,
    agent: Author,
    mode: Mode,
    free: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Past the budget, which would have refused it at once."""
    monkeypatch.setattr("memories.repository.backup.require_room", lambda folder, needed: None)
    monkeypatch.setattr("memories.repository.upkeep.maintenance.require_room", lambda folder, needed: None)
    monkeypatch.setattr("memories.repository.backup.check", backup_check.look)
    monkeypatch.setattr("memories.repository.upkeep.planning.MOST_FRAGMENTS", 1)
    ids = [memory.id for memory in small.list_memories(limit=ROWS).rows]
    for number in range(5):
        small.update(ids[number], {"quality": number / 10}, agent, patch=True)
    before = contents_of(small.snapshot())
    ballast = _fill(disk, free)
    settings = load_settings(hermes_home=disk / "home", db_path=disk / "db")
    result = Maintenance(settings).run(mode)
    if not result.success:
        assert result.failed_step
        assert result.error is not None
        assert result.error.code is ErrorCode.DISK_FULL
    assert contents_of(small.snapshot()) == before
    ballast.unlink()
    assert verify(small.path, lambda done, total: None).sound
    small.update(ids[0], {"facts": ["there is room again"]}, agent, patch=True)
    assert Maintenance(settings).run(Mode.RECLAIM).success
