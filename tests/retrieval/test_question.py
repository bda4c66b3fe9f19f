from __future__ import annotations

import pytest

from memories.retrieval.question import KIN_WORTH, TYPO_WORTH, Match, Question
from tests.retrieval.documents import document


def _names(query: str) -> set[str]:
    return {term.word for term in Question.of(query).terms if term.is_name}


def _often(query: str, *facts: str) -> float:
    return Match.of(Question.of(query), document("Orchard:entry", *facts)).often[0]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("when does Maren come back", {"maren"}),
        ("quand revient Hélène", {"helene"}),
        ("Quillmark: which port", {"quillmark"}),
        ("House rules of Tidewater", {"tidewater"}),
        ("which IDE does the team use on Sundays", set()),
        ("does it run on Python", set()),
        ("wie heißt der Server im Keller", set()),
        ("tidewater backup hour", {"tidewater"}),
        ("backup hour", set()),
    ],
)
def test_names_are_told_by_how_they_are_written(query: str, names: set[str]) -> None:
    assert _names(query) == names


def test_a_term_is_counted_in_any_of_its_forms() -> None:
    assert _often("backups", "The backup of the backups runs at night") == 2


def test_a_name_with_one_slip_still_counts() -> None:
    assert _often("Quilmark", "Quillmark sends the letters") == TYPO_WORTH


def test_a_known_word_is_not_taken_for_a_slip() -> None:
    assert _often("house", "the horse stands in the stable") == 0


@pytest.mark.parametrize(
    ("query", "fact"),
    [("kartet", "salkartet viser plassene"), ("astronomique", "astronomi er gøy")],
)
def test_parts_of_compounds_and_cognates_count_half(query: str, fact: str) -> None:
    assert _often(query, fact) == KIN_WORTH


def test_relation_words_weigh_less_than_content() -> None:
    plain, relation = Question.of("gateway depends").terms
    assert relation.weight < 0.5 * plain.weight


def test_literal_words_are_no_content() -> None:
    assert [term.word for term in Question.of("gateway verbatim").terms] == ["gateway"]
