from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.capture.echo import MOST_HEARD, EchoGuard
from memories.screening import fence

FACT = "The gateway listens on port 8443 behind the blue proxy"


@pytest.fixture
def guard() -> EchoGuard:
    made = EchoGuard()
    made.heard_recall(fence([f"[01a2b3c4-0000-7000] {FACT}"]))
    return made


@pytest.mark.parametrize(
    "said",
    [
        FACT + ".",
        f"- {FACT}",
        f"> **{FACT}**",
        f"[01a2b3c4-0000-7000] {FACT}",
        FACT.upper() + "!",
    ],
)
def test_a_sentence_that_recall_gave_is_removed_whatever_it_is_dressed_in(
    guard: EchoGuard, said: str
) -> None:
    assert guard.without_echo(said) == ""


def test_what_else_was_said_stays(guard: EchoGuard) -> None:
    said = f"Good question. {FACT}. I would open 8443 in the firewall too."
    assert guard.without_echo(said) == "Good question. I would open 8443 in the firewall too."


def test_a_short_sentence_is_nobodys(guard: EchoGuard) -> None:
    guard.heard("You are welcome.")
    assert guard.without_echo("You are welcome.") == "You are welcome."


def test_half_a_word_is_no_quotation(guard: EchoGuard) -> None:
    said = "way listens on port 8443 behind the blue prox"
    assert guard.without_echo(said) == said


def test_fenced_recall_is_removed_even_when_nothing_was_heard() -> None:
    pasted = f"<memory-context>\n{FACT}\n</memory-context>\nAnd my own words."
    assert EchoGuard().without_echo(pasted) == "And my own words."
    assert EchoGuard().without_echo(fence([FACT])) == ""


def test_every_text_of_a_tools_answer_counts() -> None:
    guard = EchoGuard()
    guard.heard_answer({"success": True, "results": [{"content": FACT, "facts": ["Tea is served at four"]}]})
    assert guard.without_echo(f"{FACT}\nTea is served at four.") == ""


def test_after_a_reset_the_same_words_are_the_persons_own(guard: EchoGuard) -> None:
    guard.forget()
    assert guard.without_echo(FACT) == FACT


def test_only_the_newest_of_what_was_heard_is_kept(guard: EchoGuard) -> None:
    for number in range(400):
        guard.heard(f"Filler sentence number {number} " + "of some length " * 10)
    assert guard._size <= MOST_HEARD
    assert guard.without_echo(FACT) == FACT


@given(st.text(max_size=300))
def test_without_recall_nothing_but_blanks_around_it_is_lost(text: str) -> None:
    guard = EchoGuard()
    guard.heard("A sentence that stands in none of these texts")
    if "<memory-context" not in text and "<recalled-memories" not in text:
        assert guard.without_echo(text) == text.strip()
