"""Facts told apart in joined text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract.limits import FACT_MAX, FACTS_MAX
from memories.interchange.old_facts import facts_of, old_text


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        ("One. Two! Three?", ("One.", "Two!", "Three?")),
        ("port=1 host=nas", ("port=1", "host=nas")),
        ("Uses e.g. Redis and v1. 2 of them", ("Uses e.g. Redis and v1.", "2 of them")),
        ("Ask Dr. Berg first", ("Ask Dr. Berg first",)),
        ("run -e NAME=value image", ("run -e NAME=value image",)),
        ('note="a b=c" size=2', ('note="a b=c"', "size=2")),
        ("a == b and x=1", ("a == b and", "x=1")),
        ("Ends here. but goes on", ("Ends here. but goes on",)),
        ("path=/srv/data mounted read-only", ("path=/srv/data mounted read-only",)),
    ],
)
def test_facts_are_cut_where_a_reader_would(body: str, facts: tuple[str, ...]) -> None:
    assert facts_of(body) == facts


def test_marked_facts_are_taken_as_marked() -> None:
    parsed = old_text("A:b one. Two ::fact:: key=1 other=2 [Tier=3]")
    assert parsed.facts == ("one. Two", "key=1 other=2")


def test_no_more_facts_than_the_contract_takes() -> None:
    facts = facts_of(" ".join(f"Sentence {number}." for number in range(40)))
    assert len(facts) == FACTS_MAX


@given(st.text(st.sampled_from("aB.! =k\"1é-'"), min_size=1, max_size=300))
def test_nothing_is_dropped_and_nothing_added(text: str) -> None:
    body = " ".join(text.split())
    if body:
        assert "".join("".join(facts_of(body)).split()) == "".join(body.split())
        assert all(0 < len(fact) <= max(FACT_MAX, len(body)) for fact in facts_of(body))
