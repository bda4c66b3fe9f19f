"""A model server that misbehaves: a typed retryable error within its limit, no row, no lock held."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding.ollama import OllamaEmbedder
from memories.embedding.ollama_connection import OllamaLimits
from memories.repository import Author, MemoryRepository
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.support.ollama_server import Fault, OllamaServer

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

SHORT = OllamaLimits(connect_s=0.5, query_s=1.5, batch_s=1.5)


@pytest.fixture
def server(real_embedder: Embedder) -> Iterator[OllamaServer]:
    with OllamaServer(embedder=real_embedder) as running:
        yield running


@pytest.fixture
def repository(settings: Settings, server: OllamaServer) -> Iterator[MemoryRepository]:
    embedder = OllamaEmbedder("nomic-embed-text", server.host, limits=SHORT)
    yield MemoryRepository.open(settings, embedder, lock_wait=0.5)
    embedder.close()


@pytest.fixture
def stored(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> str:
    return repository.add(payload("Stored"), agent).memory_id


@pytest.mark.parametrize("fault", list(Fault))
def test_each_fault_is_a_retryable_error_and_stores_nothing(
    repository: MemoryRepository,
    server: OllamaServer,
    agent: Author,
    payload: PayloadMaker,
    stored: str,
    fault: Fault,
) -> None:
    head = (repository.path / "HEAD").read_text()
    server.fault = fault
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Another"), agent)
    assert refused.value.code is ErrorCode.EMBEDDING_FAILED
    assert refused.value.retryable
    assert (repository.path / "HEAD").read_text() == head
    server.fault = None
    assert repository.add(payload("Another"), agent).status == "created"


def test_while_the_model_hangs_others_write_and_read(
    repository: MemoryRepository, server: OllamaServer, agent: Author, payload: PayloadMaker, stored: str
) -> None:
    server.fault = Fault.HANGS
    outcome: list[MemsuiteError] = []

    def add() -> None:
        try:
            repository.add(payload("Another"), agent)
        except MemsuiteError as error:
            outcome.append(error)

    hanging = threading.Thread(target=add)
    hanging.start()
    while not any("Another" in str(request) for request in server.requests):
        assert hanging.is_alive() or outcome
        if outcome:
            break
    repository.update(stored, {"tags": ["meanwhile"]}, agent, patch=True)
    assert "meanwhile" in repository.get(stored).memory.tags
    hanging.join()
    assert [error.code for error in outcome] == [ErrorCode.EMBEDDING_FAILED]


def test_a_server_that_is_not_there_leaves_reading_and_the_trash_working(
    repository: MemoryRepository, settings: Settings, agent: Author, payload: PayloadMaker, stored: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = OllamaEmbedder("nomic-embed-text", f"127.0.0.1:{taken.getsockname()[1]}", limits=SHORT)
        alone = MemoryRepository.open(settings, gone)
        with pytest.raises(MemsuiteError) as refused:
            alone.add(payload("Another"), agent)
        assert refused.value.code is ErrorCode.EMBEDDING_FAILED
        assert alone.get(stored).memory.subject == "Stored"
        assert alone.list_memories().total == 1
        alone.delete(stored, agent)
        alone.restore(stored, agent)
        gone.close()


def test_the_circuit_opens_after_three_failures_and_nothing_is_asked_meanwhile(
    repository: MemoryRepository, server: OllamaServer, agent: Author, payload: PayloadMaker, stored: str
) -> None:
    server.fault = Fault.SERVER_ERROR
    for number in range(3):
        with pytest.raises(MemsuiteError):
            repository.add(payload(f"Try_{number}"), agent)
    asked = len(server.requests)
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Fourth"), agent)
    assert refused.value.code is ErrorCode.EMBEDDING_FAILED
    assert len(server.requests) == asked
    assert repository.count() == 1
