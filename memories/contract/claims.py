"""Claims: the `key=value` statements inside facts, typed by shape so that they can be compared.

What counts as a key is kept narrow. It stands at the start of a fact, after a blank, a separator, an opening
bracket or a quote, so that `-Dfoo=bar`, `?page=2` or `a != b` are left as they were written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memories.contract.claim_values import ClaimKind, typed
from memories.contract.limits import CLAIM_KEY_MAX

# Said of no memory as a claim: the tier is a field of its own.
RESERVED_KEYS = frozenset({"tier"})

_KEY_PUNCTUATION = r"\s=;,:\"'`()\[\]{}<>!?&|/\\+*~^%$#@…"
_KEY = (
    rf"[^\W\d](?:[^{_KEY_PUNCTUATION}]{{0,{CLAIM_KEY_MAX - 2}}}"
    rf"[^{_KEY_PUNCTUATION}.\-])?"
)
# "==", "=>" and "= =" are operators of some language, not claims.
_EQUALS = r"[ ]?=(?![ ]?[=>])"
_OPENERS = r"\s;,(\[{\"'`"
_CLAIM = re.compile(rf"(?<![^{_OPENERS}])(?P<key>{_KEY}){_EQUALS}")
_WHOLE_KEY = re.compile(_KEY)
_VALUE_END = re.compile(rf";|,(?=\s|$)|\s(?=[(\[{{\"'`]?{_KEY}{_EQUALS})")
# A quote closes before a blank, a separator or the end, so that 'Jo's team' is one value.
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<text>.*?)(?P=quote)(?=[\s;,.!?)\]}]|$)")


@dataclass(frozen=True, slots=True)
class Claim:
    """`key` is NFKC and case-folded; `value` is what was written; `normal` is what is compared."""

    key: str
    value: str
    kind: ClaimKind
    normal: str


@dataclass(frozen=True, slots=True)
class Clash:
    """Two memories that state values of one key and share none.

    Several values of one side are ordered by normal form and joined by "; ", which no unquoted value holds.
    """

    key: str
    value_a: str
    value_b: str


@dataclass(frozen=True, slots=True)
class _Written:
    """A claim as it stands in a fact: `start` to `value_start` is the key with its equals sign and blanks."""

    start: int
    key: str
    value_start: int
    value: str
    quoted: bool


def claims_of(facts: Iterable[str]) -> tuple[Claim, ...]:
    """Every claim of a memory in order of appearance; the same claim stated twice is listed once."""
    found: dict[tuple[str, str], Claim] = {}
    for fact in facts:
        for written in _written(fact):
            key = fold_key(written.key)
            if key not in RESERVED_KEYS:
                value, kind, normal = typed(written.value, quoted=written.quoted)
                found.setdefault((key, normal), Claim(key, value, kind, normal))
    return tuple(found.values())


def clashes(a: Sequence[Claim], b: Sequence[Claim]) -> tuple[Clash, ...]:
    """Where `a` and `b` contradict each other, ordered by key. A key stated by one side only never clashes.

    A key given twice in one memory makes a set: sharing one value is enough to agree.
    """
    ours, theirs = _by_key(a), _by_key(b)
    return tuple(
        Clash(key, _joined(ours[key]), _joined(theirs[key]))
        for key in sorted(ours.keys() & theirs.keys())
        if ours[key].keys().isdisjoint(theirs[key].keys())
    )


def tidy_claim_keys(fact: str) -> str:
    """`Key = value` becomes `key=value`; everything else, values included, stays as it is written."""
    pieces, end = [], 0
    for written in _written(fact):
        key = _plain_key(written.key)
        if fold_key(key) in RESERVED_KEYS:
            continue
        pieces += [fact[end : written.start], key, "="]
        end = written.value_start
    return "".join([*pieces, fact[end:]])


def restated(facts: Sequence[str], key: str, value: str) -> tuple[str, ...] | None:
    """The facts with every claim of `key` saying `value` instead, all else as it was; None where the value
    would be read differently in the words around it."""
    wanted = typed(value, quoted=True)[2]
    changed = tuple(_restated(fact, key, value) for fact in facts)
    said = {claim.normal for claim in claims_of(changed) if claim.key == key}
    others = [[claim for claim in claims_of(side) if claim.key != key] for side in (facts, changed)]
    return changed if said == {wanted} and others[0] == others[1] else None


def _restated(fact: str, key: str, value: str) -> str:
    pieces, end = [], 0
    for written in _written(fact):
        if fold_key(written.key) != key:
            continue
        said = typed(written.value, quoted=written.quoted)[0]
        start = written.value_start + written.quoted + written.value.find(said)
        # A text of several words would take what follows it into itself.
        bare = written.quoted or " " not in value or start + len(said) == len(fact)
        pieces += [fact[end:start], value if bare else f'"{value}"']
        end = start + len(said)
    return "".join([*pieces, fact[end:]])


def fold_key(key: str) -> str:
    """The form in which claim keys are compared."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())


def _plain_key(key: str) -> str:
    """The form in which claim keys are kept in text. Lower case, not case-folded: `straße` stays readable."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).lower())


def _joined(values: dict[str, str]) -> str:
    return "; ".join(value for _, value in sorted(values.items()))


def _by_key(claims: Iterable[Claim]) -> dict[str, dict[str, str]]:
    """key → normal form → the value as first written."""
    keys: dict[str, dict[str, str]] = {}
    for claim in claims:
        keys.setdefault(claim.key, {}).setdefault(claim.normal, claim.value)
    return keys


def _written(fact: str) -> Iterator[_Written]:
    position = 0
    while match := _CLAIM.search(fact, position):
        position = match.end()
        written = _value_of(fact, match)
        if written is not None:
            yield written
            position = written.value_start + len(written.value) + 2 * written.quoted


def _value_of(fact: str, match: re.Match[str]) -> _Written | None:
    """The claim that `match` opens, or None where there is none after all."""
    if not _WHOLE_KEY.fullmatch(_plain_key(match["key"])):
        # Compatibility forms can hide an "=" or a bracket; what does not stay a key is no key.
        return None
    after = fact[match.end() :]
    start = match.end() + len(after) - len(after.lstrip())
    if quoted := _QUOTED.match(fact, start):
        return _Written(match.start(), match["key"], start, quoted["text"], quoted=True)
    stop = _VALUE_END.search(fact, match.end())
    value = fact[start : stop.start() if stop else len(fact)].rstrip()
    if not value or unicodedata.combining(value[0]):
        # A combining mark would melt into the equals sign ("≠") once the blank between them is gone.
        return None
    return _Written(match.start(), match["key"], start, value, quoted=False)
