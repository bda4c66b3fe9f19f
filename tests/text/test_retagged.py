"""A change of tags alone gives the same indexed text as indexing the memory anew."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memories.text.normalise import index_text, retagged

_WORDS = st.sampled_from(
    [
        *("the gateway", "ApiGateway", "max_upload_mb", "port=8080", "~/etc/main.conf", "v1.2.3"),
        *("où est la forêt", "hvor ligger nøkkelen", "der schlüssel", "el servidor está aquí"),
        *("東京都の天気", "dependencies", "les dépendances", '"quoted words"', "https://example.org/a", "🦊"),
    ]
)
_TAGS = st.lists(_WORDS | st.text(max_size=12), max_size=4)


@settings(deadline=None, max_examples=150)
@given(facts=st.lists(_WORDS | st.text(max_size=30), min_size=1, max_size=4), before=_TAGS, after=_TAGS)
@example(facts=["port=1"], before=[], after=["les données et la forêt"])
@example(facts=["Le café est fermé"], before=["où est la forêt"], after=[])
def test_retagging_equals_indexing_anew(facts: list[str], before: list[str], after: list[str]) -> None:
    rest = {"domain": "Orchard", "subject": "api_gateway", "facts": facts}
    indexed = index_text(**rest, tags=before)
    assert retagged(indexed, **rest, before=before, tags=after) == index_text(**rest, tags=after)


def test_a_text_that_other_rules_have_made_is_made_anew() -> None:
    rest = {"domain": "Orchard", "subject": "gateway", "facts": ["port=1"]}
    anew = index_text(**rest, tags=["new"])
    assert retagged("words of older rules", **rest, before=["old"], tags=["new"]) == anew
