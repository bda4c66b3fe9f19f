"""Search normalisation: what of a memory goes into `search_text`, and how any text becomes tokens."""

from __future__ import annotations

from collections.abc import Sequence

from memories.text.folding import fold
from memories.text.languages import Language, evidence, languages_seen
from memories.text.stems import MARK, stems
from memories.text.words import words

# Half a function word, or one telling letter: a stem too many costs a few bytes, one too few a match.
_LEAST_EVIDENCE = 0.5

__all__ = ["fold", "index_text", "retagged", "tokens"]


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
    languages = _languages(indexed, text)
    return " ".join([*indexed, *_stems(indexed, languages)])


def retagged(
    indexed: str,
    *,
    domain: str,
    subject: str,
    facts: Sequence[str],
    before: Sequence[str],
    tags: Sequence[str],
) -> str:
    """The ``index_text`` of a memory after a change of its tags alone, from the one it had with the tags
    ``before``: what its other words give is taken over, which is nearly all of it."""
    whole = "\n".join((domain, subject, *facts))
    was = indexed.split(" ") if indexed else []
    surfaces = indexed.count(" ", 0, indexed.find(MARK)) if MARK in indexed else len(was)
    old, new = tokens("\n".join(before)), tokens("\n".join(tags))
    rest = was[: surfaces - len(old)]
    if was[len(rest) : surfaces] != old:
        return index_text(domain=domain, subject=subject, facts=facts, tags=tags)
    words = [*rest, *new]
    languages = _languages(words, "\n".join((whole, *tags)))
    if languages != _languages(was[:surfaces], "\n".join((whole, *before))):
        return " ".join([*words, *_stems(words, languages)])
    stemmed = was[surfaces:]
    kept = stemmed[: len(stemmed) - len(_stems(old, languages))]
    return " ".join([*words, *kept, *_stems(new, languages)])


def _languages(indexed: Sequence[str], text: str) -> tuple[Language, ...]:
    seen = languages_seen(evidence(indexed, text), least=_LEAST_EVIDENCE)
    return tuple(dict.fromkeys((Language.ENGLISH, *seen)))


def _stems(indexed: Sequence[str], languages: tuple[Language, ...]) -> list[str]:
    return [stem for token in indexed for stem in stems(token, languages)]
