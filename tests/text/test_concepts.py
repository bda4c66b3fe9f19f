"""Words that mean the same thing, across languages."""

from __future__ import annotations

import pytest

from memories.text.concepts import (
    concepts_in,
    concepts_of_compound,
    concepts_of_mistyped,
    concepts_of_word,
    leaves,
    phrases_in,
    words_of,
)
from memories.text.languages import Language
from memories.text.stems import stems


def _of(word: str, *languages: Language) -> frozenset[str]:
    return concepts_of_word((word, *stems(word)), languages)


@pytest.mark.parametrize("word", ["backup", "backups", "sauvegardes", "sikkerhetskopien", "respaldo"])
def test_a_concept_is_one_in_every_language_and_form(word: str) -> None:
    assert "backup" in _of(word)


def test_a_word_means_what_it_means_in_the_language_of_the_query() -> None:
    assert _of("gift", Language.ENGLISH) == {"gift"}
    assert _of("gift", Language.NORWEGIAN) == {"family"}


def test_the_longest_phrase_of_a_question_comes_first() -> None:
    found = [phrase.concept for _, phrase in phrases_in(leaves("Who looks after it?"))]
    assert found[0] == "owner"


def test_phrases_that_only_questions_use_say_nothing_about_a_memory() -> None:
    words = leaves("how often it runs")
    assert any(phrase.concept == "frequency" for _, phrase in phrases_in(words))
    assert "frequency" not in concepts_in(words)


def test_a_memory_says_blue_and_is_about_a_colour_while_a_question_for_red_is_not_for_any() -> None:
    assert "colour" in concepts_in(["blue"])
    assert "colour" not in _of("red")


def test_a_listed_word_is_not_what_a_longer_or_shorter_one_with_its_stem_is() -> None:
    assert _of("accessibility", Language.ENGLISH) == {"accessibility"}


def test_a_word_of_a_memory_means_what_it_means_in_the_memorys_language() -> None:
    assert "drink" not in concepts_in(leaves("the gate is where the road ends"))
    assert "drink" in concepts_in(leaves("je prends du thé avec elle et je pars"))


def test_function_words_have_no_meaning() -> None:
    assert concepts_in(leaves("not for the one that is with us")) == frozenset()


def test_a_concept_knows_its_words_by_language() -> None:
    by_language = words_of("backup")
    assert "sauvegarde" in by_language[Language.FRENCH]
    assert "sauvegarde" not in by_language[Language.ENGLISH]


def test_the_last_part_of_a_compound_says_what_it_is() -> None:
    assert "server" in concepts_of_compound("databaseserver")
    assert concepts_of_compound("server") == frozenset()


def test_one_typing_error_does_not_hide_a_meaning() -> None:
    assert "backup" in concepts_of_mistyped("backkup")
    assert concepts_of_mistyped("zzzyzzx") == frozenset()
