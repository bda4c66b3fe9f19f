from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import (
    ErrorCode,
    MemsuiteError,
    ParsedText,
    Relation,
    RelationType,
    Tier,
    canonical_text,
    parse_canonical,
    validate_add,
)

from .payloads import code_and_field, payload, tricky_text


def test_joined_facts_come_back_as_one():
    assert parse_canonical("Home:Nas port=7777. runs daily. [Tier=2]") == ParsedText(
        "Home", "Nas", ("port=7777. runs daily.",), Tier.REUSABLE
    )


def test_marked_facts_come_back_one_by_one():
    parsed = parse_canonical("Project:Alpha port=7778 ::fact:: owner=elo [Tier=1]")
    assert (parsed.facts, parsed.tier) == (("port=7778", "owner=elo"), Tier.CRITICAL)


@pytest.mark.parametrize(
    "text",
    [
        'a:b c ::relations:: [{"type": "uses", "target": "nas"}] [Tier=1]',
        'a:b c [Tier=1] ::relations:: [{"type": "uses", "target": "nas"}]',
        "a:b c [Tier=1] ::relations:: uses:nas",
    ],
)
def test_a_tail_of_relations_is_read(text: str):
    parsed = parse_canonical(text)
    assert (parsed.facts, parsed.relations) == (("c",), (Relation(RelationType.USES, target="nas"),))


def test_identical_tier_markers_at_the_end_are_one():
    assert parse_canonical("a:b c. [Tier=1] [Tier=1]").facts == ("c.",)


def test_a_prefix_repeated_at_once_is_dropped():
    assert parse_canonical("a:b a:b c [Tier=1]").facts == ("c",)


def test_a_body_too_long_for_one_fact_is_cut_after_sentences():
    facts = ("x" * 600 + ".", "y" * 600 + ".")
    text = canonical_text("a", "b", facts, 1)
    assert parse_canonical(text).facts == facts


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a:b c", ErrorCode.MISSING_TIER_MARKER),
        ("", ErrorCode.MISSING_TIER_MARKER),
        ("a:b c [Tier=1] [Tier=2]", ErrorCode.MULTIPLE_TIER_MARKERS),
        ("a:b [Tier=1] c [Tier=1]", ErrorCode.MULTIPLE_TIER_MARKERS),
        ("a:b c [Tier=7]", ErrorCode.INVALID_TIER),
        ("a:b c [Tier=one]", ErrorCode.INVALID_TIER),
        ("a:b c [Tier=1] and more", ErrorCode.TIER_NOT_FINAL),
        ("just words [Tier=1]", ErrorCode.MISSING_SUBJECT_PREFIX),
        (": b c [Tier=1]", ErrorCode.MISSING_SUBJECT_PREFIX),
        ("a:b:c d [Tier=1]", ErrorCode.INVALID_SUBJECT),
        ("a:b [Tier=1]", ErrorCode.REQUIRED_FIELD),
        ("a:b c ::fact:: ::fact:: d [Tier=1]", ErrorCode.EMPTY_FACT),
        ("a:b c\nd [Tier=1]", ErrorCode.MULTILINE_FACT),
        ("a:b c\x00 [Tier=1]", ErrorCode.CONTROL_CHARACTER),
        ("a:b c [Tier=1] ::relations:: gibberish", ErrorCode.INVALID_RELATION_TARGET),
        ("a:b c [Tier=1] ::relations:: likes:nas", ErrorCode.INVALID_RELATION_TYPE),
        ("a:b c ::relations:: uses:d ::relations:: uses:e [Tier=1]", ErrorCode.NESTED_RELATION_MARKER),
    ],
)
def test_what_does_not_parse_is_refused_with_its_reason(text: str, code: ErrorCode):
    assert code_and_field(parse_canonical, text)[0] is code


def test_only_text_is_parsed():
    assert code_and_field(parse_canonical, None)[0] is ErrorCode.INVALID_TYPE


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
    tricky_text,
    st.lists(tricky_text, min_size=1, max_size=5),
    st.sampled_from(Tier),
)
def test_what_was_rendered_is_read_back(domain: str, subject: str, facts: list[str], tier: Tier):
    try:
        form = validate_add(payload(domain=domain, subject=subject, facts=facts, tier=int(tier))).form
    except MemsuiteError:
        return
    parsed = parse_canonical(form.content)
    assert (parsed.domain, parsed.subject, parsed.tier) == (form.domain, form.subject, tier)


@given(
    tricky_text,
    st.lists(st.sampled_from(["[Tier=1]", "a:b", "::fact::", "::relations::", "[[1]]", " ", "x=1"])),
)
def test_any_text_raises_only_our_own_error(noise: str, pieces: list[str]):
    for text in (noise, " ".join([*pieces, noise]), f"a:b {noise} {' '.join(pieces)}"):
        try:
            assert parse_canonical(text).facts
        except MemsuiteError as error:
            assert error.as_answer()["success"] is False
