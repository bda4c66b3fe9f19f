"""Normalisation of every text a memory holds. Doing it twice changes nothing.

Each function takes text and the place it stands in, and returns the normal form or raises what makes it
unusable (characters, line breaks, markers). Lengths are checked by `fields`, after normalisation.
"""

from __future__ import annotations

import re
import unicodedata

from memories.contract.claims import tidy_claim_keys
from memories.contract.errors import ErrorCode, MemsuiteError
from memories.contract.limits import FACT_MAX

# Written by rich text editors or to deceive, never to be read: soft hyphen, zero-width space, word joiner,
# BOM, bidi embeddings, overrides and isolates. ZWJ, ZWNJ and direction marks stay: some scripts need them.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
# Unicode's White_Space. Python's \s would add U+001C to U+001F, which are control characters here.
_WHITE_SPACE = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_OUTER = re.compile(rf"^[{_WHITE_SPACE}]+|[{_WHITE_SPACE}]+\Z")
_RUN = re.compile(rf"[{_WHITE_SPACE}]+")
_LINE_BREAK = re.compile("[\n-\r\u0085\u2028\u2029]")
# C0 without the tab, C1, and halves of surrogate pairs, which no encoding can store.
_CONTROL = re.compile("[\x00-\x08\n-\x1f\x7f-\x9f\ud800-\udfff]")
_LABEL_RESERVED = re.compile(r"[:\[\]]")

_TIER_MARKER = re.compile(r"\[\s*tier\s*=\s*[^\[\]\s]*\s*\]")
_MARKERS = (
    (
        _TIER_MARKER,
        ErrorCode.NESTED_TIER_MARKER,
        "A fact holds no tier marker; the tier is a field of its own.",
    ),
    (
        re.compile(r"::\s*relations\s*::"),
        ErrorCode.NESTED_RELATION_MARKER,
        "A fact holds no relations marker; relations are a field of their own.",
    ),
    (
        re.compile(r"::\s*fact\s*::"),
        ErrorCode.NESTED_FACT_MARKER,
        "A fact holds no fact marker; give several facts as a list.",
    ),
)


def label(text: str, field: str) -> str:
    """A domain or subject: NFKC, inner white space as `_`, no `:` `[` `]`, which frame the canonical text."""
    normal = _RUN.sub("_", _label_text(text, field))
    if _LABEL_RESERVED.search(normal):
        code = ErrorCode.INVALID_DOMAIN if field == "domain" else ErrorCode.INVALID_SUBJECT
        raise MemsuiteError(
            code, field, f"A {field} holds no colon or square bracket.", received=text, expected="no : [ ]"
        )
    return normal


def words(text: str, field: str) -> str:
    """A relation label, a type, a category or a mode: NFKC, inner white space as one blank."""
    return _RUN.sub(" ", _label_text(text, field))


def tag(text: str, field: str) -> str:
    """NFC, trimmed, inner blanks to one; the case is kept."""
    return _RUN.sub(" ", _plain_text(text, field))


def line(text: str, field: str) -> str:
    """One line, NFC only (NFKC would turn `10²` into `102`), runs of blanks as one."""
    if _LINE_BREAK.search(_trimmed(text)):
        raise MemsuiteError(
            ErrorCode.MULTILINE_FACT, field, "A fact is one line; give several as a list.", received=text
        )
    return _RUN.sub(" ", _plain_text(text, field))


def fact(text: str, field: str) -> str:
    """A line whose claim keys are tidied and which holds no markers. May be empty."""
    normal = line(text, field)
    if len(normal) <= 2 * FACT_MAX:
        # Tidying takes at most two blanks from each `k = v;`: what is longer will be refused for its length.
        normal = tidy_claim_keys(normal)
    # Look-alikes of a marker (full-width brackets) are markers too: a reader takes them for one.
    folded = unicodedata.normalize("NFKC", normal).casefold()
    for marker, code, message in _MARKERS:
        if marker.search(folded):
            raise MemsuiteError(code, field, message, received=text)
    return normal


def repeats_prefix(fact_text: str, domain: str, subject: str) -> bool:
    """True when a fact opens with its own `Domain:Subject`, in any case, with blanks or `_` between words."""
    prefix = re.escape(_fold(f"{domain}:{subject}")).replace("_", r"[_\s]")
    return re.match(rf"{prefix}(?![\w-])", _fold(fact_text)) is not None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _label_text(text: str, field: str) -> str:
    # Trimmed again at the end: some compatibility forms open with a blank ("¨").
    return _trimmed(unicodedata.normalize("NFKC", _visible(text, field)))


def _plain_text(text: str, field: str) -> str:
    return unicodedata.normalize("NFC", _visible(text, field))


def _visible(text: str, field: str) -> str:
    """Without invisible characters and outer white space. A line break inside a label is refused here."""
    kept = _trimmed(text)
    if _CONTROL.search(kept):
        raise MemsuiteError(
            ErrorCode.CONTROL_CHARACTER,
            field,
            "Control characters and lone surrogates are refused.",
            received=text,
        )
    return kept


def _trimmed(text: str) -> str:
    return _OUTER.sub("", _INVISIBLE.sub("", text))
