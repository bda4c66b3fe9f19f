from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.text.distance import within_one_typo

LETTERS = st.text("abc", min_size=4, max_size=7)


@pytest.mark.parametrize(
    ("a", "b"),
    [("hermes", "hermes"), ("hermes", "herms"), ("hermes", "hermmes"), ("hermes", "hernes"),
     ("hermes", "hemres"), ("lancedb", "lancedbs"), ("lancedb", "ancedb"), ("ab", "ab")],
)  # fmt: skip
def test_one_typo_or_none_is_within(a: str, b: str) -> None:
    assert within_one_typo(a, b)
    assert within_one_typo(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("hermes", "hrms"),
        ("hermes", "semreh"),
        ("cat", "car"),
        ("cats", "cat"),
        ("abcd", "badc"),
        ("", "abcd"),
    ],
)
def test_two_typos_and_short_words_are_not(a: str, b: str) -> None:
    assert not within_one_typo(a, b)
    assert not within_one_typo(b, a)


def _edits(word: str) -> set[str]:
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    deleted = {a + b[1:] for a, b in cuts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    replaced = {a + c + b[1:] for a, b in cuts if b for c in "abc"}
    inserted = {a + c + b for a, b in cuts for c in "abc"}
    return {word} | deleted | swapped | replaced | inserted


@given(LETTERS, LETTERS)
def test_agrees_with_trying_every_single_edit(a: str, b: str) -> None:
    assert within_one_typo(a, b) == (b in _edits(a))
