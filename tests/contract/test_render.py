from __future__ import annotations

import pytest

from memories.contract import canonical_text


def test_facts_are_closed_and_joined():
    assert (
        canonical_text("Home", "Nas", ["port=7777", "runs daily."], 2)
        == "Home:Nas port=7777. runs daily. [Tier=2]"
    )


@pytest.mark.parametrize("end", [".", "!", "?", ";", "…"])
def test_a_closed_fact_gets_no_second_point(end: str):
    assert canonical_text("a", "b", [f"c{end}"], 1) == f"a:b c{end} [Tier=1]"


def test_a_memory_without_facts_still_has_its_frame():
    assert canonical_text("a", "b", [], 3) == "a:b [Tier=3]"
