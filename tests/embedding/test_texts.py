from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.texts import cut_at_word, embed_in_batches, embeddable


@given(text=st.text(), limit=st.integers(1, 40))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_at_word(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut)


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 10, "one two"),
        ("one two three", 7, "one two"),
        ("a 漢字漢字漢字漢字", 8, "a 漢字漢字漢字"),
    ],
)
def test_the_cut_is_at_a_word_unless_that_would_lose_half(text: str, limit: int, cut: str) -> None:
    assert cut_at_word(text, limit) == cut


def test_what_no_model_takes_is_replaced() -> None:
    assert embeddable(" a\ud800b\0c ", 100) == "a?b c"


def test_a_text_of_blanks_is_refused() -> None:
    with pytest.raises(MemsuiteError) as refusal:
        embeddable(" \n\t", 100)
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED


@given(lengths=st.lists(st.integers(1, 50), max_size=40), size=st.integers(1, 9))
def test_rows_come_back_in_the_order_of_the_texts(lengths: list[int], size: int) -> None:
    texts = ["x" * length for length in lengths]
    seen: list[int] = []
    vectors = embed_in_batches(
        texts,
        size,
        lambda batch: np.array([[len(text)] for text in batch], np.float32),
        lambda: 1,
        seen.append,
    )
    assert vectors[:, 0].tolist() == lengths
    assert seen == [min(done, len(texts)) for done in range(size, len(texts) + size, size)]
