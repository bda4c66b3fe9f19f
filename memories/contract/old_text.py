"""Reading the text of rows that older suites stored. For importers only.

Accepted are the canonical text, facts joined by `::fact::`, a `::relations::` tail before or after the
tier, identical tier markers repeated at the very end, and a prefix that is repeated at once. Anything else
is refused with its reason, so that the importer can set the row aside: nothing is guessed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from memories.contract import fields, normalise
from memories.contract.errors import ErrorCode, MemsuiteError
from memories.contract.limits import FACT_MAX
from memories.contract.memory import Relation, Tier

_FIELD = "content"
_MARKER = re.compile(r"\[Tier=([^\[\]\s]*)\]", re.IGNORECASE)
_FINAL_MARKERS = re.compile(r"\s*((?:\[Tier=[^\[\]\s]*\]\s*)+)\Z", re.IGNORECASE)
_PREFIX = re.compile(r"(?P<domain>[^\s:]+):(?P<subject>\S+)(?:\s+|\Z)")
_FACT_SEPARATOR = re.compile(r"\s*::fact::\s*")
_RELATIONS_SEPARATOR = re.compile(r"\s*::relations::\s*")
_RELATION_PAIR = re.compile(r"\s*(?P<type>\w+)\s*[:=]\s*(?P<target>.+?)\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;…]) ")


@dataclass(frozen=True, slots=True)
class ParsedText:
    """What an old text says. Lengths and counts are not checked here: `validate_add` does it.

    Facts joined by blanks cannot be told apart: they come back as one fact, which renders to the same text.
    """

    domain: str
    subject: str
    facts: tuple[str, ...]
    tier: Tier
    relations: tuple[Relation, ...] = ()


def parse_canonical(text: str) -> ParsedText:
    """Raises MemsuiteError: missing_tier_marker, multiple_tier_markers, tier_not_final, invalid_tier,
    missing_subject_prefix, required_field (no facts), or what is wrong with a label, a fact or a relation.
    """
    if not isinstance(text, str):
        raise MemsuiteError(ErrorCode.INVALID_TYPE, _FIELD, "Must be text.", received=text, expected="text")
    line, relations = _take_relations(normalise.line(text, _FIELD))
    line, tier = _take_tier(line)
    domain, subject, body = _take_prefix(line)
    return ParsedText(domain, subject, _facts(body), tier, relations)


def _take_relations(line: str) -> tuple[str, tuple[Relation, ...]]:
    head, *tails = _RELATIONS_SEPARATOR.split(line)
    if not tails:
        return line, ()
    if len(tails) > 1:
        raise _refused(ErrorCode.NESTED_RELATION_MARKER, "More than one relations marker.", line)
    tail, markers = tails[0], ""
    if final := _FINAL_MARKERS.search(tail):
        tail, markers = tail[: final.start()], final[1]
    return f"{head} {markers}".strip(), fields.relations(_listed(tail))


def _listed(tail: str) -> object:
    """A JSON list of relations, or `type:target` pairs separated by semicolons."""
    try:
        return json.loads(tail)
    except (ValueError, RecursionError):
        pairs = [_RELATION_PAIR.fullmatch(piece) for piece in tail.split(";") if piece.strip()]
    if not all(pairs):
        raise _refused(
            ErrorCode.INVALID_RELATION_TARGET, "The relations after the marker cannot be read.", tail
        )
    return [pair.groupdict() for pair in pairs if pair]


def _take_tier(line: str) -> tuple[str, Tier]:
    markers = _MARKER.findall(line)
    if not markers:
        raise _refused(ErrorCode.MISSING_TIER_MARKER, "The text ends without a tier marker.", line)
    final = _FINAL_MARKERS.search(line)
    repeated_at_the_end = final is not None and len(_MARKER.findall(final[1])) == len(markers)
    if len(set(markers)) > 1 or (len(markers) > 1 and not repeated_at_the_end):
        raise _refused(ErrorCode.MULTIPLE_TIER_MARKERS, "The text holds more than one tier marker.", line)
    if markers[0] not in {str(int(tier)) for tier in Tier}:
        raise _refused(ErrorCode.INVALID_TIER, "The tier is 1, 2 or 3.", markers[0])
    if final is None:
        raise _refused(ErrorCode.TIER_NOT_FINAL, "Text follows the tier marker.", line)
    return line[: final.start()], Tier(int(markers[0]))


def _take_prefix(line: str) -> tuple[str, str, str]:
    match = _PREFIX.match(line)
    if not match:
        raise _refused(ErrorCode.MISSING_SUBJECT_PREFIX, "The text does not open with Domain:Subject.", line)
    end = match.end()
    while (again := _PREFIX.match(line, end)) and again.groups() == match.groups():
        end = again.end()
    domain = normalise.label(match["domain"], "domain")
    subject = normalise.label(match["subject"], "subject")
    if not (domain and subject):
        raise _refused(ErrorCode.MISSING_SUBJECT_PREFIX, "The text does not open with Domain:Subject.", line)
    return domain, subject, line[end:]


def _facts(body: str) -> tuple[str, ...]:
    if not body:
        raise _refused(ErrorCode.REQUIRED_FIELD, "The text states no fact.", body, field="facts")
    pieces = _FACT_SEPARATOR.split(body)
    if len(pieces) == 1:
        pieces = _sentences(body)
    facts = tuple(normalise.fact(piece, f"facts[{index}]") for index, piece in enumerate(pieces))
    if not all(facts):
        raise _refused(ErrorCode.EMPTY_FACT, "Nothing stands between two fact markers.", body, field="facts")
    return facts


def _sentences(body: str) -> list[str]:
    """The body whole; where it is too long for one fact, cut after sentences: it renders to the same text."""
    pieces = [""]
    for sentence in _SENTENCE_END.split(body) if len(body) > FACT_MAX else [body]:
        longer = f"{pieces[-1]} {sentence}".strip()
        if len(longer) <= FACT_MAX or not pieces[-1]:
            pieces[-1] = longer
        else:
            pieces.append(sentence)
    return pieces


def _refused(code: ErrorCode, message: str, received: str, *, field: str = _FIELD) -> MemsuiteError:
    return MemsuiteError(code, field, message, received=received)
