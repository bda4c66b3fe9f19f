from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.commands import payloads
from memories.contract import MemsuiteError


def read(text: str) -> list[object]:
    return list(payloads.from_json(io.StringIO(text)))


def test_options_become_the_fields_of_the_contract() -> None:
    options = {
        "domain": "Tidewater",
        "subject": "gateway",
        "fact": ["port=8443", "Caddy answers"],
        "tier": "2",
        "category": "tech",
        "quality": "0.7",
        "tag": ["network"],
        "relation": ["runs_on:Tidewater:quay-02"],
        "write_mode": "upsert_subject",
    }
    assert payloads.from_options(options) == {
        "domain": "Tidewater",
        "subject": "gateway",
        "facts": ["port=8443", "Caddy answers"],
        "tier": 2,
        "category": "tech",
        "quality": 0.7,
        "tags": ["network"],
        "relations": [{"type": "runs_on", "target": "Tidewater:quay-02"}],
        "write_mode": "upsert_subject",
    }


def test_options_that_were_not_given_stay_out() -> None:
    assert payloads.from_options({"domain": "Tidewater", "subject": None, "fact": None}) == {
        "domain": "Tidewater"
    }


def test_a_tier_that_is_no_number_is_left_for_the_contract_to_refuse() -> None:
    assert payloads.from_options({"tier": "high"}) == {"tier": "high"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uses:Tidewater:event_queue", {"type": "uses", "target": "Tidewater:event_queue"}),
        ("uses:event queue", {"type": "uses", "target": "event queue"}),
        (
            "uses:0193b7a2-1111-7222-8333-444455556666",
            {"type": "uses", "target_id": "0193b7a2-1111-7222-8333-444455556666"},
        ),
        ("uses:id=1a2b3c4d-5e6", {"type": "uses", "target_id": "1a2b3c4d-5e6"}),
        ("uses", {"type": "uses", "target": ""}),
    ],
)
def test_a_relation_is_a_type_and_a_label_or_an_id(text: str, expected: dict[str, str]) -> None:
    assert payloads.relation(text) == expected


def test_json_lines_give_one_payload_each_and_blank_lines_none() -> None:
    assert read('{"a": 1}\n\n{"b": 2}\n') == [{"a": 1}, {"b": 2}]


def test_an_array_gives_its_items() -> None:
    assert read('[{"a": 1},\n {"b": 2}]') == [{"a": 1}, {"b": 2}]


def test_one_object_over_several_lines_is_one_payload() -> None:
    assert read('{\n  "a": 1\n}\n') == [{"a": 1}]


def test_a_broken_line_is_named_and_the_ones_after_it_still_count() -> None:
    first, second, third = read('{"a": 1}\n{"b": \n{"c": 3}\n')
    assert (first, third) == ({"a": 1}, {"c": 3})
    assert isinstance(second, MemsuiteError)
    assert (str(second.code), second.field) == ("invalid_type", "line 2")


def test_a_broken_first_line_does_not_swallow_the_rest() -> None:
    broken, good = read('{"a": \n{"b": 2}\n')
    assert isinstance(broken, MemsuiteError)
    assert good == {"b": 2}


def test_a_broken_document_over_several_lines_is_one_error() -> None:
    (broken,) = read('{\n  "a": 1,\n')
    assert isinstance(broken, MemsuiteError)


def test_nesting_too_deep_for_the_parser_is_an_error_like_any_other() -> None:
    (broken,) = read("[" * 200_000)
    assert isinstance(broken, MemsuiteError)


def test_empty_input_gives_nothing() -> None:
    assert read("\n \n") == []


def test_a_line_is_answered_before_the_next_one_has_been_read() -> None:
    def lines() -> object:
        yield '{"a": 1}\n'
        raise AssertionError("read on too early")

    assert next(payloads.from_json(lines())) == {"a": 1}


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text())))
def test_what_was_written_as_json_lines_is_read_back(written: list[dict[str, object]]) -> None:
    assert read("".join(json.dumps(payload) + "\n" for payload in written)) == written


@given(st.text())
def test_any_text_gives_payloads_or_errors_of_ours_and_never_raises(text: str) -> None:
    read(text)
