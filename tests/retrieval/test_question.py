from __future__ import annotations

import pytest

from memories.retrieval.question import KIN_WORTH, TYPO_WORTH, Match, Question
from tests.retrieval.documents import document


def _names(query: str) -> set[str]:
    return {term.word for term in Question.of(query).terms if term.is_name}


def _often(query: str, *facts: str) -> float:
    return Match.of(Question.of(query), document("Orchard:entry", *facts)).often[0]


def _carried(query: str, *facts: str) -> float:
    return _often(query, *facts) * Question.of(query).terms[0].weight


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
        ("Rose Tremlaine's desk", {"rose", "tremlaine"}),
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


@pytest.mark.parametrize(
    "query",
    [
        "what is Tidewater?",
        "explain Tidewater to me in two senences",
        "what do we know about Tidewater?",
        "je débarque : ce fameux Tidewater dont tout le monde parle, ça sert à quoi ?",
        "fortell meg om Tidewater",
        "worum geht es bei Tidewater?",
        "¿qué sabemos de Tidewater?",
    ],
)
def test_a_question_about_a_name_in_general_asks_for_the_name_alone(query: str) -> None:
    question = Question.of(query)
    assert [term.word for term in question.terms] == ["tidewater"]
    assert not question.kinds


@pytest.mark.parametrize("query", ["what does Tidewater cost?", "how does Tidewater work with dogs?"])
def test_a_question_about_one_thing_of_a_name_is_not_general(query: str) -> None:
    assert len(Question.of(query).terms) > 1


def test_a_meaning_said_twice_is_not_asked_twice() -> None:
    weights = {term.word: term.weight for term in Question.of("Orchard invoice bill").terms}
    assert min(weights["invoice"], weights["bill"]) < 0.5 * max(weights["invoice"], weights["bill"])


def test_a_rare_meaning_tells_more_than_a_common_one() -> None:
    rare, common = _carried("sauvegarde", "The backup runs"), _carried("jour", "It runs on a Monday")
    assert rare > common > 0


def test_a_phrase_that_asks_is_found_around_a_name() -> None:
    question = Question.of("when does it throw Tidewater out of the session")
    assert "session" in question.concepts


def test_literal_words_are_no_content() -> None:
    assert [term.word for term in Question.of("gateway verbatim").terms] == ["gateway"]
