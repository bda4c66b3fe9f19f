from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import ErrorCode, MemsuiteError, validate_add
from memories.screening import safe_answer

from .made_up import SECRETS

TOKEN = SECRETS["github classic"]


def told(received: object, **more: object) -> str:
    error = MemsuiteError(ErrorCode.INVALID_TYPE, "facts", "No.", received=received, **more)
    return json.dumps(safe_answer(error))


@pytest.mark.parametrize(
    "received",
    [
        TOKEN,
        f"the token is {TOKEN}, keep it",
        [TOKEN],
        {"facts": [TOKEN]},
        {TOKEN: 1},
        [["a", {"b": TOKEN}]],
        "x" * 180 + f" {TOKEN}",
    ],
)
def test_a_refusal_does_not_repeat_a_secret(received: object):
    answer = told(received)
    assert not any(TOKEN[start : start + 10] in answer for start in range(len(TOKEN) - 10))


def test_neither_does_the_place_nor_what_was_expected():
    error = MemsuiteError(ErrorCode.UNKNOWN_FIELD, TOKEN, "No.", expected=[TOKEN])
    assert TOKEN not in json.dumps(safe_answer(error))


def test_a_key_pasted_line_by_line_goes_as_a_whole():
    header, *lines = SECRETS["openssh key"].rsplit(" ", 8)
    answer = told([header, *lines])
    assert not any(line in answer for line in lines if len(line) > 40)


def test_a_value_is_suspicious_for_the_name_of_its_field():
    value = "fjell" + "Topp42"
    assert value not in told({"password": value})
    assert value in told({"place": value})


@pytest.mark.parametrize("received", ["Twelve", 12, None, ["a", "b"], {"tier": 9}, 1.5, True])
def test_other_values_are_repeated_as_before(received: object):
    error = MemsuiteError(ErrorCode.INVALID_TYPE, "tier", "No.", received=received)
    assert safe_answer(error) == error.as_answer()


def test_what_the_suite_built_itself_keeps_its_shape():
    clash = [{"memory_id": "m-1", "claim_key": "port", "existing": "1", "received": "2"}]
    error = MemsuiteError(ErrorCode.CONFLICTING_CLAIMS, "facts", "No.", received=clash)
    assert safe_answer(error)["error"]["received"] == clash  # type: ignore[index]


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.just(TOKEN)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_VALUES)
def test_whatever_is_sent_to_add_the_refusal_is_json_without_the_secret(payload: object):
    try:
        validate_add(payload)
    except MemsuiteError as error:
        assert TOKEN not in json.dumps(safe_answer(error))
