"""The review's inbox: everything that waits for a person's judgement, by kind, without what was dismissed.

A dismissal lasts as long as what it is about stays as it was: each item carries a digest of that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from memories.analysis.broken_relations import broken_relations
from memories.analysis.findings import FindingKind, findings
from memories.capture.contradictions import opposed
from memories.console.curation_models import Dismissal
from memories.console.duplicate_groups import groups
from memories.console.slowly import PATIENCE, Slowly
from memories.repository import MemoryRepository
from memories.repository.engine import ROWS_UNLIMITED
from memories.repository.lessons import LessonStatus

QUOTA = 50
"""Items of one kind in a pass over all kinds; more of it are under its own tab."""

MOST_LISTED = 1_000_000


class Kind(StrEnum):
    """The kinds, the more pressing ones first."""

    SECRET = "secret"
    INSTRUCTION = "instruction"
    CONFLICT = "conflict"
    CONTRADICTION = "contradiction"
    LESSON = "lesson"
    IMPORT = "import"
    DRIFT = "drift"
    BROKEN = "broken"
    DUPLICATE = "duplicate"
    UNVERIFIED = "unverified"
    JUNK = "junk"

    @property
    def heading(self) -> str:
        return _TITLES[self][0]

    @property
    def chip(self) -> str:
        """One item of it, in a word or two."""
        return _TITLES[self][1]


_TITLES = {
    Kind.SECRET: ("Secrets", "Secret"),
    Kind.INSTRUCTION: ("Instructions", "Instruction"),
    Kind.CONFLICT: ("Conflicts", "Conflict"),
    Kind.CONTRADICTION: ("Contradictions", "Contradiction"),
    Kind.LESSON: ("Lessons", "Lesson"),
    Kind.IMPORT: ("Imports", "Import"),
    Kind.DRIFT: ("Format drift", "Format drift"),
    Kind.BROKEN: ("Broken relations", "Broken relation"),
    Kind.DUPLICATE: ("Near-duplicates", "Near-duplicate"),
    Kind.UNVERIFIED: ("Unverified claims", "Unverified"),
    Kind.JUNK: ("Junk", "Junk"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """Something to decide about. ``id`` is that of the memory, conflict, lesson, row or group it is about;
    ``state`` a digest of what would bring it back; ``name`` what to call it in a list."""

    kind: Kind
    id: str
    state: str
    name: str
    says: str = ""
    memory_ids: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True)
class Inbox:
    """The items of every kind that waits, in the order of ``Kind``."""

    of_kind: Mapping[Kind, tuple[Item, ...]]

    @property
    def total(self) -> int:
        return sum(map(len, self.of_kind.values()))

    def queue(self, kind: Kind | None = None) -> list[Item]:
        """What one goes through: all of one kind, or of every kind as many as its quota."""
        if kind is not None:
            return list(self.of_kind.get(kind, ()))
        return [item for items in self.of_kind.values() for item in items[:QUOTA]]


def inbox(store: MemoryRepository, patience: float = PATIENCE) -> Inbox:
    """What waits now. Raises ``heavy_work_busy`` where looking at all memories takes longer than that."""
    found = _found.of(store, patience)
    duplicates = _duplicates(store, patience)
    dismissed = set(Dismissal.objects.values_list("kind", "item", "state"))
    waiting = {
        kind: tuple(
            item for item in (*found.get(kind, ()), *(duplicates if kind is Kind.DUPLICATE else ()))
            if (kind.value, item.id, item.state) not in dismissed
        )
        for kind in Kind
    }  # fmt: skip
    return Inbox({kind: items for kind, items in waiting.items() if items})


def digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:32]


# --- gathering ------------------------------------------------------------------------


def _gathered(store: MemoryRepository) -> dict[Kind, tuple[Item, ...]]:
    """All kinds but near-duplicates, which also depend on what people have said of pairs."""
    return {kind: tuple(gather(store)) for kind, gather in _GATHER.items()}


_found: Slowly[dict[Kind, tuple[Item, ...]]] = Slowly(_gathered)


def _of_finding(kind: Kind, wanted: FindingKind) -> Callable[[MemoryRepository], Iterator[Item]]:
    def gather(store: MemoryRepository) -> Iterator[Item]:
        found = findings(store).of_kind(wanted)
        names = named(store, (finding.memory_id for finding in found))
        for finding in found:
            if finding.memory_id in names:
                state = digest(finding.memory_id, finding.revision)
                ids = (finding.memory_id,)
                yield Item(kind, finding.memory_id, state, names[finding.memory_id].name, finding.says, ids)

    return gather


def _conflicts(store: MemoryRepository) -> Iterator[Item]:
    found = store.conflicts(status="open", limit=ROWS_UNLIMITED)
    names = named(store, (conflict.memory_a_id for conflict in found))
    for conflict in found:
        state = digest(conflict.id, conflict.value_a, conflict.value_b, conflict.created_at)
        says = f"2 memories disagree about {conflict.claim_key}."
        ids = (conflict.memory_a_id, conflict.memory_b_id)
        known = names.get(conflict.memory_a_id)
        yield Item(Kind.CONFLICT, conflict.id, state, known.name if known else conflict.subject, says, ids)


def _contradictions(store: MemoryRepository) -> Iterator[Item]:
    found = opposed(store)
    names = named(store, (one.memory_id for one in found))
    for one in found:
        if one.memory_id in names:
            item = f"{one.memory_id}+{one.critical_id}"
            state = digest(one.memory_id, one.revision, one.critical_id, one.critical_revision)
            ids = (one.memory_id, one.critical_id)
            yield Item(Kind.CONTRADICTION, item, state, names[one.memory_id].name, one.says, ids)


def _unverified(store: MemoryRepository) -> Iterator[Item]:
    """Claims of an assistant; what it has stated again since counts as confirmed."""
    found = list(_of_finding(Kind.UNVERIFIED, FindingKind.UNVERIFIED)(store))
    used = store.usage.of([item.id for item in found])
    yield from (item for item in found if item.id not in used or not used[item.id].confirmations)


def _broken(store: MemoryRepository) -> Iterator[Item]:
    found = store.read(broken_relations)
    names = named(store, found)
    for memory_id, relations in found.items():
        if memory_id in names:
            told = ", ".join(f"{relation.type} {relation.target}" for relation in relations)
            many = f"{len(relations)} relations lead" if len(relations) > 1 else "A relation leads"
            state = digest(memory_id, names[memory_id].revision)
            says = f"{many} to no memory: {told}."
            yield Item(Kind.BROKEN, memory_id, state, names[memory_id].name, says, (memory_id,))


def _imports(store: MemoryRepository) -> Iterator[Item]:
    _, rows = store.quarantine.page(limit=MOST_LISTED)
    for row in rows:
        yield Item(Kind.IMPORT, row.id, digest(row.id), f"{row.source} {row.source_id}".strip(), row.message)


def _lessons(store: MemoryRepository) -> Iterator[Item]:
    for lesson in store.lessons.list(status=LessonStatus.WAITING, limit=MOST_LISTED).rows:
        state = digest(lesson.id, lesson.generation)
        said = "once" if lesson.count == 1 else f"{lesson.count} times"
        yield Item(Kind.LESSON, lesson.id, state, lesson.rule, f"Said {said}.")


def _duplicates(store: MemoryRepository, patience: float) -> list[Item]:
    found = groups(store, patience=patience)
    names = named(store, (name for group in found for name in group.ids))
    items = []
    for group in found:
        revisions = [names[name].revision for name in group.ids if name in names]
        if len(revisions) == len(group.ids):
            state = digest(*group.ids, *revisions)
            says = f"{len(group.ids)} memories say the same, likeness {group.value:.2f}."
            items.append(Item(Kind.DUPLICATE, group.key, state, names[group.key].name, says, group.ids))
    return items


_GATHER: Mapping[Kind, Callable[[MemoryRepository], Iterable[Item]]] = {
    Kind.SECRET: _of_finding(Kind.SECRET, FindingKind.SECRET),
    Kind.INSTRUCTION: _of_finding(Kind.INSTRUCTION, FindingKind.INSTRUCTION),
    Kind.CONFLICT: _conflicts,
    Kind.CONTRADICTION: _contradictions,
    Kind.LESSON: _lessons,
    Kind.IMPORT: _imports,
    Kind.DRIFT: _of_finding(Kind.DRIFT, FindingKind.DRIFT),
    Kind.BROKEN: _broken,
    Kind.UNVERIFIED: _unverified,
    Kind.JUNK: _of_finding(Kind.JUNK, FindingKind.JUNK),
}


@dataclass(frozen=True, slots=True)
class Named:
    """What a memory is called, and the revision it is at."""

    name: str
    revision: int


def named(store: MemoryRepository, ids: Iterable[str]) -> dict[str, Named]:
    """Names and revisions of those of some memories that are stored, from the catalogue alone."""
    wanted = pa.array(list(dict.fromkeys(ids)), pa.string())
    table = store.catalogue().table
    found = table.filter(pc.is_in(table["id"], value_set=wanted))
    rows = found.select(["id", "domain", "subject", "revision"]).to_pylist()
    return {row["id"]: Named(f"{row['domain']}:{row['subject']}", row["revision"]) for row in rows}
