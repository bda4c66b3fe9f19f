from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memories.capture.cutting import LONGEST_SIDE, cut_at_word


def test_what_fits_is_kept_whole() -> None:
    assert cut_at_word("x" * LONGEST_SIDE) == ("x" * LONGEST_SIDE, False)


def test_a_longer_side_ends_with_a_whole_word() -> None:
    text, cut = cut_at_word("alpha beta gamma", longest=12)
    assert (text, cut) == ("alpha beta", True)


def test_a_cut_between_words_takes_no_word_away() -> None:
    assert cut_at_word("alpha beta gamma", longest=10) == ("alpha beta", True)


def test_one_endless_word_is_cut_inside() -> None:
    assert cut_at_word("a b" + "x" * 20, longest=10) == ("a b" + "x" * 7, True)


@given(st.text(max_size=60), st.integers(min_value=1, max_value=40))
def test_what_is_kept_is_a_beginning_and_never_too_long(text: str, longest: int) -> None:
    kept, cut = cut_at_word(text, longest)
    assert len(kept) <= longest
    assert text.strip().startswith(kept)
    assert cut == (len(text.strip()) > longest)
