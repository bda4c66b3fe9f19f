"""Putting another value into the words of a fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract.claims import claims_of, restated


@pytest.mark.parametrize(
    ("facts", "key", "value", "after"),
    [
        (("listens on port=9000 behind nginx",), "port", "8443", ("listens on port=8443 behind nginx",)),
        (("zone=north; port=9000.", "port=9000"), "port", "1", ("zone=north; port=1.", "port=1")),
        (("mode=fast for now",), "mode", "very slow", ("mode=very slow",)),
        (('name="Jo\'s team" here',), "name", "ops", ('name="ops" here',)),
        (("team=blue ops; zone=1",), "team", "red ops", ('team="red ops"; zone=1',)),
        (("nothing is claimed",), "port", "1", None),
    ],
)
def test_only_the_value_changes(
    facts: tuple[str, ...], key: str, value: str, after: tuple[str, ...] | None
) -> None:
    assert restated(facts, key, value) == after


WORDS = st.text("abcxyz 0189=;,.\"'", max_size=30)


@given(st.lists(WORDS, max_size=4), st.sampled_from(["a", "b", "x"]), WORDS)
def test_the_value_is_said_and_nothing_else_changes_or_it_is_refused(
    facts: list[str], key: str, value: str
) -> None:
    after = restated(facts, key, value)
    if after is None:
        return
    said = {claim.value for claim in claims_of(after) if claim.key == key}
    assert len(said) == 1
    others = [claim for claim in claims_of(facts) if claim.key != key]
    assert [claim for claim in claims_of(after) if claim.key != key] == others
