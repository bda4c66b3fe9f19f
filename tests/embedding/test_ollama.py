from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.ollama_server import DIMENSION, Fault, OllamaServer

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.base import Readiness
from memories.embedding.circuit import CircuitBreaker
from memories.embedding.local import LocalEmbedder
from memories.embedding.ollama import OllamaEmbedder
from memories.embedding.ollama_connection import OllamaLimits

SHORT = OllamaLimits(connect_s=0.3, query_s=0.4, batch_s=5.0)
"""For the faults that only time can end."""


@pytest.fixture
def hurried(server: OllamaServer) -> Iterator[OllamaEmbedder]:
    """One with short limits, and already knowing its dimension, as in the middle of a day."""
    embedder = OllamaEmbedder("nomic-embed-text", server.host, limits=SHORT)
    embedder.warm_up()
    yield embedder
    embedder.close()


@pytest.fixture
def closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def failure(embedder: OllamaEmbedder, text: str = "which port") -> MemsuiteError:
    with pytest.raises(MemsuiteError) as refusal:
        embedder.embed_query(text)
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED
    assert refusal.value.retryable
    return refusal.value


# --- when all is well


def test_vectors_are_those_of_the_model_behind(ollama: OllamaEmbedder, minilm: LocalEmbedder) -> None:
    expected = minilm.embed_query("search_query: which port")
    np.testing.assert_allclose(ollama.embed_query("which port"), expected, atol=1e-5)


