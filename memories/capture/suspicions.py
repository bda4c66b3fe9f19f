"""Stored memories that a person should look at: listed, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from memories.capture.contradictions import NEAR, contradiction
from memories.contract import Tier
from memories.repository import MemoryRepository, Snapshot, StoredMemory
from memories.screening import find_instructions, suspect_secrets

AGENT = "agent"


class Suspicion(StrEnum):
    """What is suspicious about a memory."""

    SECRET = "secret"
    INSTRUCTION = "instruction"
    CONTRADICTION = "contradiction"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Finding:
    """`place` names the field as errors do (`facts[0]`, `subject`, `tags[1]`; "" for the whole memory);
    `reason` is a sentence for a person that repeats nothing of a secret; `other_id` the memory that is
    contradicted, else ""."""

    kind: Suspicion
    memory_id: str
    reason: str
    place: str = ""
    other_id: str = ""


def findings(repository: MemoryRepository) -> Iterator[Finding]:
    """Everything suspicious in one state of the database, kind by kind of each memory, then the
    contradictions. Reads only; the cost is a few passes of text search over every memory."""
    allowed = repository.settings.allowed_secret_patterns
    memories = repository.read(lambda snapshot: snapshot.memories_where(""))
    confirmed = {
        name for name, used in repository.usage.of([one.id for one in memories]).items() if used.confirmations
    }
    for memory in memories:
        yield from findings_in(memory, confirmed=memory.id in confirmed, allowed=allowed)
    yield from contradictions(repository)


def findings_in(
    memory: StoredMemory, *, confirmed: bool = False, allowed: Iterable[str] = ()
) -> Iterator[Finding]:
    """What is suspicious about one memory by itself; it stays so until the memory changes."""
    patterns = tuple(allowed)
    for place, text in _places(memory):
        for secret in suspect_secrets(text, allowed=patterns):
            sure = "" if secret.certain else "possibly "
            yield Finding(Suspicion.SECRET, memory.id, f"Holds {sure}a secret ({secret.kind}).", place)
        for order in find_instructions(text):
            yield Finding(
                Suspicion.INSTRUCTION, memory.id, f"Reads like an order to a model: it {order.reason}.", place
            )
    yield from _unverified(memory, confirmed)


def contradictions(repository: MemoryRepository) -> list[Finding]:
    """Memories whose words contradict a tier-1 memory near them in meaning. Two that are joined by a
    conflict of claims or by superseding are the ledger's matter and are left out."""
    return repository.read(_contradictions)


def _contradictions(snapshot: Snapshot) -> list[Finding]:
    critical = {memory.id: memory for memory in snapshot.memories_where(f"tier = {int(Tier.CRITICAL)}")}
    superseded = snapshot.superseded_by(list(critical)) if critical else {}
    vectors = snapshot.vectors_of(critical)
    found: dict[tuple[str, str], Finding] = {}
    for name, vector in zip(vectors.ids, vectors.matrix, strict=True):
        if name in superseded:
            continue
        near = snapshot.nearest(vector, limit=NEAR + 1)
        others = snapshot.memories(other for other, _ in near if other != name)
        for other in others.values():
            # Of two tier-1 memories the newer one is shown: it came against what was there.
            if other.id in critical and other.created_at <= critical[name].created_at:
                continue
            if finding := _contradiction(other, critical[name]):
                found[other.id, name] = finding
    return list(found.values())


def _contradiction(memory: StoredMemory, critical: StoredMemory) -> Finding | None:
    for number, fact in enumerate(memory.facts):
        if reason := contradiction(fact, critical):
            told = f"Contradicts the tier-1 memory {critical.domain}:{critical.subject}: {reason}."
            return Finding(Suspicion.CONTRADICTION, memory.id, told, f"facts[{number}]", critical.id)
    return None


def _unverified(memory: StoredMemory, confirmed: bool) -> Iterator[Finding]:
    """What an assistant wrote and nobody has looked at: where it is a guess, or costly if wrong."""
    if memory.source != AGENT or confirmed or memory.approved_by or memory.reviewed_at is not None:
        return
    if memory.tier == Tier.CRITICAL:
        yield Finding(
            Suspicion.UNVERIFIED, memory.id, "An assistant made this tier 1, and nobody has confirmed it."
        )
        return
    for number, fact in enumerate(memory.facts):
        if hedge := _hedges().search(fact.lower()):
            reason = f"An assistant's guess (“{hedge.group()}”) that nobody has confirmed."
            yield Finding(Suspicion.UNVERIFIED, memory.id, reason, f"facts[{number}]")
            return


def _places(memory: StoredMemory) -> Iterator[tuple[str, str]]:
    yield "domain", memory.domain
    yield "subject", memory.subject
    yield from ((f"facts[{number}]", fact) for number, fact in enumerate(memory.facts))
    yield from ((f"tags[{number}]", tag) for number, tag in enumerate(memory.tags))


@cache
def _hedges() -> re.Pattern[str]:
    text = resources.files("memories.capture").joinpath("data", "hedges.txt").read_text(encoding="utf-8")
    words = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")
