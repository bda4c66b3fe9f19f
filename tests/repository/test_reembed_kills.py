"""A re-embedding that is killed goes on where it was, and the old vectors answer all the while."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memories.repository import Author, MemoryRepository
from memories.repository.integrity import verify
from memories.repository.reembed import PART_ROWS
from tests.repository.conftest import PayloadMaker
from tests.support.reembed_process import embedder_of

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("TEST_REEMBED", "")
ROWS, KILLS, MODEL = (int(FULL), 3, "real") if FULL else (600, 1, "slow")
"""In the suite a slow stand-in for a model; the closing proof is run with TEST_REEMBED=5000."""

PATIENCE = 120.0


def _started() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.reembed_process", MODEL]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _parts(repository: MemoryRepository) -> int:
    return len(list((repository.path / ".memsuite" / "reembed").glob("*/part-*.parquet")))


def _killed_after_another_part(repository: MemoryRepository) -> None:
    staged, process = _parts(repository), _started()
    deadline = time.monotonic() + PATIENCE
    while _parts(repository) == staged and time.monotonic() < deadline:
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert _parts(repository) > staged


def test_killed_it_resumes_and_ends_verified(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    reopened: Callable[[], MemoryRepository],
) -> None:
    for start in range(0, ROWS, 1000):
        names = range(start, min(start + 1000, ROWS))
        repository.add_many([payload(f"Subject_{number}", f"n={number}") for number in names], agent)
    before = str(repository.embedder.identity)
    vector = repository.embedder.embed_query("Orchard Subject 7: n=7")
    for _ in range(KILLS):
        _killed_after_another_part(repository)
        handle = reopened()
        assert handle.snapshot().embedding_id == before
        nearest = handle.snapshot().nearest(vector, limit=1)[0][0]
        assert handle.get(nearest).memory.subject == "Subject_7"
        assert handle.snapshot().lexical("subject_7", limit=1)[0][0] == nearest
    process = _started()
    resumed = int(process.communicate()[0])
    assert resumed >= KILLS * PART_ROWS
    after = MemoryRepository(repository.settings, embedder_of(MODEL))
    assert after.snapshot().embedding_id == str(after.embedder.identity)
    assert after.count() == ROWS
    assert verify(after.path, lambda done, total: None).sound
