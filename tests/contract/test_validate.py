from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given

from memories.contract import (
    Category,
    ErrorCode,
    MemoryForm,
    MemsuiteError,
    Relation,
    RelationType,
    Tier,
    WriteMode,
    validate_add,
    validate_patch,
    validate_update,
)

from .payloads import anything, code_and_field, near_valid, payload, refusal

STORED = MemoryForm(
    "Hermes",
    "Gateway",
    ("port=7777",),
    Tier.REUSABLE,
    Category.TECH,
    relations=(Relation(RelationType.USES, target="nas"),),
    tags=("lan",),
    quality=0.9,
)


def test_a_plain_add_takes_the_defaults():
    request = validate_add(payload())
    assert request.form == MemoryForm("Hermes", "Gateway", ("port=7777",), Tier.REUSABLE, Category.TECH)
    assert (request.form.quality, request.form.type, request.write_mode) == (0.5, "tech", WriteMode.CREATE)
    assert (request.normalized_fields, request.warnings) == ((), ())


def test_an_add_names_the_fields_that_normalisation_changed():
    request = validate_add(payload(subject="My  Gateway", facts=["Port = 1"], tags=["a", "A"], quality=1))
    assert request.normalized_fields == ("subject", "facts", "tags")


def test_an_add_tells_which_fields_were_given():
    assert validate_add(payload(quality=0.1)).given == {*payload(), "quality"}


@pytest.mark.parametrize("shape", [None, [], "text", 7, b"x"])
def test_only_an_object_is_a_memory(shape: object):
    assert code_and_field(validate_add, shape) == (ErrorCode.INVALID_TYPE, "")


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"colour": "red"}, ErrorCode.UNKNOWN_FIELD, "colour"),
        ({"base_revision": 1}, ErrorCode.UNKNOWN_FIELD, "base_revision"),
        ({"domain": ...}, ErrorCode.REQUIRED_FIELD, "domain"),
        ({"facts": None}, ErrorCode.REQUIRED_FIELD, "facts"),
        ({"domain": " \t "}, ErrorCode.REQUIRED_FIELD, "domain"),
        ({"domain": 7}, ErrorCode.INVALID_TYPE, "domain"),
        ({"domain": "x" * 33}, ErrorCode.DOMAIN_TOO_LONG, "domain"),
        ({"domain": "a:b"}, ErrorCode.INVALID_DOMAIN, "domain"),
        ({"subject": "x" * 81}, ErrorCode.SUBJECT_TOO_LONG, "subject"),
        ({"subject": "a]"}, ErrorCode.INVALID_SUBJECT, "subject"),
        ({"facts": "one"}, ErrorCode.INVALID_TYPE, "facts"),
        ({"facts": []}, ErrorCode.REQUIRED_FIELD, "facts"),
        ({"facts": ["a"] * 13}, ErrorCode.TOO_MANY_FACTS, "facts"),
        ({"facts": ["a", 7]}, ErrorCode.INVALID_TYPE, "facts[1]"),
        ({"facts": ["a", " "]}, ErrorCode.EMPTY_FACT, "facts[1]"),
        ({"facts": ["x" * 1001]}, ErrorCode.FACT_TOO_LONG, "facts[0]"),
        ({"facts": ["x" * 1000, "y" * 1000, "z"]}, ErrorCode.FACTS_TOO_LONG, "facts"),
        ({"facts": ["a", "hermes:gateway runs"]}, ErrorCode.DUPLICATE_SUBJECT_PREFIX, "facts[1]"),
        ({"write_mode": "merge"}, ErrorCode.INVALID_WRITE_MODE, "write_mode"),
        ({"tier": 4}, ErrorCode.INVALID_TIER, "tier"),
        ({"tier": True}, ErrorCode.INVALID_TYPE, "tier"),
        ({"tier": "1"}, ErrorCode.INVALID_TYPE, "tier"),
        ({"category": "Tech"}, ErrorCode.INVALID_CATEGORY, "category"),
        ({"category": 1}, ErrorCode.INVALID_TYPE, "category"),
        ({"relations": {}}, ErrorCode.INVALID_TYPE, "relations"),
        ({"relations": None}, ErrorCode.INVALID_TYPE, "relations"),
        ({"relations": [{"type": "uses", "target": "x"}] * 21}, ErrorCode.TOO_MANY_RELATIONS, "relations"),
        ({"relations": ["x"]}, ErrorCode.INVALID_TYPE, "relations[0]"),
        ({"relations": [{"target": "x"}]}, ErrorCode.REQUIRED_FIELD, "relations[0].type"),
        ({"relations": [{"type": "likes"}]}, ErrorCode.INVALID_RELATION_TYPE, "relations[0].type"),
        ({"relations": [{"type": "uses"}]}, ErrorCode.INVALID_RELATION_TARGET, "relations[0]"),
        (
            {"relations": [{"type": "uses", "target": "a", "target_id": "b"}]},
            ErrorCode.INVALID_RELATION_TARGET,
            "relations[0]",
        ),
        (
            {"relations": [{"type": "uses", "target": "x" * 161}]},
            ErrorCode.INVALID_RELATION_TARGET,
            "relations[0].target",
        ),
        ({"relations": [{"type": "uses", "to": "x"}]}, ErrorCode.UNKNOWN_FIELD, "relations[0].to"),
        ({"tags": [f"t{n}" for n in range(21)]}, ErrorCode.TOO_MANY_TAGS, "tags"),
        ({"tags": ["a", ""]}, ErrorCode.INVALID_TAG, "tags[1]"),
        ({"tags": ["x" * 81]}, ErrorCode.TAG_TOO_LONG, "tags[0]"),
        ({"tags": [None]}, ErrorCode.INVALID_TYPE, "tags[0]"),
        ({"quality": 1.01}, ErrorCode.INVALID_QUALITY, "quality"),
        ({"quality": float("nan")}, ErrorCode.INVALID_QUALITY, "quality"),
        ({"quality": 10**400}, ErrorCode.INVALID_QUALITY, "quality"),
        ({"quality": True}, ErrorCode.INVALID_TYPE, "quality"),
        ({"type": "  "}, ErrorCode.INVALID_TYPE_LABEL, "type"),
        ({"type": "x" * 81}, ErrorCode.INVALID_TYPE_LABEL, "type"),
    ],
)
def test_an_add_is_refused(changes: dict[str, Any], code: ErrorCode, field: str):
    assert code_and_field(validate_add, payload(**changes)) == (code, field)


