"""Payloads and strategies the contract's tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from memories.contract import Category, ErrorCode, MemsuiteError, RelationType

# Characters on which normalisation has something to do, so that random text meets its corners.
TRICKY = (
    "aZ10 =;,.\"'`:[]()!?…_-/\\~$#@<>\t\n\r\u00a0\u2003\u2028\u0085\u200b\u200d\u2060\ufeff\u202e\u2066\u00ad"
    "\u0301\u0338\u0345²ﬁİßſ＝：［］ﷺ℀¨ÅÅΩ한각漢é\ud800\x00\x1c\x7f"
)
tricky_text = st.text(st.one_of(st.sampled_from(TRICKY), st.characters()), max_size=40)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.builds(pow, st.just(10), st.just(5000)),  # too long for Python to print
    st.floats(),
    tricky_text,
    st.binary(max_size=4),
    st.complex_numbers(),
    st.builds(object),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(tricky_text, st.integers(), st.none()), inner, max_size=4),
    ),
    max_leaves=12,
)


def payload(**changes: object) -> dict[str, Any]:
    """A valid add; a change of `...` leaves the field out."""
    base: dict[str, Any] = {
        "domain": "Hermes",
        "subject": "Gateway",
        "facts": ["port=7777"],
        "tier": 2,
        "category": "tech",
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not ...}


def refusal(call: Callable[..., object], *arguments: object) -> MemsuiteError:
    with pytest.raises(MemsuiteError) as caught:
        call(*arguments)
    return caught.value


def code_and_field(call: Callable[..., object], *arguments: object) -> tuple[ErrorCode, str]:
    error = refusal(call, *arguments)
    return error.code, error.field


near_valid = st.fixed_dictionaries(
    {},
    optional={
        "domain": st.one_of(st.just("Hermes"), tricky_text, anything),
        "subject": st.one_of(st.just("Gateway"), tricky_text, anything),
        "facts": st.one_of(st.lists(tricky_text, max_size=14), anything),
        "tier": st.one_of(st.integers(0, 4), anything),
        "category": st.one_of(st.sampled_from([*Category]), anything),
        "relations": st.one_of(
            st.lists(
                st.fixed_dictionaries(
                    {"type": st.one_of(st.sampled_from([*RelationType]), anything)},
                    optional={"target": anything, "target_id": tricky_text},
                ),
                max_size=3,
            ),
            anything,
        ),
        "tags": st.one_of(st.lists(tricky_text, max_size=25), anything),
        "quality": st.one_of(st.floats(0, 1), anything),
        "type": anything,
        "write_mode": st.one_of(st.just("create"), anything),
        "base_revision": anything,
    },
)