def test_queries_and_documents_get_their_prefix(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    ollama.embed_query("which port")
    ollama.embed_documents(["It is 7777."])
    assert [request["input"] for request in server.requests] == [
        ["search_query: which port"],
        ["search_document: It is 7777."],
    ]


def test_another_model_gets_no_prefix(minilm: LocalEmbedder) -> None:
    with OllamaServer(models=["bge-m3:latest"], embedder=minilm) as server:
        embedder = OllamaEmbedder("bge-m3", server.host)
        embedder.embed_query("which port")
        embedder.close()
        assert server.requests[0]["input"] == ["which port"]


def test_a_batch_keeps_its_order(ollama: OllamaEmbedder, server: OllamaServer, minilm: LocalEmbedder) -> None:
    texts = [f"memory {number} " + "word " * (number * 7 % 13) for number in range(40)]
    done: list[int] = []
    vectors = ollama.embed_documents(texts, done.append)
    expected = minilm.embed_documents([f"search_document: {text}" for text in texts])
    np.testing.assert_allclose(vectors, expected, atol=1e-4)
    assert done == [16, 32, 40]
    assert len(server.requests) == 3


def test_the_dimension_is_asked_for_once(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    assert {str(ollama.identity) for _ in range(5)} == {
        f"ollama/nomic-embed-text@{DIMENSION}#nomic-prefix-v1"
    }
    assert len(server.requests) == 1


def test_the_dimension_is_learned_from_any_answer(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    ollama.embed_query("which port")
    assert ollama.identity.dimension == DIMENSION
    assert len(server.requests) == 1


def test_eight_threads_share_one_embedder(ollama: OllamaEmbedder, minilm: LocalEmbedder) -> None:
    texts = [f"memory {number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        vectors = np.stack(list(pool.map(ollama.embed_query, texts * 4)))
    expected = minilm.embed_documents([f"search_query: {text}" for text in texts])
    np.testing.assert_allclose(vectors, np.tile(expected, (4, 1)), atol=1e-4)


def test_a_state_costs_no_request(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    assert ollama.state().readiness is Readiness.COLD
    ollama.warm_up()
    assert ollama.state().readiness is Readiness.READY
    assert len(server.requests) == 1


def test_closing_ends_its_thread_and_a_later_call_starts_another(ollama: OllamaEmbedder) -> None:
    others = set(threading.enumerate())
    for _ in range(3):
        ollama.embed_query("which port")
        assert "memsuite-ollama" in {thread.name for thread in set(threading.enumerate()) - others}
        ollama.close()
        ollama.close()
        assert "memsuite-ollama" not in {thread.name for thread in set(threading.enumerate()) - others}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_its_own_connection(ollama: OllamaEmbedder) -> None:
    expected = ollama.embed_query("which port")
    child = os.fork()
    if child == 0:
        same = False
        try:
            same = np.allclose(ollama.embed_query("which port"), expected)
        finally:
            os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- length


def test_a_long_text_is_cut_before_it_is_sent(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    ollama.embed_documents(["word " * 5000])
    (sent,) = server.requests[0]["input"]
    assert len(sent) <= len("search_document: ") + 6144
    assert sent.endswith("word")


def test_a_text_the_server_finds_too_long_is_halved_until_taken(
    ollama: OllamaEmbedder, server: OllamaServer, minilm: LocalEmbedder
) -> None:
    server.context_words = 100
    texts = ["short and sweet", "a b " * 100]
    vectors = ollama.embed_documents(texts)
    np.testing.assert_allclose(vectors[0], minilm.embed_query("search_document: short and sweet"), atol=1e-4)
    assert len(server.requests[-1]["input"][0].split()) <= 100
    assert server.requests[-1]["input"][0].startswith("search_document: a b a b")


def test_a_server_that_finds_everything_too_long_fails(ollama: OllamaEmbedder, server: OllamaServer) -> None:
    server.context_words = 1
    assert "context length" in failure(ollama, "word " * 1000).message


# --- faults


@pytest.mark.parametrize("fault", Fault)
def test_each_fault_is_a_retryable_error_and_the_next_call_is_fine(
    hurried: OllamaEmbedder, server: OllamaServer, fault: Fault
) -> None:
    server.next_faults.append(fault)
    failure(hurried)
    assert hurried.state().readiness is Readiness.FAILING
    assert hurried.embed_query("which port").shape == (DIMENSION,)
    assert hurried.state().readiness is Readiness.READY


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.WRONG_DIMENSION])
def test_a_fault_at_the_very_first_call_teaches_no_dimension(server: OllamaServer, fault: Fault) -> None:
    embedder = OllamaEmbedder("nomic-embed-text", server.host, limits=SHORT)
    server.next_faults.append(fault)
    failure(embedder)
    assert embedder.identity.dimension == DIMENSION
    embedder.close()


@pytest.mark.parametrize("fault", [Fault.HANGS, Fault.DRIBBLES_HEADERS, Fault.DRIBBLES_BODY])
def test_the_whole_exchange_has_a_limit(hurried: OllamaEmbedder, server: OllamaServer, fault: Fault) -> None:
    """Without one, these servers would hold the call until the test run is killed."""
    server.next_faults.append(fault)
    assert "within 0.4 s" in failure(hurried).message


def test_a_batch_has_its_own_limit(server: OllamaServer) -> None:
    embedder = OllamaEmbedder("nomic-embed-text", server.host, limits=OllamaLimits(0.3, 5.0, 0.4))
    server.next_faults.append(Fault.DRIBBLES_BODY)
    with pytest.raises(MemsuiteError, match=r"within 0\.4 s"):
        embedder.embed_documents(["one", "two"])
    embedder.close()


def test_a_refused_connection_says_that_nothing_runs_there(closed_port: str) -> None:
    embedder = OllamaEmbedder("nomic-embed-text", closed_port)
    assert closed_port in failure(embedder).message
    embedder.close()


def test_a_missing_model_is_named_with_the_command_that_gets_it(server: OllamaServer) -> None:
    embedder = OllamaEmbedder("snowflake-arctic-embed", server.host)
    assert "ollama pull snowflake-arctic-embed" in failure(embedder).message
    embedder.close()


def test_no_error_quotes_the_text(hurried: OllamaEmbedder, server: OllamaServer) -> None:
    for fault in (Fault.SERVER_ERROR, Fault.ZERO_VECTOR):
        server.next_faults.append(fault)
        assert "hunter2" not in str(failure(hurried, "the word is hunter2").as_answer())


def test_closing_ends_a_call_that_hangs(server: OllamaServer) -> None:
    embedder = OllamaEmbedder("nomic-embed-text", server.host)
    server.fault = Fault.HANGS
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(failure, embedder)
        while not server.requests:
            pass
        embedder.close()
        assert "closed" in call.result(timeout=5).message


# --- the circuit


def test_three_failures_open_the_circuit_and_it_recovers(server: OllamaServer) -> None:
    now = [0.0]
    embedder = OllamaEmbedder("nomic-embed-text", server.host, breaker=CircuitBreaker(clock=lambda: now[0]))
    server.fault = Fault.SERVER_ERROR
    for _ in range(3):
        failure(embedder)
    assert embedder.state().readiness is Readiness.OPEN_CIRCUIT
    failure(embedder)
    assert len(server.requests) == 3, "an open circuit asks nothing"
    now[0] = 30.0
    failure(embedder)
    assert len(server.requests) == 4, "half open, it asks once"
    failure(embedder)
    assert len(server.requests) == 4
    server.fault, now[0] = None, 60.0
    embedder.embed_query("which port")
    assert embedder.state().readiness is Readiness.READY
    embedder.close()


def test_a_blank_text_is_refused_without_blaming_the_server(
    ollama: OllamaEmbedder, server: OllamaServer
) -> None:
    for _ in range(4):
        failure(ollama, "  ")
    assert ollama.embed_query("which port").shape == (DIMENSION,)


# --- proxies


@pytest.fixture
def dead_proxy(monkeypatch: pytest.MonkeyPatch, closed_port: str) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{closed_port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)


@pytest.mark.usefixtures("dead_proxy")
def test_this_machine_is_reached_without_the_proxy(server: OllamaServer) -> None:
    embedder = OllamaEmbedder("nomic-embed-text", server.host)
    assert embedder.embed_query("which port").shape == (DIMENSION,)
    embedder.close()


def test_another_machine_is_reached_through_the_proxy(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{server.host}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    embedder = OllamaEmbedder("nomic-embed-text", "ollama.invalid:11434")
    assert embedder.embed_query("which port").shape == (DIMENSION,)
    embedder.close()


def test_a_proxy_of_no_use_is_a_retryable_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "gopher://nowhere")
    failure(OllamaEmbedder("nomic-embed-text", "ollama.invalid:11434"))
