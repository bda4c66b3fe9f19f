"""Several processes on one directory: racing each other, and killed in the middle of a change."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import pytest

from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository, Snapshot, schema
from tests.support.writer_process import memory

KILLS = int(os.environ.get("TEST_KILLS", "8"))
"""Kills for each kind of change; the closing proof is run with 30."""

ROOT = Path(__file__).resolve().parents[2]


def _writer(job: str, path: Path, arguments: Sequence[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.writer_process", job, str(path), *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert _out(process).readline() == "ready\n"
    return process


def _out(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def _collect(process: subprocess.Popen[str], lines: list[str]) -> None:
    for line in _out(process):
        lines.append(line)


def _say(process: subprocess.Popen[str], text: str = "go\n") -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def test_two_processes_adding_the_same_memory_make_one(repository: MemoryRepository, agent: Author) -> None:
    rounds = [f"Subject_{number}" for number in range(50)]
    writers = [_writer("race", repository.path, rounds) for _ in range(2)]
    outcomes = []
    for _ in rounds:
        for process in writers:
            _say(process)
        outcomes.append(sorted(_out(process).readline().strip() for process in writers))
    for process in writers:
        _say(process)
        assert process.wait(timeout=30) == 0
    assert outcomes == [["created", "idempotent"]] * 50
    assert repository.count() == 50


@pytest.fixture
def pairs(repository: MemoryRepository, agent: Author) -> list[str]:
    """Second members of pairs that agree on a port; each one's subject is made the first's."""
    names = [f"Pair_{number}" for number in range(40)]
    firsts = repository.add_many([memory("Proxy"), *(memory(name) for name in names)], agent)
    seconds = repository.add_many([memory(f"{name}_copy") for name in names], agent)
    ids = []
    for name, second in zip(names, seconds, strict=True):
        assert not isinstance(second, MemsuiteError)
        patch = {"subject": name, "facts": ["port=7777", "a copy"]}
        repository.update(second.memory_id, patch, agent, patch=True)
        ids.append(second.memory_id)
    assert len(firsts) == 41
    return ids


def _counts_of_disagreement(snapshot: Snapshot) -> set[int]:
    """One number if every change is whole: what each table says of how many have happened."""
    return {
        sum(found.facts == ("port=8888",) for found in snapshot.memories_where("")),
        snapshot.row_count(schema.CONFLICTS, "status = 'open'"),
        snapshot.row_count(schema.EDGES, "relation_type = 'uses'"),
        snapshot.row_count(schema.REVISIONS, "operation = 'update' AND revision = 2"),
    }


def _counts_of_deletion(snapshot: Snapshot) -> set[int]:
    return {
        81 - snapshot.count,
        81 - snapshot.row_count(schema.EDGES, "relation_type = 'part_of'"),
        snapshot.row_count(schema.REVISIONS, "removed"),
    }


@pytest.mark.parametrize(
    ("job", "counts"), [("disagree", _counts_of_disagreement), ("delete", _counts_of_deletion)]
)
def test_a_kill_leaves_each_change_whole_or_absent(
    repository: MemoryRepository,
    pairs: list[str],
    reopened: Callable[[], MemoryRepository],
    job: str,
    counts: Callable[[Snapshot], set[int]],
) -> None:
    """A reader watches meanwhile; whatever was acknowledged is there after the kill."""
    chance = random.Random(20261130)
    waiting = list(pairs)
    done = 0
    for _ in range(KILLS):
        if len(waiting) < 5:
            break
        process = _writer(job, repository.path, waiting)
        acknowledged: list[str] = []
        listener = threading.Thread(target=_collect, args=(process, acknowledged))
        listener.start()
        _say(process)
        enough, moment = chance.randrange(4), chance.uniform(0, 0.08)
        while process.poll() is None:
            assert len(repository.read(counts)) == 1
            if len(acknowledged) >= enough:
                time.sleep(moment)
                process.kill()
        listener.join()
        (now,) = reopened().read(counts)
        assert done + len(acknowledged) <= now <= done + len(acknowledged) + 1
        del waiting[: now - done]
        done = now
    assert done > 0
    writer = _writer(job, repository.path, waiting[:1])
    _say(writer)
    assert writer.wait(timeout=30) == 0
    assert reopened().read(counts) == {done + 1}
