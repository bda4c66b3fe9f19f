"""From a pattern to a sentence: names filled in, French elided, and what hurried typing does to it."""

from __future__ import annotations

import random
import re
import unicodedata

from maintenance.bench.corpus.source import Entity

_ELIDES = ("A", "E", "É", "I", "O", "U", "Å", "Ø", "Hé")
_WORD = re.compile(r"[^\W\d_]{6,}")
# Letters that a person without the right keyboard replaces, where taking off the accent is not enough.
_PLAIN = str.maketrans({"ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe"})


def fill(pattern: str, entity: Entity, **values: str) -> str:
    """`pattern` with the entity's names, slug and `values` in their places."""
    names = {"p": entity.name, "f": entity.first_name, "slug": entity.slug}
    names |= {"de_p": f"de {entity.name}", "de_f": f"de {entity.first_name}"}
    text = pattern.format(**{**names, **values})
    return _elide(text, entity.first_name)


def without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def with_typo(text: str, rng: random.Random, *, keep: str) -> str:
    """`text` with two letters swapped, one left out or one doubled, in one word of six letters or more.

    Words of `keep` stay as they are, and so does a text without such a word.
    """
    kept = {word.casefold() for word in _WORD.findall(keep)}
    words = [match for match in _WORD.finditer(text) if match.group().casefold() not in kept]
    if not words:
        return text
    match = rng.choice(words)
    return text[: match.start()] + _slip(match.group(), rng) + text[match.end() :]


def _slip(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 2)
    kind = rng.choice(("swap", "drop", "double"))
    if kind == "swap" and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == "drop" else word[: at + 1] + word[at:]


def _elide(text: str, name: str) -> str:
    """French `de Ondine` -> `d'Ondine`, only before the entity's own name: the rest is written by hand."""
    if not name.startswith(_ELIDES):
        return text
    return re.sub(rf"\b([Dd]|[Qq]u)e (?={re.escape(name)})", r"\1'", text)
