"""Folding: the one form in which two spellings of a word compare equal.

Case, compatibility forms and the marks that people leave out when they type are removed: Latin and Greek
accents, Arabic and Hebrew vowel points, the dots of Cyrillic ё. Marks that make another letter stay
(Cyrillic й, Japanese が, Thai and Indic vowels).
"""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not decompose, and the spelling people fall back on.
_PLAIN_LETTERS = str.maketrans({
    "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i",
    "ŋ": "n", "ŧ": "t", "ß": "ss", "ĸ": "k", "ə": "e", "ɓ": "b", "ɗ": "d", "ƒ": "f",
})  # fmt: skip
# Hyphens and apostrophes have one typed form each; other dashes separate words and stay.
_TYPED_FORMS = str.maketrans({
    "\u2010": "-", "\u2011": "-", "\u2212": "-",
    "\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "`": "'",
})  # fmt: skip
_ACCENTED = re.compile("([a-z\u00df-\u024f\u0250-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=\u0435)\u0308")
# Arabic short vowels and the stretching tatweel, Hebrew points and cantillation: optional in writing.
_VOWEL_POINTS = re.compile("[\u0640\u064b-\u0652\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+")
# Invisible characters (soft hyphen, joiners, direction marks) and emoji variation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)


def plain_text(text: str) -> str:
    """`text` in NFKC, without invisible characters, with typed hyphens and apostrophes; case is kept."""
    if text.isascii():
        return text.replace("`", "'")
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_TYPED_FORMS)


def fold(text: str) -> str:
    """`text` folded for comparison; white space is kept as it is. Folding twice changes nothing."""
    if text.isascii():
        return text.lower().replace("`", "'")
    folded = _fold_once(text)
    # Case-folding can free a mark (İ) or a compatibility form that only the next pass sees.
    while (again := _fold_once(folded)) != folded:
        folded = again
    return folded


def _fold_once(text: str) -> str:
    lowered = plain_text(text).casefold()
    decomposed = unicodedata.normalize("NFD", lowered)
    bare = _VOWEL_POINTS.sub("", _ACCENTED.sub(r"\1", decomposed))
    return unicodedata.normalize("NFKC", bare.translate(_PLAIN_LETTERS))
