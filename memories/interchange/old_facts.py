"""Facts out of the joined text of older suites: cut where a reader would, nothing dropped, nothing added."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memories.contract import ParsedText, parse_canonical
from memories.contract.limits import FACT_MAX, FACTS_MAX

FACT_MARKER = "::fact::"

# A sentence ends before a blank and a capital, a digit or an opening mark; "e.g. this" and "v1. 2" do not.
_SENTENCE_END = re.compile(r"(?<=[.!?;…])\s+(?=[\"'“«(\[]?[^\W_a-zà-öø-ÿ])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:\w|e\.g|i\.e|etc|vs|cf|ca|no|nr|dr|mr|mrs|ms|st|approx|incl|excl|bl\.a|f\.eks|dvs|osv"
    r"|p\.ex|c\.-à-d|z\.B|d\.h)\.\Z",
    re.IGNORECASE,
)
# Before ` key=`; not within quotation marks, nor after an option that takes it (`-e NAME=value`).
_CLAIM_AHEAD = re.compile(r"\s+(?=[^\W\d][\w.-]{0,79}\s?=(?![=>\s])\S)")


def old_text(text: str) -> ParsedText:
    """What an older row says, its facts told apart as far as the text tells. Raises as
    ``parse_canonical`` does."""
    parsed = parse_canonical(text)
    if FACT_MARKER in text:
        return parsed
    body = " ".join(parsed.facts)
    return ParsedText(parsed.domain, parsed.subject, facts_of(body), parsed.tier, parsed.relations)


def facts_of(body: str) -> tuple[str, ...]:
    """Facts of one run of text, cut at sentence ends and before ``key=``; joined by blanks they give the
    text back. Never more than the contract takes: neighbours stay together where they would be."""
    pieces = [piece for sentence in _sentences(body) for piece in _before_claims(sentence)]
    return tuple(_together(pieces))


def _sentences(body: str) -> list[str]:
    found = [""]
    start = 0
    for end in _SENTENCE_END.finditer(body):
        if _ABBREVIATION.search(body[start : end.start()]):
            continue
        found[-1] = body[start : end.start()]
        found.append("")
        start = end.end()
    found[-1] = body[start:]
    return [sentence for sentence in found if sentence]


def _before_claims(sentence: str) -> list[str]:
    found, start = [], 0
    for gap in _CLAIM_AHEAD.finditer(sentence):
        before = sentence[start : gap.start()]
        if not before or _inside_quotes(sentence[: gap.start()]) or before.split()[-1].startswith("-"):
            continue
        found.append(before)
        start = gap.end()
    return [*found, sentence[start:]]


def _inside_quotes(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("`") % 2 == 1


def _together(pieces: Sequence[str]) -> list[str]:
    """The shortest neighbours joined until there are no more than the contract's limit."""
    joined = list(pieces)
    while len(joined) > FACTS_MAX:
        pairs = range(len(joined) - 1)
        at = min(pairs, key=lambda index: len(joined[index]) + len(joined[index + 1]))
        if len(joined[at]) + len(joined[at + 1]) + 1 > FACT_MAX:
            break
        joined[at : at + 2] = [f"{joined[at]} {joined[at + 1]}"]
    return joined
