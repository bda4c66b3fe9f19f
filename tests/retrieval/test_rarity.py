from __future__ import annotations

from memories.retrieval.rarity import UNKNOWN_ZIPF, rarity, zipf, zipf_values
from memories.text.folding import fold
from memories.text.languages import Language


def test_rarer_words_weigh_more() -> None:
    assert rarity("the") < rarity("house") < rarity("harbour") < rarity("qzxvlorp")


def test_an_unknown_word_is_rare_and_no_rarer_than_another() -> None:
    assert zipf("qzxvlorp") == UNKNOWN_ZIPF
    assert rarity("qzxvlorp") == rarity("vlorpqzx")


def test_a_word_common_in_any_language_is_common_where_no_language_is_clear() -> None:
    assert zipf("hus") == zipf_values(Language.NORWEGIAN)["hus"]
    assert zipf("maison") == zipf_values(Language.FRENCH)["maison"]


def test_in_a_clear_language_its_own_list_decides() -> None:
    assert zipf("pain", (Language.FRENCH,)) == zipf_values(Language.FRENCH)["pain"]
    assert zipf("pain", (Language.ENGLISH,)) == zipf_values(Language.ENGLISH)["pain"]
    assert zipf("pain", (Language.ENGLISH, Language.FRENCH)) == zipf("pain")


def test_a_word_the_clear_language_lacks_is_looked_up_in_the_others() -> None:
    assert zipf("fjord", (Language.FRENCH,)) == max(
        zipf_values(language).get("fjord", UNKNOWN_ZIPF)
        for language in (Language.ENGLISH, Language.NORWEGIAN)
    )


def test_the_lists_are_folded_as_search_folds() -> None:
    for language in (Language.ENGLISH, Language.FRENCH, Language.NORWEGIAN):
        values = zipf_values(language)
        assert len(values) == 20_000
        assert all(fold(word) == word and word.isalpha() for word in values)
