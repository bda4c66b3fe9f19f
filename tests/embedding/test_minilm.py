from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.base import Readiness
from memories.embedding.local import LocalEmbedder, LocalModel
from memories.embedding.minilm import (
    MODEL_SHA256,
    TOKENIZER_FILE,
    TOKENIZER_SHA256,
    MiniLMEncoder,
    installed_model,
    minilm_embedder,
    verify,
)

SENTENCES = [
    "The recall service listens on port 7777.",
    "Backups are written to the second disk every night at two, and a copy is sent to the house in Oslo.",
    "Marie decided to keep PostgreSQL.",
    "Le café est fermé le lundi.",
]


def similarity(embedder: LocalEmbedder, one: str, other: str) -> float:
    a, b = embedder.embed_documents([one, other])
    return float(a @ b)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("How do I reset my password?", "I forgot my login credentials.", "The soup needs more salt."),
        ("The database runs on port 5432.", "PostgreSQL listens on 5432.", "The cat sleeps on the sofa."),
        ("Deploys happen on Friday.", "We release at the end of the week.", "Octopuses have three hearts."),
        ("She was appointed chief executive.", "The company has a new boss.", "Boil the pasta."),
    ],
)
def test_a_paraphrase_is_nearer_than_something_unrelated(
    minilm: LocalEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    near, far = similarity(minilm, text, paraphrase), similarity(minilm, text, unrelated)
    assert near > far + 0.2


@pytest.mark.parametrize(
    ("other", "expected"),
    [("That is a happy dog", 0.695), ("That is a very happy person", 0.943), ("Today is a sunny day", 0.257)],
)
def test_known_pairs_have_the_similarity_of_the_full_precision_model(
    minilm: LocalEmbedder, other: str, expected: float
) -> None:
    """The widely shown example of all-MiniLM-L6-v2: with a wrong vocabulary the numbers would be others."""
    assert similarity(minilm, "That is a happy person", other) == pytest.approx(expected, abs=0.02)


def test_case_and_accents_make_no_difference(minilm: LocalEmbedder) -> None:
    assert similarity(minilm, "Le café est fermé", "le cafe est ferme") == pytest.approx(1.0, abs=1e-5)


def test_vectors_are_float32_of_length_one(minilm: LocalEmbedder) -> None:
    vectors = minilm.embed_documents(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, minilm.identity.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_the_same_text_gives_the_same_vector(minilm: LocalEmbedder) -> None:
    np.testing.assert_array_equal(minilm.embed_query(SENTENCES[1]), minilm.embed_query(SENTENCES[1]))


def test_company_in_a_batch_does_not_change_a_vector(minilm: LocalEmbedder) -> None:
    texts = [sentence * times for sentence in SENTENCES for times in (1, 2, 5, 9)]
    alone = np.stack([minilm.embed_query(text) for text in texts])
    np.testing.assert_allclose(minilm.embed_documents(texts), alone, atol=1e-4)


def test_no_texts_give_no_rows(minilm: LocalEmbedder) -> None:
    assert minilm.embed_documents([]).shape == (0, 384)


def test_progress_counts_the_texts_done(minilm: LocalEmbedder) -> None:
    seen: list[int] = []
    minilm.embed_documents(SENTENCES * 5, seen.append)
    assert seen == [8, 16, 20]


def test_what_is_beyond_the_token_limit_has_no_part(minilm: LocalEmbedder) -> None:
    start = "alpha beta gamma " * 200
    np.testing.assert_array_equal(
        minilm.embed_query(start + "omega"), minilm.embed_query(start + "zebra " * 9999)
    )


@pytest.mark.parametrize(
    "text", ["日本語のメモ", "\ud800", "🙂" * 500, "x" * 100_000, "[MASK] [SEP]", "a\0b"]
)
def test_odd_texts_are_embedded_too(minilm: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(minilm.embed_query(text)) == pytest.approx(1.0, abs=1e-6)


def test_eight_threads_share_one_model() -> None:
    embedder = minilm_embedder()
    expected = minilm_embedder().embed_documents(SENTENCES)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda index: embedder.embed_query(SENTENCES[index % 4]), range(80)))
    np.testing.assert_allclose(np.stack(results), expected[np.arange(80) % 4], atol=1e-4)


def test_eight_threads_at_the_start_load_it_once() -> None:
    loads: list[int] = []

    def load() -> MiniLMEncoder:
        loads.append(1)
        return MiniLMEncoder(installed_model(), TOKENIZER_FILE)

    embedder = LocalEmbedder(LocalModel(minilm_embedder().identity, load, max_chars=100, batch_size=8))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(embedder.embed_query, SENTENCES * 2))
    assert loads == [1]


def test_it_is_cold_then_ready_then_cold_again() -> None:
    embedder = minilm_embedder()
    assert embedder.state().readiness is Readiness.COLD
    embedder.warm_up()
    assert embedder.state().readiness is Readiness.READY
    embedder.close()
    assert embedder.state().readiness is Readiness.COLD
    embedder.embed_query("still of use")


def test_the_installed_files_are_the_expected_ones() -> None:
    verify(installed_model(), MODEL_SHA256)
    verify(TOKENIZER_FILE, TOKENIZER_SHA256)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    copy = tmp_path / "model.onnx"
    shutil.copyfile(installed_model(), copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff\x00\xff")
    return copy


def test_a_damaged_model_is_refused_and_a_mended_one_taken(damaged: Path) -> None:
    source = [damaged]
    embedder = LocalEmbedder(
        LocalModel(minilm_embedder().identity, lambda: MiniLMEncoder(source[0], TOKENIZER_FILE), 100, 8)
    )
    with pytest.raises(MemsuiteError) as refusal:
        embedder.embed_query("anything")
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED
    assert refusal.value.expected == MODEL_SHA256
    assert embedder.state().readiness is Readiness.FAILING
    source[0] = installed_model()
    embedder.embed_query("anything")
    assert embedder.state().readiness is Readiness.READY


def test_a_file_changed_after_its_check_is_checked_again(tmp_path: Path) -> None:
    copy = tmp_path / "tokenizer.json"
    shutil.copyfile(TOKENIZER_FILE, copy)
    verify(copy, TOKENIZER_SHA256)
    with copy.open("a") as file:
        file.write(" ")
    with pytest.raises(MemsuiteError):
        verify(copy, TOKENIZER_SHA256)


def test_a_missing_model_is_an_embedding_failure(tmp_path: Path) -> None:
    with pytest.raises(MemsuiteError) as refusal:
        verify(tmp_path / "model.onnx", MODEL_SHA256)
    assert refusal.value.retryable
