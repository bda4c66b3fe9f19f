"""From the spool into the store: once each, in batches, whatever fails meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memories.capture.counts import Counted, Counts
from memories.capture.filing import Filer
from memories.capture.listening import FiledTurn
from memories.capture.spool import Spool, files_in, spool_folder
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository
from memories.repository.turn_records import NewTurn
from memories.settings import Settings
from tests.capture.conftest import LineMaker, WorkerMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

SAID = (
    "The gateway listens on port 8443",
    "Bread is baked on Fridays",
    "Our cat is called Pixel",
    "Invoices go to the harbour office",
)


class SlowEmbedder:
    """The given embedder, at so many seconds a text."""

    def __init__(self, embedder: Embedder, seconds: float) -> None:
        self._embedder = embedder
        self._seconds = seconds

    def embed_documents(self, texts: Sequence[str], progress: Any = None) -> Any:
        time.sleep(self._seconds * len(texts))
        return self._embedder.embed_documents(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


def _texts(repository: MemoryRepository) -> set[str]:
    return {turn.user_text for turn in repository.turns.page(limit=500).rows}


def _wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to that within ten seconds")


def test_what_was_said_is_filed_and_the_spool_is_empty(
    worker: WorkerMaker, spool: Spool, repository: MemoryRepository, line: LineMaker, settings: Settings
) -> None:
    one = worker()
    one.start()
    for said in SAID:
        spool.append(line(said))
        one.turn_came()
    assert one.drain(10)
    assert _texts(repository) == set(SAID)
    assert {turn.wing for turn in repository.turns.page().rows} == {"general"}
    _wait_for(lambda: files_in(spool_folder(settings.db_path)) == [])


def test_what_a_dead_process_left_is_taken_up_at_the_start(
    worker: WorkerMaker, line: LineMaker, repository: MemoryRepository, settings: Settings
) -> None:
    folder = spool_folder(settings.db_path)
    folder.mkdir(parents=True)
    (folder / "999999.jsonl").write_bytes(b"".join(line(said).as_bytes() for said in SAID))
    worker().start()
    _wait_for(lambda: files_in(folder) == [])
    assert _texts(repository) == set(SAID)


def test_lines_filed_before_a_kill_and_read_again_stay_once(
    worker: WorkerMaker, line: LineMaker, repository: MemoryRepository, settings: Settings, counts: Counts
) -> None:
    """The kill falls between the commit and the mark: the lines are there again, all filed."""
    lines = [line(said) for said in SAID]
    Filer(repository, settings, Counts(settings.db_path), None).file(lines)
    folder = spool_folder(settings.db_path)
    folder.mkdir(parents=True)
    (folder / "999999.jsonl").write_bytes(b"".join(one.as_bytes() for one in lines))
    worker().start()
    _wait_for(lambda: files_in(folder) == [])
    assert [turn.seen_count for turn in repository.turns.page().rows] == [1] * len(SAID)
    assert counts.read()[Counted.FILED] == 0


def test_a_failing_store_keeps_the_lines_and_nobody_waits_for_it(
    worker: WorkerMaker, spool: Spool, line: LineMaker, repository: MemoryRepository
) -> None:
    refusing = threading.Event()
    refusing.set()

    @contextmanager
    def opener() -> Iterator[MemoryRepository]:
        if refusing.is_set():
            raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "It does not answer.")
        yield repository

    one = worker(opener)
    spool.append(line(SAID[0]))
    one.turn_came()
    one.start()
    _wait_for(lambda: bool(one.problem))
    assert one.problem == "embedding_failed: It does not answer."
    assert not one.drain(60)
    refusing.clear()
    _wait_for(spool.is_empty)
    assert _texts(repository) == {SAID[0]}
    assert one.problem == ""


def test_one_turn_that_cannot_be_filed_does_not_keep_the_others_out(
    worker: WorkerMaker,
    spool: Spool,
    line: LineMaker,
    repository: MemoryRepository,
    counts: Counts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared = Filer._prepared

    def failing(self: Filer, one: Any, before: Any) -> NewTurn:
        if "cat" in one.user_text:
            raise ZeroDivisionError
        return prepared(self, one, before)

    monkeypatch.setattr(Filer, "_prepared", failing)
    one = worker()
    for said in SAID:
        spool.append(line(said))
        one.turn_came()
    one.start()
    assert one.drain(10)
    assert _texts(repository) == set(SAID) - {"Our cat is called Pixel"}
    assert counts.read()[Counted.UNFILEABLE] == 1


def test_a_stop_files_what_its_time_allows_and_leaves_the_rest_on_the_disk(
    worker: WorkerMaker,
    spool: Spool,
    line: LineMaker,
    settings: Settings,
    fast_embedder: Embedder,
) -> None:
    repository = MemoryRepository(settings, SlowEmbedder(fast_embedder, 0.02))  # type: ignore[arg-type]
    lines = [line(" ".join(np.random.default_rng(n).permutation(400)[:9].astype(str))) for n in range(64)]

    @contextmanager
    def opener() -> Iterator[MemoryRepository]:
        yield repository

    Filer(repository, settings, Counts(settings.db_path), None).file([line("the table is there")])
    for one_line in lines:
        spool.append(one_line)
    one = worker(opener)
    one.start()
    one.stop(1.5)
    while not one.stop(1.0):
        pass
    filed = sum(turn.seen_count for turn in repository.turns.page(limit=100).rows) - 1
    assert 0 < filed < len(lines)
    spool.close()
    again = Spool(spool_folder(settings.db_path))
    (left,) = again.files()
    batch = left.batch(100)
    assert batch is not None
    assert len(batch.waiting) == len(lines) - filed
    again.close()


def test_a_secret_that_only_the_thorough_pass_sees_is_masked_before_filing(
    repository: MemoryRepository, line: LineMaker, settings: Settings, counts: Counts
) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2"
    Filer(repository, settings, counts, None).file([line(f"keep {token}")])
    assert _texts(repository) == {"keep [GitHub token removed]"}
    assert counts.read()[Counted.SECRETS] == 1


class Hearing:
    """A listener that takes "No," for a correction and keeps what it is told."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.told: list[tuple[str, str | None]] = []

    def is_correction(self, turn: NewTurn, after: str) -> bool:
        self.asked.append((turn.user_text, after))
        return turn.user_text.startswith("No,")

    def filed(self, repository: MemoryRepository, turns: Sequence[FiledTurn]) -> None:
        self.told += [(one.row.user_text, one.before.user_text if one.before else None) for one in turns]


def test_a_listener_hears_each_exchange_with_the_one_before(
    repository: MemoryRepository, line: LineMaker, settings: Settings, counts: Counts
) -> None:
    hearing = Hearing()
    filer = Filer(repository, settings, counts, hearing)
    first = line("Where is it?", assistant_text="On port 80.")
    filer.file([first])
    filer.file(
        [
            line("No, on 8443"),
            line("a task", kind="delegation", session_id="child"),
            line("Thanks, that works"),
        ]
    )
    filer.file([first])
    assert hearing.asked[:3] == [
        ("Where is it?", ""),
        ("No, on 8443", "On port 80."),
        ("Thanks, that works", "Noted."),
    ]
    assert hearing.told == [
        ("Where is it?", None),
        ("No, on 8443", "Where is it?"),
        ("Thanks, that works", "No, on 8443"),
    ]
    (correction,) = [turn for turn in repository.turns.page().rows if turn.is_correction]
    assert (correction.wing, correction.trust) == ("corrections", 1.0)
