from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import Clash, claims_of, clashes
from memories.contract.claim_values import typed
from memories.contract.claims import tidy_claim_keys

from .payloads import tricky_text


def read(*facts: str) -> list[tuple[str, str]]:
    return [(claim.key, claim.value) for claim in claims_of(facts)]


def clash_keys(a: str, b: str) -> list[str]:
    return [clash.key for clash in clashes(claims_of([a]), claims_of([b]))]


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("port=7777", [("port", "7777")]),
        ("Port = 7777", [("port", "7777")]),
        ("port=7777 for the gateway", [("port", "7777")]),
        ("owner=Elo van Team", [("owner", "Elo van Team")]),
        ("owner=Elo Team host=nas", [("owner", "Elo Team"), ("host", "nas")]),
        ("owner=Elo Team; host=nas, colour=red", [("owner", "Elo Team"), ("host", "nas"), ("colour", "red")]),
        ('name="Big Box; spare" host=nas', [("name", "Big Box; spare"), ("host", "nas")]),
        ("owner='Jo's team' x=1", [("owner", "Jo's team"), ("x", "1")]),
        ("The gateway (port=7777) runs", [("port", "7777")]),
        ('prefix=""', [("prefix", "")]),
        ("size=1,024", [("size", "1,024")]),
        ("a.b-c_d=1", [("a.b-c_d", "1")]),
        ("naïve_Größe=1", [("naïve_grösse", "1")]),
        ("ключ=да", [("ключ", "да")]),
        ("mood=...", [("mood", "...")]),
        ('cmd="run --env a=1"', [("cmd", "run --env a=1")]),
    ],
)
def test_claims_are_read_from_a_fact(fact: str, expected: list[tuple[str, str]]):
    assert read(fact) == expected


@pytest.mark.parametrize(
    "fact",
    [
        "a == b",
        "a != b",
        "a <= b and b >= c",
        "f => x",
        "x += 1",
        "java -Dfoo.Bar=x",
        "serve --port=7777",
        "see http://x/?page=2&size=3",
        "port=",
        "port= ; done",
        "nothing here",
        "tier=1",
        "Tier = 2",
    ],
)
def test_what_is_no_claim_is_not_read_as_one(fact: str):
    assert read(fact) == []


def test_a_claim_stated_twice_is_listed_once():
    assert read("port=7777", "port=07777 again") == [("port", "7777")]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("port=7777 for the gateway", "port=7777"),
        ("port=07777", "port=7777"),
        ('port="7777"', "port=7777"),
        ("port=7777.", "port=7777"),
        ("v=2.0", "v=2"),
        ("v=2.0.0", "v=2.0"),
        ("dir=/srv/data/", "dir=/srv/data"),
        ("url=HTTP://Example.com/A", "url=http://example.COM/A"),
        ("url=http://example.com/", "url=http://example.com"),
        ("host=NAS:7777", "host=nas:7777"),
        ("cache=yes", "cache=on"),
        ("cache=True.", "cache=true"),
        ("cache=off", "cache=no"),
        ("owner=Elo  Team.", "owner=elo team"),
        ('owner="Elo"', "owner='elo'!"),
        ("Größe=1", "GRÖSSE=1"),
    ],
)
def test_values_that_mean_the_same_agree(a: str, b: str):
    assert clash_keys(a, b) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("v=3.10", "v=3.1"),
        ("v=1.2.3", "v=1.2.4"),
        ("v=-1", "v=1"),
        ("file=.env", "file=env"),
        ("dir=/srv/Data", "dir=/srv/data"),
        ("file=README.md", "file=readme.md"),
        ("url=http://x/A", "url=http://x/a"),
        ("cache=yes", "cache=no"),
        ("owner=Elo Team", "owner=Elo"),
        ("area=10²", "area=102"),
        ('prefix=""', "prefix=x"),
    ],
)
def test_values_that_differ_clash_in_both_directions(a: str, b: str):
    assert len(clash_keys(a, b)) == 1
    assert clash_keys(a, b) == clash_keys(b, a)


def test_a_clash_shows_both_values():
    found = clashes(claims_of(["port=7777"]), claims_of(["port=8888 now"]))
    assert found == (Clash("port", "7777", "8888"),)


def test_sets_that_share_a_value_do_not_clash():
    assert clash_keys("port=80 port=443", "port=443") == []


def test_sets_that_share_nothing_clash_whatever_their_order():
    a, b = claims_of(["port=443 port=80"]), claims_of(["port=1"])
    assert clashes(a, b) == (Clash("port", "443; 80", "1"),)
    assert clashes(claims_of(["port=80 port=443"]), b) == clashes(a, b)


def test_keys_of_one_side_only_never_clash():
    assert clash_keys("port=1", "host=nas") == []


@pytest.mark.parametrize(
    ("fact", "tidy"),
    [
        ("Port = 7777, Owner =Elo Team", "port=7777, owner=Elo Team"),
        ("PATH=/Usr/Bin", "path=/Usr/Bin"),
        ('Name = "A = B"', 'name="A = B"'),
        ("Tier = 1 applies", "Tier = 1 applies"),
        ("If A == B then", "If A == B then"),
        ("x = ̸y", "x = ̸y"),
    ],
)
def test_only_claim_keys_are_tidied(fact: str, tidy: str):
    assert tidy_claim_keys(fact) == tidy


def test_a_number_of_any_length_is_compared():
    assert typed("0" * 9000 + "1")[2] == "1"


facts = st.lists(
    st.one_of(tricky_text, st.from_regex(r"[ab] ?= ?[\w.;, /'\"-]{1,12}", fullmatch=True)), max_size=4
)


@given(facts, facts)
def test_clashes_are_symmetric(a: list[str], b: list[str]):
    there = clashes(claims_of(a), claims_of(b))
    back = clashes(claims_of(b), claims_of(a))
    assert [(c.key, c.value_a, c.value_b) for c in there] == [(c.key, c.value_b, c.value_a) for c in back]


@given(facts)
def test_a_memory_never_clashes_with_itself(a: list[str]):
    assert clashes(claims_of(a), claims_of(a)) == ()


@given(facts)
def test_a_value_alone_is_typed_like_the_claim_it_came_from(a: list[str]):
    for claim in claims_of(a):
        assert typed(claim.value, quoted=True)[1:] == (claim.kind, claim.normal)


@given(facts)
def test_tidying_keys_keeps_every_claim(a: list[str]):
    assert claims_of(map(tidy_claim_keys, a)) == claims_of(a)
