"""What must be stored after a series of acknowledged changes, worked out without the repository."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from maintenance.bench.operation import Kind, Operation, Outcome
from memories.repository import Edge, MemoryRepository, Snapshot, StoredMemory, schema
from memories.repository.edges import edge_of

NAMED_AT_MOST = 5
"""Differences of one kind that are told; the first ones say what is wrong."""

Link = tuple[str, str, str]
"""A relation declared by id: source, type, target."""


@dataclass(frozen=True, slots=True)
class Held:
    """One memory as it must be found. ``labels`` are its relations by label: type and label."""

    domain: str
    subject: str
    facts: tuple[str, ...]
    tier: int
    category: str
    quality: float
    tags: frozenset[str]
    labels: frozenset[tuple[str, str]]
    revision: int

    @classmethod
    def asked(cls, payload: Mapping[str, Any]) -> Held:
        """What an add of this payload makes."""
        return cls(
            domain=payload["domain"],
            subject=payload["subject"],
            facts=tuple(payload["facts"]),
            tier=payload["tier"],
            category=payload["category"],
            quality=payload["quality"],
            tags=frozenset(payload["tags"]),
            labels=_labels(payload["relations"]),
            revision=1,
        )

    def patched(self, patch: Mapping[str, Any]) -> Held:
        """What an update by this patch makes of it."""
        values: dict[str, Any] = {name: value for name, value in patch.items() if name != "relations"}
        if "facts" in values:
            values["facts"] = tuple(values["facts"])
        if "tags" in values:
            values["tags"] = frozenset(values["tags"])
        if "relations" in patch:
            values["labels"] = _labels(patch["relations"])
        return replace(self, **values, revision=self.revision + 1)


@dataclass
class Oracle:
    """The expected state. ``before`` keeps what each operation replaced (None where there was
    nothing), ``last`` which operation touched a memory last, ``moved`` the memories that were ever
    taken away or given other relations: what becomes of an id link to or from those depends on the
    order, and is left open."""

    stored: dict[str, Held] = field(default_factory=dict)
    removed: dict[str, Held] = field(default_factory=dict)
    before: dict[str, dict[str, Held | None]] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    links: set[Link] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)

    def apply(self, operation: Operation, outcome: Outcome) -> list[str]:
        """Take an acknowledged operation in; returns what its outcome got wrong."""
        expected = self._expected(operation, outcome)
        wrong = []
        if set(expected) != set(filter(None, outcome.ids)):
            wrong.append(
                f"{operation.kind} {outcome.operation_id} named {_listed(outcome.ids)} as changed, "
                f"not {_listed(expected)}"
            )
        if operation.patch is not None and "relations" in operation.patch:
            self.moved |= set(expected)
        for memory_id, held in expected.items():
            self._become(memory_id, held, outcome.operation_id)
        return wrong

    def _expected(self, operation: Operation, outcome: Outcome) -> dict[str, Held | None]:
        """The memories the operation changes as they are afterwards, None for the trash."""
        stored = {name: self.stored[name] for name in operation.ids if name in self.stored}
        match operation.kind:
            case Kind.ADD:
                return self._added(operation, outcome)
            case Kind.UPDATE:
                return {name: held.patched(operation.patch or {}) for name, held in stored.items()}
            case Kind.DELETE | Kind.TRASH:
                return dict.fromkeys(stored)
            case Kind.RESTORE | Kind.RESTORE_MANY:
                gone = {name: self.removed[name] for name in operation.ids if name in self.removed}
                return {name: replace(held, revision=held.revision + 1) for name, held in gone.items()}
            case Kind.ADD_TAGS:
                return _retagged(stored, {name: held.tags | {operation.tag} for name, held in stored.items()})
            case Kind.REMOVE_TAGS:
                return _retagged(stored, {name: held.tags - {operation.tag} for name, held in stored.items()})
            case Kind.UNDO:
                return self._undone(operation.undone)

    def _added(self, operation: Operation, outcome: Outcome) -> dict[str, Held | None]:
        made: dict[str, Held | None] = {}
        for memory_id, payload in zip(outcome.ids, operation.payloads, strict=True):
            if not memory_id:
                continue
            made[memory_id] = Held.asked(payload)
            self.links |= {
                (memory_id, relation["type"], relation["target_id"])
                for relation in payload["relations"]
                if "target_id" in relation
            }
        return made

    def _undone(self, operation_id: str) -> dict[str, Held | None]:
        """Memories that nothing has touched since go back; those not stored either time stay away."""
        back: dict[str, Held | None] = {}
        for memory_id, held in self.before[operation_id].items():
            if self.last[memory_id] == operation_id:
                current = self.stored.get(memory_id) or self.removed[memory_id]
                back[memory_id] = None if held is None else replace(held, revision=current.revision + 1)
        return back

    def _become(self, memory_id: str, held: Held | None, operation_id: str) -> None:
        current = self.stored.pop(memory_id, None)
        self.before.setdefault(operation_id, {})[memory_id] = current
        self.last[memory_id] = operation_id
        if held is not None:
            self.removed.pop(memory_id, None)
            self.stored[memory_id] = held
        else:
            assert current is not None
            self.removed[memory_id] = current
            self.moved.add(memory_id)

    # -- compared with what is there ------------------------------------------------------

    def differences(self, repository: MemoryRepository) -> list[str]:
        """What is stored otherwise than it must be; empty where all is as it must be."""
        _, trash = repository.trash(limit=1_000_000)
        return repository.read(self._differences) + _unequal(
            "in the trash", set(self.removed), {revision.memory_id for revision in trash}
        )

    def _differences(self, snapshot: Snapshot) -> list[str]:
        edges = [edge_of(row) for row in snapshot.rows(schema.EDGES)]
        found = _found(snapshot.memories_where(""), edges)
        wrong = _unequal("stored", set(self.stored), set(found))
        changed = [name for name, held in found.items() if self.stored.get(name, held) != held]
        wrong += [_difference(name, self.stored[name], found[name]) for name in changed[:NAMED_AT_MOST]]
        links = {
            (edge.source_id, edge.relation_type, edge.target_id) for edge in edges if not edge.target_label
        }
        lasting = {link for link in self.links if not {link[0], link[2]} & self.moved}
        wrong += [f"the relation {link} is gone" for link in sorted(lasting - links)[:NAMED_AT_MOST]]
        wrong += [f"nobody declared {link}" for link in sorted(links - self.links)[:NAMED_AT_MOST]]
        return wrong


def _found(memories: Sequence[StoredMemory], edges: Sequence[Edge]) -> dict[str, Held]:
    labels: dict[str, set[tuple[str, str]]] = {}
    for edge in edges:
        if edge.target_label:
            labels.setdefault(edge.source_id, set()).add((edge.relation_type, edge.target_label))
    return {
        memory.id: Held(
            domain=memory.domain,
            subject=memory.subject,
            facts=memory.facts,
            tier=memory.tier,
            category=memory.category,
            quality=memory.quality,
            tags=frozenset(memory.tags),
            labels=frozenset(labels.get(memory.id, ())),
            revision=memory.revision,
        )
        for memory in memories
    }


def _labels(relations: Iterable[Mapping[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset((each["type"], each["target"]) for each in relations if "target" in each)


def _retagged(stored: Mapping[str, Held], tags: Mapping[str, frozenset[str]]) -> dict[str, Held | None]:
    """Those whose tags differ; where nothing changes there is no new revision."""
    return {
        name: replace(held, tags=tags[name], revision=held.revision + 1)
        for name, held in stored.items()
        if tags[name] != held.tags
    }


def _unequal(what: str, expected: Collection[str], found: Collection[str]) -> list[str]:
    missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    told = [f"not {what}: {_listed(missing)}"] if missing else []
    return told + ([f"{what}, though nobody put it there: {_listed(extra)}"] if extra else [])


def _difference(memory_id: str, expected: Held, found: Held) -> str:
    parts = [
        f"{name} {getattr(found, name)!r} instead of {getattr(expected, name)!r}"
        for name in Held.__slots__
        if getattr(found, name) != getattr(expected, name)
    ]
    return f"{memory_id}: {'; '.join(parts)}"


def _listed(ids: Collection[str]) -> str:
    shown = ", ".join(sorted(ids)[:NAMED_AT_MOST])
    return f"{shown} and {len(ids) - NAMED_AT_MOST} more" if len(ids) > NAMED_AT_MOST else shown or "none"