def test_every_limit_can_be_reached():
    longest = payload(
        domain="d" * 32,
        subject="s" * 80,
        facts=["a" * 1000, "b" * 990, *("c" for _ in range(10))],
        relations=[{"type": "uses", "target": f"{n:0160}"} for n in range(20)],
        tags=[f"{n:080}" for n in range(20)],
        quality=1,
        type="t" * 80,
    )
    form = validate_add(longest).form
    assert (len(form.facts), len(form.relations), len(form.tags)) == (12, 20, 20)


def test_lengths_count_after_normalisation():
    fact = "Port  =  1;" + "x" * 993
    assert validate_add(payload(domain=f"  {'d' * 32}  ", facts=[fact])).form.facts == (
        f"port=1;{'x' * 993}",
    )


# Each entry breaks one check; the checks stand in the order of the contract.
BROKEN: list[tuple[str, dict[str, Any], ErrorCode]] = [
    ("unknown", {"colour": 1}, ErrorCode.UNKNOWN_FIELD),
    ("required", {"category": ...}, ErrorCode.REQUIRED_FIELD),
    ("domain", {"domain": "a:b"}, ErrorCode.INVALID_DOMAIN),
    ("subject", {"subject": "a:b"}, ErrorCode.INVALID_SUBJECT),
    ("facts", {"facts": [""]}, ErrorCode.EMPTY_FACT),
    ("write_mode", {"write_mode": "x"}, ErrorCode.INVALID_WRITE_MODE),
    ("tier", {"tier": 9}, ErrorCode.INVALID_TIER),
    ("category", {"category": "x"}, ErrorCode.INVALID_CATEGORY),
    ("relations", {"relations": [{"type": "x"}]}, ErrorCode.INVALID_RELATION_TYPE),
    ("tags", {"tags": [""]}, ErrorCode.INVALID_TAG),
    ("quality", {"quality": 2}, ErrorCode.INVALID_QUALITY),
    ("type", {"type": ""}, ErrorCode.INVALID_TYPE_LABEL),
]


@pytest.mark.parametrize("first", range(len(BROKEN)), ids=[name for name, _, _ in BROKEN])
def test_the_first_failing_check_wins(first: int):
    changes: dict[str, Any] = {}
    for _, broken, _ in reversed(BROKEN[first:]):
        changes.update(broken)
    assert refusal(validate_add, payload(**changes)).code is BROKEN[first][2]


def test_an_unknown_category_is_answered_with_the_supported_ones():
    assert refusal(validate_add, payload(category="tek")).expected == [
        category.value for category in Category
    ]


@pytest.mark.parametrize("subject", ["App", "memories", "PROJET", "hermes"])
def test_a_subject_that_could_hold_anything_is_warned_about(subject: str):
    (warning,) = validate_add(payload(subject=subject)).warnings
    assert (warning["code"], warning["field"]) == ("overly_broad_subject", "subject")


def test_tags_that_differ_in_case_only_are_one():
    assert validate_add(payload(tags=["NAS", "nas ", "Raspberry  Pi"])).form.tags == ("NAS", "Raspberry Pi")


def test_relations_with_an_empty_other_target_are_read():
    given = [
        {"type": "uses", "target_id": "", "target": " My  nas "},
        {"type": "uses", "target_id": "m1", "target": None},
    ]
    assert validate_add(payload(relations=given)).form.relations == (
        Relation(RelationType.USES, target="My nas"),
        Relation(RelationType.USES, target_id="m1"),
    )


