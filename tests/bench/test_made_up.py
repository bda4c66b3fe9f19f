from __future__ import annotations

import numpy as np

from maintenance.bench.hash_vectors import HashEmbedder
from maintenance.bench.made_up import payload, question, vocabulary
from memories.contract import validate_add
from memories.embedding import Embedder


def test_each_memory_is_one_the_contract_takes_and_has_a_subject_of_its_own() -> None:
    forms = [validate_add(payload(number)).form for number in range(200)]
    assert len({form.subject_key for form in forms}) == 200
    assert len({form.fingerprint for form in forms}) == 200


def test_a_number_always_makes_the_same_memory_and_question() -> None:
    assert payload(42) == payload(42)
    assert question(42) == question(42)


def test_relations_name_a_memory_that_was_made_before() -> None:
    subjects = {f"{payload(number)['domain']}:{payload(number)['subject']}" for number in range(60)}
    targets = {each["target"] for number in range(60) for each in payload(number)["relations"]}
    assert targets
    assert targets <= subjects


def test_invented_words_are_all_different() -> None:
    assert len(set(vocabulary())) == len(vocabulary())


def test_vectors_are_unit_and_a_text_s_own() -> None:
    embedder: Embedder = HashEmbedder()
    vectors = embedder.embed_documents(["one", "two", "one"])
    assert vectors.shape == (3, embedder.identity.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert np.array_equal(vectors[0], vectors[2])
    assert abs(float(vectors[0] @ vectors[1])) < 0.3
