"""Format drift: stored memories that the contract would refuse today, and what would put them right.

They come from older databases and other systems; what is written now is checked before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memories.contract import MemsuiteError, canonical_text, validate_add, validate_patch
from memories.contract.limits import FACT_MAX, FACTS_MAX, FACTS_TOTAL_MAX
from memories.repository import StoredMemory

_FACT_MARKER = re.compile(r"\s*(?:::fact::|[\r\n]+)\s*", re.IGNORECASE)
_RELATIONS = re.compile(r"\s*::relations::.*\Z", re.IGNORECASE | re.DOTALL)
_TIER = re.compile(r"\s*\[Tier=[^\[\]\s]*\]", re.IGNORECASE)
_SUSPICIOUS = re.compile(r"::|\[tier=|[\x00-\x1f\x7f-\x9f\u200b\ufeff]", re.IGNORECASE)

TEXT_DIFFERS = "text_differs"
"""The one drift that is no refusal of the contract: the stored text is not what its columns render to."""


@dataclass(frozen=True, slots=True)
class Drift:
    """What is wrong, with the contract's code and place, and the facts that would be right; none are
    proposed where that takes a person's judgement."""

    code: str
    field: str
    says: str
    proposed: tuple[str, ...] = ()


def drift_of(memory: StoredMemory) -> Drift | None:
    """The drift of a memory; None where it is as it would be written today."""
    if memory.content != canonical_text(memory.domain, memory.subject, memory.facts, memory.form().tier):
        return Drift(TEXT_DIFFERS, "content", "The stored text is not what the facts say.", memory.facts)
    if not _may_drift(memory):
        return None
    try:
        validate_add(_payload(memory))
    except MemsuiteError as error:
        return Drift(error.code.value, error.field, error.message, _proposed(memory))
    return None


def _may_drift(memory: StoredMemory) -> bool:
    """Whether the contract is worth asking: it takes ten times as long as this."""
    lengths = [len(fact) for fact in memory.facts]
    if not 1 <= len(lengths) <= FACTS_MAX or sum(lengths) > FACTS_TOTAL_MAX or max(lengths) > FACT_MAX:
        return True
    prefix = f"{memory.domain}:{memory.subject}".casefold()
    return any(
        _SUSPICIOUS.search(fact) or not fact.strip() or fact.casefold().startswith(prefix)
        for fact in memory.facts
    )


def _payload(memory: StoredMemory) -> dict[str, object]:
    return {
        "domain": memory.domain,
        "subject": memory.subject,
        "facts": list(memory.facts),
        "tier": memory.tier,
        "category": memory.category,
        "tags": list(memory.tags),
        "quality": memory.quality,
        "type": memory.type,
    }


def _proposed(memory: StoredMemory) -> tuple[str, ...]:
    """The facts parted at their markers, without what repeats the subject, the tier or the relations."""
    prefix = re.compile(rf"(?:{re.escape(f'{memory.domain}:{memory.subject}')}\s+)+", re.IGNORECASE)
    pieces = [piece for fact in memory.facts for piece in _FACT_MARKER.split(_RELATIONS.sub("", fact))]
    bare = [prefix.sub("", _TIER.sub("", piece).strip(), count=1).strip() for piece in pieces]
    facts = tuple(dict.fromkeys(_capitalised(fact) for fact in bare if fact))
    try:
        validate_patch({"facts": list(facts)}, memory.form())
    except MemsuiteError:
        return ()
    return facts if facts != memory.facts else ()


def _capitalised(fact: str) -> str:
    return fact if "=" in fact.split(maxsplit=1)[0] else fact[:1].upper() + fact[1:]