def test_a_relation_given_twice_is_kept_once():
    given = [{"type": "uses", "target": "NAS"}, {"type": "uses", "target": "nas"}]
    assert validate_add(payload(relations=given)).form.relations == (
        Relation(RelationType.USES, target="NAS"),
    )


def test_an_update_needs_the_five_fields():
    assert code_and_field(validate_update, payload(tier=...)) == (ErrorCode.REQUIRED_FIELD, "tier")


def test_an_update_has_no_write_mode():
    assert code_and_field(validate_update, payload(write_mode="create"))[0] is ErrorCode.UNKNOWN_FIELD


@pytest.mark.parametrize(
    ("revision", "code"),
    [(-1, ErrorCode.INVALID_PARAMETER), (2**63, ErrorCode.INVALID_PARAMETER), ("1", ErrorCode.INVALID_TYPE)],
)
def test_a_base_revision_is_a_small_natural_number(revision: object, code: ErrorCode):
    assert code_and_field(validate_update, payload(base_revision=revision)) == (code, "base_revision")


def test_an_update_keeps_what_it_leaves_out():
    form = validate_update(payload(facts=["port=8888"], base_revision=3)).form_over(STORED)
    assert form == dataclasses.replace(STORED, facts=("port=8888",))


def test_an_update_can_empty_what_it_gives():
    form = validate_update(payload(relations=[], tags=[], quality=0)).form_over(STORED)
    assert (form.relations, form.tags, form.quality) == ((), (), 0.0)


def test_a_default_type_follows_the_category():
    assert validate_update(payload(category="fact")).form_over(STORED).type == "fact"


def test_a_type_of_its_own_stays_when_the_category_changes():
    stored = dataclasses.replace(STORED, type="port list")
    assert validate_update(payload(category="fact")).form_over(stored).type == "port list"


def test_an_update_never_validates_what_is_stored():
    broken = dataclasses.replace(STORED, domain="a:b [", facts=("x" * 5000,) * 20)
    assert validate_update(payload()).form_over(broken).facts == ("port=7777",)


@pytest.mark.parametrize("patch", [{}, {"base_revision": 1}])
def test_a_patch_changes_something(patch: dict[str, Any]):
    assert refusal(validate_patch, patch, STORED).code is ErrorCode.EMPTY_PATCH


def test_a_patch_changes_only_what_it_gives():
    assert validate_patch({"tier": 1}, STORED).form_over(STORED) == dataclasses.replace(
        STORED, tier=Tier.CRITICAL
    )


def test_facts_alone_are_checked_against_the_stored_prefix():
    patch = {"facts": ["Hermes:Gateway runs"]}
    assert code_and_field(validate_patch, patch, STORED) == (ErrorCode.DUPLICATE_SUBJECT_PREFIX, "facts[0]")


def test_a_new_subject_is_checked_against_the_stored_facts():
    stored = dataclasses.replace(STORED, facts=("Hermes:Box runs",))
    assert code_and_field(validate_patch, {"subject": "Box"}, stored)[0] is ErrorCode.DUPLICATE_SUBJECT_PREFIX


def test_a_patch_of_tags_does_not_look_at_stored_facts():
    stored = dataclasses.replace(STORED, facts=("Hermes:Gateway runs " + "x" * 5000,))
    assert validate_patch({"tags": ["a"]}, stored).form_over(stored).tags == ("a",)


def test_a_patch_does_not_take_null_for_keep():
    assert code_and_field(validate_patch, {"domain": None}, STORED) == (ErrorCode.INVALID_TYPE, "domain")


@given(anything)
def test_whatever_is_sent_only_our_own_error_is_raised(sent: object):
    for check in (validate_add, validate_update, lambda value: validate_patch(value, STORED)):
        with pytest.raises(MemsuiteError):
            check(sent)


@given(near_valid)
def test_a_nearly_valid_payload_raises_only_our_own_error(sent: dict[str, Any]):
    for check in (validate_add, validate_update, lambda value: validate_patch(value, STORED)):
        try:
            check(sent)
        except MemsuiteError as error:
            assert error.as_answer()["success"] is False


@given(near_valid)
def test_a_stored_form_validates_to_itself(sent: dict[str, Any]):
    sent = {name: value for name, value in {**payload(), **sent}.items() if name != "base_revision"}
    try:
        form = validate_add(sent).form
    except MemsuiteError:
        return
    again = {
        **{name: getattr(form, name) for name in ("domain", "subject", "tags", "quality", "type")},
        "facts": list(form.facts),
        "tier": int(form.tier),
        "category": form.category.value,
        "relations": [relation.as_dict() for relation in form.relations],
    }
    assert validate_add(again).form == form
    assert validate_add(again).normalized_fields == ()
