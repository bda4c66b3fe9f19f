from __future__ import annotations

import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from memories.contract import ErrorCode, MemsuiteError

from .payloads import anything

# The closed set, as the documentation lists it: a code is added here and there on purpose, never by accident.
DOCUMENTED = """invalid_type, unknown_field, required_field, domain_too_long, subject_too_long,
invalid_domain, invalid_subject, empty_fact, too_many_facts, fact_too_long, facts_too_long,
multiline_fact, nested_tier_marker, nested_relation_marker, nested_fact_marker, duplicate_subject_prefix,
control_character, invalid_tier, invalid_category, invalid_write_mode, too_many_relations,
invalid_relation_type, invalid_relation_target, too_many_tags, tag_too_long, invalid_tag,
invalid_quality, invalid_type_label, empty_patch, conflicting_claims, ambiguous_subject,
duplicate_memory, memory_not_found, version_conflict, embedding_failed, embedding_model_mismatch,
store_busy, store_unavailable, store_read_only, disk_full, schema_too_new, context_inactive,
write_limit_reached, rate_limited, conflict_not_found, conflict_not_open, selection_changed,
confirmation_required, too_many_ids, heavy_work_busy, not_authenticated, not_permitted,
payload_too_large, not_found, invalid_parameter, secret_detected, missing_tier_marker,
multiple_tier_markers, tier_not_final, missing_subject_prefix"""


def error(received: object = None, code: ErrorCode = ErrorCode.INVALID_TYPE) -> MemsuiteError:
    return MemsuiteError(code, "facts[2]", "Must be text.", received=received, expected="text")


def received_of(answer: dict[str, object]) -> object:
    inner = answer["error"]
    assert isinstance(inner, dict)
    return inner["received"]


def test_the_codes_are_the_documented_set():
    assert {code.value for code in ErrorCode} == {code.strip() for code in DOCUMENTED.split(",")}


def test_only_passing_troubles_are_retryable():
    assert {code for code in ErrorCode if code.retryable} == {
        ErrorCode.EMBEDDING_FAILED,
        ErrorCode.STORE_BUSY,
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.RATE_LIMITED,
        ErrorCode.HEAVY_WORK_BUSY,
    }


def test_the_answer_has_the_one_error_shape():
    assert error(7).as_answer() == {
        "success": False,
        "error": {
            "code": "invalid_type",
            "field": "facts[2]",
            "message": "Must be text.",
            "received": 7,
            "expected": "text",
        },
        "retryable": False,
    }


def test_received_text_is_cut_to_200_characters():
    assert received_of(error("x" * 500).as_answer()) == "x" * 200


def test_a_received_structure_becomes_cut_text():
    received = received_of(error({"a": ["x" * 500]}).as_answer())
    assert isinstance(received, str)
    assert received.startswith('{"a": ["xxx')
    assert len(received) == 200


def test_our_own_list_of_conflicts_keeps_its_structure():
    conflict = {"memory_id": "m1", "claim_key": "port", "existing": "1", "received": "2" * 300}
    answer = error([conflict], ErrorCode.CONFLICTING_CLAIMS).as_answer()
    assert received_of(answer) == [{**conflict, "received": "2" * 200}]


def test_a_list_that_holds_itself_is_shown():
    cyclic: list[object] = []
    cyclic.append(cyclic)
    assert received_of(error(cyclic).as_answer()) == "[[[[…]]]]"


def test_the_text_of_an_error_does_not_repeat_what_was_received():
    assert "hunter2" not in str(error("hunter2"))


def test_an_error_survives_pickling():
    copy = pickle.loads(pickle.dumps(error("x")))
    assert copy.as_answer() == error("x").as_answer()


@given(anything, st.sampled_from(ErrorCode))
def test_any_received_value_makes_an_answer_of_valid_json(received: object, code: ErrorCode):
    text = json.dumps(error(received, code).as_answer(), allow_nan=False, ensure_ascii=False)
    assert json.loads(text.encode("utf-8"))["error"]["code"] == code
