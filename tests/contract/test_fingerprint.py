from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from memories.contract import Relation, RelationType, fingerprint, subject_key, validate_add

from .payloads import payload

relations = st.lists(
    st.builds(Relation, st.sampled_from(RelationType), target=st.text(min_size=1, max_size=8)), max_size=5
)


def test_the_fingerprint_is_the_hash_of_compact_json():
    body = '{"category":"tech","content":"a:b é. [Tier=1]","relations":[{"target":"nas","type":"uses"}]}'
    relation = Relation(RelationType.USES, target="nas")
    assert fingerprint("tech", "a:b é. [Tier=1]", [relation]) == hashlib.sha256(body.encode()).hexdigest()


@given(relations, st.randoms())
def test_the_order_of_relations_means_nothing(declared: list[Relation], random):
    shuffled = random.sample(declared, len(declared))
    assert fingerprint("tech", "text", declared) == fingerprint("tech", "text", shuffled)


def test_spellings_that_normalise_alike_share_a_fingerprint():
    plain = validate_add(payload(facts=["port=7777"], tags=["a"]))
    loose = validate_add(payload(domain=" Hermes ", facts=["Port  = 7777 "], quality=0.9))
    assert plain.form.fingerprint == loose.form.fingerprint


def test_category_text_and_relations_each_change_the_fingerprint():
    relation = {"type": "uses", "target": "nas"}
    variants = [
        {},
        {"category": "fact"},
        {"tier": 1},
        {"facts": ["port=7777 "[:-1] + "x"]},
        {"relations": [relation]},
    ]
    assert len({validate_add(payload(**change)).form.fingerprint for change in variants}) == len(variants)


def test_a_target_id_is_not_a_label():
    by_id, by_label = Relation(RelationType.USES, target_id="m1"), Relation(RelationType.USES, target="m1")
    assert fingerprint("tech", "text", [by_id]) != fingerprint("tech", "text", [by_label])


def test_stored_text_with_a_lone_surrogate_has_a_fingerprint():
    assert len(fingerprint("tech", "\ud800", [])) == 64


def test_the_subject_key_ignores_case():
    assert subject_key("Home", "GROSSE_Box") == subject_key("home", "große_box") == "home:grosse_box"
