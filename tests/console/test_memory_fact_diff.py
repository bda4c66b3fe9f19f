"""Facts told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memories.console.fact_diff import MOST_WORDS, aligned, fact_changes, word_changes

FACTS = st.lists(st.text("ab =1.", min_size=1, max_size=12), max_size=6)


def kinds(before: list[str], after: list[str]) -> list[str]:
    return [change.kind for change in fact_changes(before, after)]


def test_a_fact_that_stays_is_the_same() -> None:
    assert kinds(["a"], ["a"]) == ["same"]


def test_a_fact_with_most_words_in_common_was_edited() -> None:
    (change,) = fact_changes(["Serves tide tables per harbour"], ["Serves tide tables per port"])

    assert change.kind == "edit"
    assert change.words == (("", "Serves tide tables per "), ("del", "harbour"), ("ins", "port"))


def test_two_values_of_one_key_are_one_fact_edited() -> None:
    assert kinds(["port=8410"], ["port=8420 behind the proxy of the old rack"]) == ["edit"]


def test_facts_with_nothing_in_common_went_and_came() -> None:
    assert kinds(["Runs on quay-02"], ["Answers in French"]) == ["gone", "add"]


def test_a_fact_that_moved_is_the_same_at_its_new_place() -> None:
    changes = fact_changes(["first one", "second thing", "third item"], ["third item", "first one"])

    assert [(change.kind, change.text) for change in changes] == [
        ("same", "third item"),
        ("same", "first one"),
        ("gone", "second thing"),
    ]


def test_very_long_old_facts_are_not_compared_word_by_word() -> None:
    old = "w " * MOST_WORDS
    assert word_changes(old, "x") == (("del", old), ("ins", "x"))


@given(FACTS, FACTS)
def test_every_fact_stands_once_on_its_side(before: list[str], after: list[str]) -> None:
    pairs = aligned(before, after)

    assert [new for _, new in pairs if new is not None] == after
    assert sorted(old for old, _ in pairs if old is not None) == sorted(before)


@given(st.text(max_size=40), st.text(max_size=40))
def test_words_make_up_both_texts(before: str, after: str) -> None:
    words = word_changes(before, after)

    assert "".join(text for kind, text in words if kind != "ins") == before
    assert "".join(text for kind, text in words if kind != "del") == after
