"""A spool beside a real database, and a worker over it with the static model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from memories.capture.counts import Counts
from memories.capture.line import SpoolLine
from memories.capture.spool import Spool, spool_folder
from memories.capture.worker import Worker
from memories.repository import MemoryRepository
from memories.settings import Settings, load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LineMaker = Callable[..., SpoolLine]
WorkerMaker = Callable[..., Worker]


@pytest.fixture
def settings() -> Settings:
    return load_settings()


@pytest.fixture
def repository(settings: Settings, fast_embedder: Embedder) -> MemoryRepository:
    return MemoryRepository.open(settings, fast_embedder)


@pytest.fixture
def spool(settings: Settings) -> Iterator[Spool]:
    made = Spool(spool_folder(settings.db_path))
    yield made
    made.close()


@pytest.fixture
def counts(settings: Settings) -> Counts:
    return Counts(settings.db_path)


@pytest.fixture
def line() -> LineMaker:
    """A line of its own id; `line("said", session_id=…)`."""

    def make(said: str = "Where does the gateway listen?", **more: Any) -> SpoolLine:
        given: dict[str, Any] = {
            "id": str(uuid4()),
            "kind": "exchange",
            "user_text": said,
            "assistant_text": "Noted.",
            "occurred_at": NOW,
            "session_id": "s1",
            "user_id": "ada",
        }
        return SpoolLine(**(given | more))

    return make


@pytest.fixture
def worker(
    spool: Spool, counts: Counts, settings: Settings, repository: MemoryRepository
) -> Iterator[WorkerMaker]:
    """Make a worker that is stopped at the end; `opener` lends another repository, or fails to."""
    made: list[Worker] = []

    @contextmanager
    def lend() -> Iterator[MemoryRepository]:
        yield repository

    def make(opener: Callable[[], AbstractContextManager[MemoryRepository]] = lend, **more: Any) -> Worker:
        one = Worker(spool, counts, settings, opener, spawn=spawned, **more)
        made.append(one)
        return one

    yield make
    for one in made:
        one.stop(5.0)


def spawned(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
