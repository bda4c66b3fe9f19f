from __future__ import annotations

import json
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import Category, ErrorCode, MemoryForm, MemsuiteError, Relation, RelationType, Tier
from memories.screening import find_secrets, mask_secrets, refuse_secrets, suspect_secrets
from memories.screening.secret_kinds import SECRET_KINDS

from .made_up import DOUBTFUL, LOOK_ALIKES, LOOK_ALIKES_OF_DOUBTFUL, SECRETS

TOKEN = SECRETS["github classic"]


def form(**changes: object) -> MemoryForm:
    fields = {"domain": "Home", "subject": "Nas", "facts": ("runs daily",), "tier": Tier.REUSABLE}
    return MemoryForm(**{**fields, "category": Category.TECH, **changes})


def refusal(memory: MemoryForm) -> MemsuiteError:
    with pytest.raises(MemsuiteError) as caught:
        refuse_secrets(memory)
    return caught.value


@pytest.mark.parametrize("name", SECRETS)
def test_a_made_up_secret_is_found(name: str):
    assert find_secrets(SECRETS[name])


@pytest.mark.parametrize("frame", ["token={}", "The key is `{}`.", '("{}", x)', "{}; then restart", "é{} é"])
def test_a_secret_is_found_inside_a_sentence(frame: str):
    (finding,) = find_secrets(frame.format(TOKEN))
    assert frame.format(TOKEN)[finding.start : finding.end] == TOKEN


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_passes(text: str):
    assert find_secrets(text) == ()


def test_two_secrets_are_both_found_in_order():
    findings = find_secrets(f"{SECRETS['stripe']} and {TOKEN}")
    assert [finding.kind for finding in findings] == ["Stripe key", "GitHub token"]


def test_a_secret_within_a_longer_word_is_no_token():
    assert find_secrets(f"a{TOKEN}") == ()


def test_every_kind_has_a_reason():
    assert all(kind.reason.endswith(".") for kind in SECRET_KINDS)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"facts": ("runs daily", "quite", f"key={TOKEN}")}, "facts[2]"),
        ({"subject": TOKEN}, "subject"),
        ({"domain": SECRETS["aws key id"]}, "domain"),
        ({"tags": (TOKEN,)}, "tags[0]"),
        ({"type": TOKEN}, "type"),
        (
            {
                "relations": (
                    Relation(RelationType.USES, target="x"),
                    Relation(RelationType.USES, target=TOKEN),
                )
            },
            "relations[1].target",
        ),
    ],
)
def test_a_secret_is_refused_by_its_place(changes: dict[str, object], place: str):
    error = refusal(form(**changes))
    assert (error.code, error.field) == (ErrorCode.SECRET_DETECTED, place)


def test_a_key_spread_over_several_facts_is_refused_where_it_begins():
    header, *lines = SECRETS["rsa key"].split(" MII")[0].rsplit(" ", 6)
    assert refusal(form(facts=("the key is below", header, *lines))).field == "facts[1]"


@pytest.mark.parametrize("name", SECRETS)
def test_the_refusal_does_not_repeat_the_secret(name: str):
    error = refusal(form(facts=(SECRETS[name],)))
    told = json.dumps(error.as_answer()) + "".join(traceback.format_exception(error))
    assert not any(piece in told for piece in SECRETS[name].split() if len(piece) > 12)


def test_what_an_operator_allows_passes():
    refuse_secrets(form(facts=(TOKEN,)), allowed=("gh" + r"p_\w+",))


def test_an_allowed_pattern_must_match_the_whole_secret():
    with pytest.raises(MemsuiteError):
        refuse_secrets(form(facts=(TOKEN,)), allowed=("gh" + "p_",))


def test_an_allowed_pattern_allows_nothing_else():
    allowed = ("gh" + r"p_\w+",)
    assert find_secrets(f"{TOKEN} {SECRETS['npm']}", allowed=allowed)[0].kind == "npm token"


# --- doubtful ones ---------------------------------------------------------------------


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_value_beside_a_telling_name_is_suspicious(name: str):
    (found,) = suspect_secrets(DOUBTFUL[name])
    assert not found.certain


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_doubtful_secret_is_not_refused(name: str):
    refuse_secrets(form(facts=(DOUBTFUL[name],)))


@pytest.mark.parametrize("text", (*LOOK_ALIKES, *LOOK_ALIKES_OF_DOUBTFUL))
def test_a_harmless_value_beside_a_telling_name_is_not_suspicious(text: str):
    assert suspect_secrets(text) == ()


def test_of_the_made_up_corpus_nearly_all_is_caught_and_hardly_anything_else():
    secrets = (*SECRETS.values(), *DOUBTFUL.values())
    harmless = (*LOOK_ALIKES, *LOOK_ALIKES_OF_DOUBTFUL)
    assert len(secrets) >= 60 and len(harmless) >= 60
    assert sum(map(bool, map(suspect_secrets, secrets))) / len(secrets) >= 0.95
    assert sum(map(bool, map(suspect_secrets, harmless))) / len(harmless) <= 0.03


@pytest.mark.parametrize("name", [*SECRETS, *DOUBTFUL])
def test_a_masked_text_holds_no_secret(name: str):
    text = (SECRETS | DOUBTFUL)[name]
    masked, number = mask_secrets(f"before {text} after")
    assert number == 1
    assert masked.startswith("before ") and masked.endswith(" after")
    assert suspect_secrets(masked) == ()


def test_a_certain_finding_wins_over_a_doubtful_one_in_the_same_place():
    (found,) = suspect_secrets(f"token={TOKEN}")
    assert found.certain


def test_a_memory_without_secrets_passes():
    refuse_secrets(form(facts=LOOK_ALIKES, tags=LOOK_ALIKES))


@given(st.text(max_size=300))
def test_any_text_can_be_searched(text: str):
    for finding in find_secrets(text):
        assert 0 <= finding.start < finding.end <= len(text)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(sorted(SECRETS)))
def test_a_secret_is_found_between_any_words(before: str, after: str, name: str):
    assert find_secrets(f"{before} {SECRETS[name]} {after}")
