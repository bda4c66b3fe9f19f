from __future__ import annotations

from memories.contract import Category, Claim, ClaimKind, MemoryForm, Relation, RelationType, Tier

FORM = MemoryForm("Home", "Nas", ("port=7777", "runs daily"), Tier.REUSABLE, Category.TECH)


def test_the_type_defaults_to_the_category():
    assert FORM.type == "tech"


def test_content_keys_and_claims_are_derived():
    assert FORM.content == "Home:Nas port=7777. runs daily. [Tier=2]"
    assert FORM.subject_key == "home:nas"
    assert FORM.claims == (Claim("port", "7777", ClaimKind.NUMBER, "7777"),)


def test_a_relation_shows_the_one_target_it_has():
    assert Relation(RelationType.USES, target="nas").as_dict() == {"type": "uses", "target": "nas"}
    assert Relation(RelationType.USES, target_id="m1").as_dict() == {"type": "uses", "target_id": "m1"}
