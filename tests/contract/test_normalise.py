from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import ErrorCode, MemsuiteError, normalise

from .payloads import code_and_field, tricky_text


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("  Home Server ", "Home_Server"),
        ("a \t\u00a0 b", "a_b"),
        ("Ｈｅｒｍｅｓ", "Hermes"),
        ("Her\u00admes\u200b", "Hermes"),
        ("\u202eabc\u202c", "abc"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_labels_are_folded_and_joined(written: str, normal: str):
    assert normalise.label(written, "subject") == normal


@pytest.mark.parametrize("reserved", [":", "[", "]", "：", "［"])
def test_labels_refuse_what_frames_the_canonical_text(reserved: str):
    assert code_and_field(normalise.label, f"a{reserved}b", "domain") == (ErrorCode.INVALID_DOMAIN, "domain")
    assert code_and_field(normalise.label, f"a{reserved}b", "subject") == (
        ErrorCode.INVALID_SUBJECT,
        "subject",
    )


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1c", "\x7f", "\x9f", "\ud800", "\udfff"])
@pytest.mark.parametrize("normal", [normalise.label, normalise.words, normalise.tag, normalise.fact])
def test_control_characters_and_lone_surrogates_are_refused(normal, character: str):
    assert code_and_field(normal, f"a{character}b", "subject")[0] is ErrorCode.CONTROL_CHARACTER


def test_a_line_break_inside_a_label_is_a_control_character():
    assert code_and_field(normalise.label, "a\nb", "subject")[0] is ErrorCode.CONTROL_CHARACTER


def test_facts_keep_compatibility_characters():
    assert normalise.fact("area is 10² m, ﬁne", "facts[0]") == "area is 10² m, ﬁne"


def test_facts_are_composed():
    assert normalise.fact("cafe\u0301", "facts[0]") == "café"


def test_removing_an_invisible_character_lets_its_neighbours_compose():
    assert normalise.fact("cafe\u200b\u0301", "facts[0]") == "café"


def test_runs_of_blanks_in_a_fact_become_one():
    assert normalise.fact("  a \t b\u00a0\u2003c ", "facts[0]") == "a b c"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"])
def test_a_fact_of_two_lines_is_refused(line_break: str):
    assert code_and_field(normalise.fact, f"a{line_break}b", "facts[1]") == (
        ErrorCode.MULTILINE_FACT,
        "facts[1]",
    )


def test_a_line_break_at_the_end_of_a_fact_is_trimmed():
    assert normalise.fact("one line\n", "facts[0]") == "one line"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("port [Tier=1]", ErrorCode.NESTED_TIER_MARKER),
        ("port [ tier = 2 ] more", ErrorCode.NESTED_TIER_MARKER),
        ("port ［Tier=1］", ErrorCode.NESTED_TIER_MARKER),
        ("a ::relations:: b", ErrorCode.NESTED_RELATION_MARKER),
        ("a ::FACT:: b", ErrorCode.NESTED_FACT_MARKER),
    ],
)
def test_markers_inside_a_fact_are_refused(text: str, code: ErrorCode):
    assert code_and_field(normalise.fact, text, "facts[0]") == (code, "facts[0]")


@pytest.mark.parametrize("text", ["[Tier] is a field", "see Tier=1 below", "std::facts::x", "a :: relations"])
def test_text_that_only_resembles_a_marker_is_kept(text: str):
    assert normalise.fact(text, "facts[0]") == text


def test_tags_keep_their_case_and_width():
    assert normalise.tag("  Raspberry \t Pi² ", "tags[0]") == "Raspberry Pi²"


@pytest.mark.parametrize(
    ("fact", "repeats"),
    [
        ("Hermes:My_Gateway port", True),
        ("hermes:my gateway, port", True),
        ("Hermes:My_Gateway", True),
        ("Hermes:My_Gateways run", False),
        ("Hermes:My_Gateway-2 runs", False),
        ("The Hermes:My_Gateway runs", False),
    ],
)
def test_a_repeated_prefix_is_recognised(fact: str, repeats: bool):
    assert normalise.repeats_prefix(fact, "Hermes", "My_Gateway") is repeats


@given(tricky_text)
@pytest.mark.parametrize("normal", [normalise.label, normalise.words, normalise.tag, normalise.fact])
def test_normalising_twice_changes_nothing(normal, text: str):
    try:
        once = normal(text, "subject")
    except MemsuiteError:
        return
    assert normal(once, "subject") == once


@given(st.text(st.sampled_from("aAİß =;,\"'(.\u0338\u0301＝ﬁ…t>"), max_size=24))
def test_tidying_claim_keys_twice_changes_nothing(text: str):
    try:
        once = normalise.fact(text, "facts[0]")
    except MemsuiteError:
        return
    assert normalise.fact(once, "facts[0]") == once


@pytest.mark.parametrize("normal", [normalise.label, normalise.fact])
def test_every_character_has_a_stable_normal_form(normal):
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if unicodedata.category(character) == "Cn":
            continue
        try:
            once = normal(f"x{character}Y = 1", "subject")
        except MemsuiteError:
            continue
        assert normal(once, "subject") == once
