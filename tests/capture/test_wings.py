from __future__ import annotations

import pytest

from memories.capture.wings import GENERAL, wing_of

WINGS = {"work": ("deploy", "c++"), "kitchen": ("bread", "Kaffe")}


@pytest.mark.parametrize(
    ("text", "wing"),
    [
        ("We deploy on Fridays", "work"),
        ("DEPLOY now", "work"),
        ("a redeployment plan", GENERAL),
        ("the deploy and the bread", "work"),
        ("en kaffe til", "kitchen"),
        ("written in C++ only", "work"),
        ("nothing of it", GENERAL),
    ],
)
def test_the_first_wing_with_a_keyword_as_a_whole_word_takes_it(text: str, wing: str) -> None:
    assert wing_of(text, WINGS) == wing


def test_a_wing_without_keywords_takes_what_comes_to_it() -> None:
    wings = {"work": ("deploy",), "home": ()}
    assert (wing_of("deploy", wings), wing_of("tea", wings)) == ("work", "home")


def test_without_wings_everything_is_general() -> None:
    assert wing_of("deploy", {}) == GENERAL
