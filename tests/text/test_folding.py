from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.text.folding import fold, plain_text


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Dépendances", "dependances"),
        ("Ørsted", "orsted"),
        ("Ærlig", "aerlig"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ΑΘΉΝΑ", "αθηνα"),
        ("ＡＰＩ", "api"),
        ("œuvre", "oeuvre"),
    ],
)
def test_latin_and_greek_words_lose_case_and_accents(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize("word", ["майка", "がく", "ที่", "हिन्दी", "שלום", "سلام"])
def test_marks_that_make_another_letter_stay(word: str) -> None:
    assert fold(word) == word


def test_optional_vowel_points_are_left_out() -> None:
    assert fold("مُحَمَّد") == "محمد"
    assert fold("שָׁלוֹם") == "שלום"


def test_composed_and_decomposed_spellings_are_equal() -> None:
    assert fold("cafe\u0301") == fold("café") == "cafe"


def test_invisible_characters_vanish_and_typed_marks_are_one() -> None:
    assert plain_text("De\u00adpen\u200bdency l\u2019API top\u2011down") == "Dependency l'API top-down"


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("plane", range(4))
def test_every_character_folds_to_a_fixed_point(plane: int) -> None:
    for code in range(plane << 16, (plane + 1) << 16):
        once = fold(chr(code))
        assert fold(once) == once
