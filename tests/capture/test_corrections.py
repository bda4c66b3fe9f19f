from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintenance.bench.labelled import HELD_OUT, LANGUAGES, agreement, labelled
from memories.capture.corrections import corrections_in, is_correction
from memories.capture.phrases import PhraseKind

# Each of the words that the specification names, in a correction.
NAMED = (
    "No, the gateway listens on 7788.",
    "Wrong, it is the other host.",
    "I meant the other host.",
    "Not quite, the timer is hourly.",
    "I disagree, the old name was better.",
    "You're confusing the two hosts.",
    "You got it wrong, it is the other host.",
    "Nei, porten er 7788.",
    "Feil, det er den andre serveren.",
    "Du tar feil, det er den andre serveren.",
    "Du misforstår, jeg vil ha den andre.",
    "Det stemmer ikke, det er den andre.",
    "Ikke korrekt, lisensen er MIT.",
    "Svaret er ikke korrekt.",
    "Du blander de to serverne.",
    "Du forvirrer meg.",
    "Hold kje, svar på spørsmålet.",
    "Husk på at NAS-en er av om natta.",
    "Hallå, jeg ba om to kolonner!",
)
ORDINARY = ("No problem, take your time.", "Nei takk.", "Korrekt svar.", "That's correct.", "Never mind.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labelled_set_is_large_and_half_of_it_looks_alike(language: str):
    sentences = labelled(language)
    assert len(sentences) >= 200
    assert 0.4 < sum(one.corrects for one in sentences) / len(sentences) < 0.6


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_agree_with_the_labels(language: str):
    found = agreement(labelled(language))
    assert found.precision >= 0.95
    assert found.recall >= 0.80


@pytest.mark.parametrize("language", LANGUAGES)
def test_they_agree_where_they_were_not_made_too(language: str):
    found = agreement([one for one in labelled(language) if one.part == HELD_OUT])
    assert found.precision >= 0.90
    assert found.recall >= 0.80


@pytest.mark.parametrize("sentence", NAMED)
def test_each_named_word_fires_in_a_correction(sentence: str):
    assert is_correction(sentence)


@pytest.mark.parametrize("sentence", ORDINARY)
def test_the_same_words_in_an_ordinary_answer_do_not(sentence: str):
    assert not is_correction(sentence)


@pytest.mark.parametrize(
    "word", ["nobody", "Feilen", "wrongdoing", "Neida-gruppen", "husker", "hold kjelen varm"]
)
def test_a_longer_word_is_another_word(word: str):
    assert not is_correction(f"{word} er her")


@pytest.mark.parametrize("answer", ["No, the first one.", "Nei, den første."])
def test_after_a_question_no_is_an_answer(answer: str):
    assert is_correction(answer, after="I took the second one.")
    assert not is_correction(answer, after="Shall I take the second one?")


def test_after_a_question_other_corrections_still_count():
    assert is_correction("That's wrong, I asked for the first.", after="Shall I go on?")


def test_what_is_quoted_or_pasted_is_not_said():
    assert not is_correction('Translate "you got it wrong" for me')
    assert not is_correction("> No, that is wrong.\nWhat does he mean by that?")
    assert not is_correction("```\nNever push to main.\n```\nExplain this please")


def test_every_correcting_sentence_is_found_with_its_place():
    found = corrections_in("Thanks. No, use pnpm here. Always run the linter first. Fine otherwise.")
    assert [(one.kind, one.position) for one in found] == [
        (PhraseKind.DIRECT, 1),
        (PhraseKind.INSTRUCTION, 2),
    ]


def test_a_long_pasted_message_is_read_at_both_ends():
    assert is_correction("log line\n" * 5_000 + "No, that is the wrong log.")


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str):
    for found in corrections_in(text, after=text):
        assert found.sentence in found.said
