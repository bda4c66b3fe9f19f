from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.identity import EmbeddingIdentity

_VISIBLE = st.characters(min_codepoint=33, max_codepoint=0x24F, categories=["L", "N", "P", "S"])
_WORD = st.text(_VISIBLE, min_size=1)


@given(
    provider=_WORD.filter(lambda word: "/" not in word),
    model=_WORD,
    dimension=st.integers(1, 10_000),
    pipeline=_WORD.filter(lambda word: not set("#@") & set(word)),
)
def test_what_is_written_is_read_back(provider: str, model: str, dimension: int, pipeline: str) -> None:
    identity = EmbeddingIdentity(provider, model, dimension, pipeline)
    assert EmbeddingIdentity.parse(str(identity)) == identity


def test_it_is_written_as_the_store_holds_it() -> None:
    identity = EmbeddingIdentity("ollama", "hf.co/user/model:Q4", 768, "plain-v1")
    assert str(identity) == "ollama/hf.co/user/model:Q4@768#plain-v1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ollama",
        "ollama/m@768",
        "ollama/m#p",
        "/m@3#p",
        "o/@3#p",
        "o/m@0#p",
        "o/m@x#p",
        "o/m@3#",
        "o/m m@3#p",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(MemsuiteError) as refusal:
        EmbeddingIdentity.parse(text)
    assert refusal.value.code is ErrorCode.INVALID_PARAMETER


def test_a_part_that_could_not_be_read_back_is_refused() -> None:
    with pytest.raises(MemsuiteError):
        EmbeddingIdentity("a/b", "model", 3, "p")
