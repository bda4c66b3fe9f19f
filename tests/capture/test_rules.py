from __future__ import annotations

import pytest

from memories.capture.corrections import corrections_in
from memories.capture.rules import corrected_sentence, needs_context, teaching_sentences


def rules(message: str) -> tuple[str, ...]:
    return teaching_sentences(corrections_in(message))


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("No, the gateway listens on 7788.", "The gateway listens on 7788."),
        ("wrong: the backup starts at three", "The backup starts at three."),
        ("Wrong. The backup starts at three.", "The backup starts at three."),
        ("That is not correct; we moved to Postgres.", "We moved to Postgres."),
        ("I already told you that Ann is on leave.", "Ann is on leave."),
        ("Remember that the key hangs in the garage.", "The key hangs in the garage."),
        ("From now on, write dates as 2026-11-30.", "Write dates as 2026-11-30."),
        ("Always run the linter before you commit.", "Always run the linter before you commit."),
        ("The port is 5433, not 5432.", "The port is 5433, not 5432."),
        ("You forgot the migration again.", "Do not forget the migration."),
        ("You're confusing staging with production.", "Do not confuse staging with production."),
        ("Nei, porten er 7788.", "Porten er 7788."),
        ("Det stemmer ikke, møtet er på onsdag.", "Møtet er på onsdag."),
        ("Husk på at NAS-en er av om natta.", "NAS-en er av om natta."),
        ("Du glemte vedlegget igjen.", "Ikke glem vedlegget."),
        ("Thanks for the draft. No, the summary should go first.", "The summary should go first."),
    ],
)
def test_the_rule_is_the_shortest_sentence_that_stands_by_itself(message: str, rule: str):
    assert rules(message) == (rule,)


@pytest.mark.parametrize("message", ["That's not what I asked for.", "No.", "Det er omvendt."])
def test_a_mere_objection_states_no_rule(message: str):
    assert rules(message) == ()


def test_two_corrections_of_one_message_are_two_rules():
    assert rules("No, use pnpm here. Always run the linter first.") == (
        "Use pnpm here.",
        "Always run the linter first.",
    )


def test_a_rule_is_one_line_of_bounded_length():
    (rule,) = rules("Always check " + "the very long list of things\n" * 1 + "and " + "more " * 400)
    assert "\n" not in rule and len(rule) <= 400


def test_what_was_corrected_is_the_sentence_with_the_same_words():
    answer = "I looked around. The gateway listens on 7777. Shall I go on?"
    assert corrected_sentence("The gateway listens on 7788.", answer) == "The gateway listens on 7777."


def test_without_an_answer_nothing_was_corrected():
    assert corrected_sentence("The gateway listens on 7788.", "") == ""


@pytest.mark.parametrize(
    ("rule", "points"), [("It is 7788.", True), ("The gateway is down.", False), ("Den er av.", True)]
)
def test_a_rule_that_points_elsewhere_needs_its_context(rule: str, points: bool):
    assert needs_context(rule) is points
