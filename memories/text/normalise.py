"""Search normalisation: what of a memory goes into `search_text`, and how any text becomes tokens."""

from __future__ import annotations

from collections.abc import Sequence

from memories.text.folding import fold
from memories.text.languages import Language, evidence, languages_seen
from memories.text.stems import stems
from memories.text.words import words

# Half a function word, or one telling letter: a stem too many costs a few bytes, one too few a match.
_LEAST_EVIDENCE = 0.5

__all__ = ["fold", "index_text", "tokens"]


def tokens(text: str) -> list[str]:
    """The folded words of `text` as indexed, in order and with repeats, without stems.

    Identifiers come whole, joined and in parts; Chinese, Japanese, Korean and Thai in pairs of characters.
    No token is empty or holds white space. The set of tokens of the joined tokens is the same set again.
    """
    return [token for word in words(text) for token in word.tokens]


def index_text(*, domain: str, subject: str, facts: Sequence[str], tags: Sequence[str]) -> str:
    """The tokens of a memory and their marked stems, blank-joined, for a whitespace-tokenised text index.

    Stems are English ones, since English words are everywhere in technical text, and those of every language
    that the function words or letters of the memory show.
    """
    text = "\n".join((domain, subject, *facts, *tags))
    indexed = tokens(text)
    seen = languages_seen(evidence(indexed, text), least=_LEAST_EVIDENCE)
    languages = tuple(dict.fromkeys((Language.ENGLISH, *seen)))
    return " ".join([*indexed, *(stem for token in indexed for stem in stems(token, languages))])
