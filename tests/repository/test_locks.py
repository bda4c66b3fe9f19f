"""Waiting for the writer's lock: bounded, never remembered, and not felt by readers."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.locks import ReadersLock, WriteLock
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder


class Holder:
    """Another program that holds the file, as the older suite's plugin would."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def release(self) -> None:
        os.close(self._descriptor)


def test_a_lock_held_elsewhere_is_waited_for_and_then_named_busy(tmp_path: Path) -> None:
    path = tmp_path / ".write.lock"
    lock, holder = WriteLock(path), Holder(path)
    with pytest.raises(MemsuiteError) as refused, lock.held(0.05):
        pass
    assert refused.value.code is ErrorCode.STORE_BUSY
    assert refused.value.retryable
    holder.release()
    with lock.held(0.05):
        pass


def test_threads_of_one_process_exclude_one_another(tmp_path: Path) -> None:
    lock = WriteLock(tmp_path / ".write.lock")
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with lock.held(10):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_who_came_first_is_served_first(tmp_path: Path) -> None:
    path = tmp_path / ".write.lock"
    holder, served = Holder(path), list[int]()

    def write(number: int) -> None:
        with WriteLock(path).held(10):
            served.append(number)
            time.sleep(0.02)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    holder.release()
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2, 3]


def test_one_who_gave_up_stands_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / ".write.lock"
    holder = Holder(path)
    for _ in range(3):
        with pytest.raises(MemsuiteError), WriteLock(path).held(0.02):
            pass
    holder.release()
    with WriteLock(path).held(5), pytest.raises(MemsuiteError), WriteLock(path).held(0.0):
        pass
    with WriteLock(path).held(5):
        pass


def test_a_directory_put_aside_meanwhile_is_not_what_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "db" / ".write.lock"
    path.parent.mkdir()
    holder, entered = Holder(path), threading.Event()

    def write() -> None:
        with WriteLock(path).held(10):
            entered.set()
            with pytest.raises(MemsuiteError), WriteLock(path).held(0.0):
                pass

    thread = threading.Thread(target=write)
    thread.start()
    time.sleep(0.1)
    path.parent.rename(tmp_path / "aside")
    path.parent.mkdir()
    holder.release()
    thread.join()
    assert entered.is_set()


def test_an_exception_inside_sets_the_lock_free(tmp_path: Path) -> None:
    lock = WriteLock(tmp_path / ".write.lock")
    with pytest.raises(ZeroDivisionError), lock.held(1):
        raise ZeroDivisionError
    with lock.held(0):
        pass


def test_readers_share_and_keep_an_exclusive_taker_out(tmp_path: Path) -> None:
    path = tmp_path / ".readers.lock"
    with ReadersLock(path).shared(), ReadersLock(path).shared():
        descriptor = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)


def test_reading_needs_no_right_to_make_the_readers_lock(tmp_path: Path) -> None:
    with ReadersLock(tmp_path / "absent" / ".readers.lock").shared():
        pass


def test_a_busy_writer_fails_while_readers_go_on_and_succeeds_afterwards(
    settings: Settings, fast_embedder: Embedder, agent: Author, payload: PayloadMaker
) -> None:
    repository = MemoryRepository.open(settings, fast_embedder, lock_wait=0.05)
    repository.add(payload("One"), agent)
    holder = Holder(repository.path / ".write.lock")
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Two"), agent)
    assert refused.value.code is ErrorCode.STORE_BUSY
    assert repository.count() == 1
    holder.release()
    assert repository.add(payload("Two"), agent).status == "created"


def test_nothing_is_embedded_with_the_lock_held(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the model works, another writer gets through."""
    repository.add(payload("One"), agent)
    original = repository.embedder.embed_documents
    other = MemoryRepository.open(repository.settings, repository.embedder, lock_wait=0.0)
    inner: list[str] = []

    def embed(texts: list[str]) -> object:
        if not inner:
            inner.append("running")
            inner.append(str(other.delete(stored, agent).memory_id))
        return original(texts)

    stored = repository.list_memories().rows[0].id
    monkeypatch.setattr(repository.embedder, "embed_documents", embed)
    assert repository.add(payload("Two"), agent).status == "created"
    assert inner == ["running", stored]
    assert [memory.subject for memory in repository.list_memories().rows] == ["Two"]
