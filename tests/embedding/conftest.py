from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.ollama_server import OllamaServer

from memories.embedding.local import LocalEmbedder
from memories.embedding.minilm import minilm_embedder
from memories.embedding.ollama import OllamaEmbedder


@pytest.fixture(scope="session")
def minilm() -> LocalEmbedder:
    return minilm_embedder()


@pytest.fixture
def server(minilm: LocalEmbedder) -> Iterator[OllamaServer]:
    with OllamaServer(embedder=minilm) as running:
        yield running


@pytest.fixture
def ollama(server: OllamaServer) -> Iterator[OllamaEmbedder]:
    embedder = OllamaEmbedder("nomic-embed-text", server.host)
    yield embedder
    embedder.close()
