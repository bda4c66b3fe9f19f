"""Maintenance beside writers and readers, and killed at any moment."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository, backup_check
from memories.repository.integrity import verify
from memories.repository.upkeep import Maintenance, Mode
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.repository.test_processes import _collect, _say, _writer

KILLS = int(os.environ.get("TEST_UPKEEP_KILLS", "3"))
"""Kills in the suite; the closing proof is run with 10."""

Reopened = Callable[[], MemoryRepository]


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    results = repository.add_many([payload(f"Subject_{number}") for number in range(30)], agent)
    return [result.memory_id for result in results if not isinstance(result, MemsuiteError)]


def test_killed_at_any_moment_the_database_is_whole(
    repository: MemoryRepository, ids: list[str], reopened: Reopened
) -> None:
    chance = random.Random(8)
    acknowledged: list[str] = []
    for _ in range(KILLS):
        process = _writer("maintain", repository.path, ids)
        listener = threading.Thread(target=_collect, args=(process, acknowledged))
        listener.start()
        _say(process)
        time.sleep(chance.uniform(0.3, 2.5))
        assert process.poll() is None, "it ended by itself"
        process.kill()
        process.wait()
        listener.join()
        now = reopened()
        assert verify(now.path, lambda done, total: None).sound
        assert now.count() == 30
        newest = dict(line.split() for line in acknowledged[:-1])
        last = acknowledged[-1].split()
        assert now.get(last[0]).memory.quality == float(last[1])
        assert all(now.get(name).memory.revision > 1 for name in newest)
        assert now.snapshot().lexical("subject_7", limit=5)[0][0] == ids[7]
    assert len(acknowledged) > KILLS
    # The next writer and the next run go on.
    reopened().update(ids[0], {"facts": ["after the kills"]}, Author("agent"), patch=True)


def test_nothing_is_lost_beside_a_writer_and_a_reader(
    repository: MemoryRepository,
    ids: list[str],
    reopened: Reopened,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memories.repository.backup.check", backup_check.look)
    for module in ("planning", "work"):
        monkeypatch.setattr(f"memories.repository.upkeep.{module}.MARGIN", timedelta(seconds=0.5))
    process = _writer("add", repository.path, [f"Added_{number}" for number in range(4000)])
    acknowledged: list[str] = []
    listener = threading.Thread(target=_collect, args=(process, acknowledged))
    listener.start()
    _say(process)
    reader = _Reader(reopened(), ids)
    reader.start()
    eager = replace(settings, retention_seconds=1, cleanup_interval_seconds=0)
    try:
        runs = []
        for mode in (Mode.ROUTINE, Mode.ROUTINE, Mode.RECLAIM, Mode.ROUTINE):
            time.sleep(1.0)
            runs.append(Maintenance(eager).run(mode))
    finally:
        process.kill()
        process.wait()
        listener.join()
        reader.end()
    assert [run.error for run in runs] == [None] * 4
    assert sum(work.versions_removed for run in runs for work in run.tables.values()) > 0
    assert reader.failures == []
    assert reader.reads > 10
    known = {memory.id for memory in reopened().list_memories(limit=5000).rows}
    assert {*ids, *(line.strip() for line in acknowledged)} <= known
    assert verify(repository.path, lambda done, total: None).sound


class _Reader(threading.Thread):
    """Searches and gets without a pause, as a console would."""

    def __init__(self, repository: MemoryRepository, ids: list[str]) -> None:
        super().__init__()
        self._repository, self._ids = repository, ids
        self._ended = threading.Event()
        self.reads = 0
        self.failures: list[Exception] = []

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._repository.get(self._ids[self.reads % len(self._ids)])
                found = self._repository.read(lambda snapshot: snapshot.lexical("subject_7", limit=5))
                assert found[0][0] == self._ids[7]
                self._repository.catalogue()
            except Exception as error:
                self.failures.append(error)
            self.reads += 1

    def end(self) -> None:
        self._ended.set()
        self.join()
