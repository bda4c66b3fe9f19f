"""What a person should look at in single memories: format drift, likely secrets, orders to the agent, claims
that nobody has confirmed, junk.

Each memory is looked at once; in a later state only those that were written since. Nothing is changed here.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

from memories.analysis.drift import drift_of
from memories.analysis.junk import says_nothing
from memories.analysis.unverified import unverified
from memories.repository import MemoryRepository, Snapshot, StoredMemory, schema
from memories.repository.records import LIGHT, memory_of
from memories.repository.snapshot import State
from memories.screening import find_instructions, suspect_secrets


class FindingKind(StrEnum):
    DRIFT = "drift"
    SECRET = "secret"
    INSTRUCTION = "instruction"
    UNVERIFIED = "unverified"
    JUNK = "junk"


@dataclass(frozen=True, slots=True)
class Finding:
    """``says`` tells a person why; it never repeats a secret. ``places`` are fields as errors name them."""

    kind: FindingKind
    memory_id: str
    revision: int
    says: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """The findings of one state by memory id; memories without any are left out."""

    state: State
    by_memory: Mapping[str, tuple[Finding, ...]]

    def of_kind(self, kind: FindingKind) -> list[Finding]:
        """One kind's findings, the newest memory first."""
        found = (finding for findings in self.by_memory.values() for finding in findings)
        return sorted(
            (finding for finding in found if finding.kind is kind),
            key=lambda finding: finding.memory_id,
            reverse=True,
        )


def findings(repository: MemoryRepository) -> Findings:
    """The findings of the newest state."""
    with _registry_lock:
        latest = _registry.setdefault(repository, _Latest())
    return latest.newest(repository)


def findings_of(memory: StoredMemory, allowed: Collection[str] = ()) -> tuple[Finding, ...]:
    """What is to be looked at in one memory. ``allowed`` are patterns of values that are no secrets."""
    return tuple(_found(memory, allowed))


class _Latest:
    """What was last found in one repository."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Findings | None = None

    def newest(self, repository: MemoryRepository) -> Findings:
        allowed = repository.settings.allowed_secret_patterns
        with self._lock:
            self._found = repository.read(lambda snapshot: _advanced(self._found, snapshot, allowed))
            return self._found


_registry: WeakKeyDictionary[MemoryRepository, _Latest] = WeakKeyDictionary()
_registry_lock = threading.Lock()


def _advanced(earlier: Findings | None, snapshot: Snapshot, allowed: Collection[str]) -> Findings:
    if earlier is not None and earlier.state == snapshot.state:
        return earlier
    if earlier is None or not earlier.state.reaches(snapshot.state):
        rows = snapshot.rows(schema.MEMORIES, columns=LIGHT)
        return Findings(snapshot.state, _gathered((memory_of(row) for row in rows), allowed))
    changes = snapshot.changes_since(earlier.state.generation)
    touched = {*changes.written, *changes.removed}
    kept = {name: found for name, found in earlier.by_memory.items() if name not in touched}
    written = snapshot.memories(changes.written).values()
    return Findings(snapshot.state, kept | _gathered(written, allowed))


def _gathered(memories: Iterable[StoredMemory], allowed: Collection[str]) -> dict[str, tuple[Finding, ...]]:
    return {memory.id: found for memory in memories if (found := findings_of(memory, allowed))}


# --- one memory -------------------------------------------------------------------------


def _found(memory: StoredMemory, allowed: Collection[str]) -> Iterator[Finding]:
    drift = drift_of(memory)
    if drift is not None:
        yield Finding(FindingKind.DRIFT, memory.id, memory.revision, drift.says, (drift.field,))
    secrets = _secrets(memory, allowed)
    if secrets:
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in secrets))
        places = tuple(dict.fromkeys(place for _, place in secrets))
        says = f"{', '.join(map(_named, places))} may hold a secret ({kinds})."
        yield Finding(FindingKind.SECRET, memory.id, memory.revision, _sentence(says), places)
    if _is_reviewed(memory):
        return
    orders = [
        (finding.reason, f"facts[{at}]")
        for at, fact in enumerate(memory.facts)
        for finding in find_instructions(fact)
    ]
    if orders:
        reasons = ", ".join(dict.fromkeys(reason for reason, _ in orders))
        places = tuple(dict.fromkeys(place for _, place in orders))
        says = f"{', '.join(map(_named, places))} reads like an order to the agent: {reasons}."
        yield Finding(FindingKind.INSTRUCTION, memory.id, memory.revision, _sentence(says), places)
    reason, place = unverified(memory)
    if reason:
        yield Finding(FindingKind.UNVERIFIED, memory.id, memory.revision, reason, (place,) if place else ())
    if says_nothing(memory):
        yield Finding(FindingKind.JUNK, memory.id, memory.revision, "It says too little to be of use.")


def _secrets(memory: StoredMemory, allowed: Collection[str]) -> list[tuple[str, str]]:
    """Kinds and places of what may be a secret."""
    texts = [(f"facts[{at}]", fact) for at, fact in enumerate(memory.facts)]
    texts += [("subject", memory.subject), *((f"tags[{at}]", tag) for at, tag in enumerate(memory.tags))]
    return [(found.kind, place) for place, text in texts for found in suspect_secrets(text, allowed=allowed)]


def _is_reviewed(memory: StoredMemory) -> bool:
    """Whether a person has looked at the memory as it is now and let it be."""
    return memory.reviewed_at is not None and memory.reviewed_at >= memory.updated_at


def _named(place: str) -> str:
    name, _, number = place.partition("[")
    return f"{name.rstrip('s')} {int(number.rstrip(']')) + 1}" if number else name


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
