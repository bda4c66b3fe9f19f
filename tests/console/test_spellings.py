"""Tags that look like two spellings of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.console.spellings import Suggestion, Why, suggestions


@pytest.mark.parametrize(
    ("rarer", "kept", "why"),
    [
        ("Backup", "backup", Why.CASE),
        ("front-end", "frontend", Why.SEPARATOR),
        ("front end", "front_end", Why.SEPARATOR),
        ("Front-End", "frontend", Why.SEPARATOR),
        ("cafe", "café", Why.ACCENT),
        ("brod", "brød", Why.ACCENT),
        ("backups", "backup", Why.PLURAL),
        ("livraisons", "livraison", Why.PLURAL),
        ("policies", "policy", Why.PLURAL),
        ("boxes", "box", Why.PLURAL),
        ("prodction", "production", Why.TYPO),
        ("prodcution", "production", Why.TYPO),
        ("productiom", "production", Why.TYPO),
    ],
)
def test_two_spellings_of_one_tag_are_suggested(rarer: str, kept: str, why: Why) -> None:
    assert suggestions({rarer: 2, kept: 9}) == [Suggestion(rarer, kept, why, 2)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat", "car"),
        ("http", "htpp"),
        ("bus", "bu"),
        ("class", "clas"),
        ("2024", "2025"),
        ("release-2024", "release-2025"),
        ("port8410", "port8411"),
        ("python3", "python"),
        ("tide", "table"),
    ],
)
def test_two_words_are_left_apart(one: str, other: str) -> None:
    assert suggestions({one: 2, other: 9}) == []


def test_the_more_used_spelling_is_kept() -> None:
    assert suggestions({"backups": 9, "backup": 2}) == [Suggestion("backup", "backups", Why.PLURAL, 2)]


def test_of_equally_used_ones_the_shorter_is_kept() -> None:
    assert suggestions({"backups": 2, "backup": 2})[0].kept == "backup"


def test_what_changes_most_memories_comes_first() -> None:
    found = suggestions({"Tide": 1, "tide": 9, "api": 9, "API": 5})

    assert [pair.rarer for pair in found] == ["API", "Tide"]


@given(st.dictionaries(st.text("abcdeABs-_ é1", min_size=1, max_size=8), st.integers(1, 9), max_size=30))
def test_following_suggestions_never_goes_round(counts: dict[str, int]) -> None:
    found = {pair.rarer: pair.kept for pair in suggestions(counts)}

    for start in found:
        tag, steps = start, 0
        while tag in found:
            tag, steps = found[tag], steps + 1
            assert steps <= len(found)
    assert all(rarer != kept and kept in counts for rarer, kept in found.items())
