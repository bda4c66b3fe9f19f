"""What one operation did to the memories it touched: for each its subject, before and after."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.console.fact_diff import fact_changes
from memories.console.memory_history import PLAIN, ValueChange
from memories.console.parts import FactChange
from memories.repository import MemoryRepository, Snapshot, StoredMemory, schema
from memories.repository.engine import is_in, quoted
from memories.repository.snapshot import batches

SAMPLES = 5
"""Memories shown with their change; the others are named."""

_REVISION = ["memory_id", "operation_id", "before_operation_id", "generation", "before"]


@dataclass(frozen=True, slots=True)
class Touched:
    """One memory. ``stored`` tells whether it is there today; without a name nothing is known of it."""

    memory_id: str
    domain: str = ""
    subject: str = ""
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A memory before and after. Where it came or went, all its facts are new or gone."""

    memory: Touched
    facts: tuple[FactChange, ...]
    values: tuple[ValueChange, ...]


def touched_ids(repository: MemoryRepository, operation_id: str, named: Iterable[str] = ()) -> list[str]:
    """The memories that an operation wrote or took away, and those it was asked to: sorted."""

    def found(snapshot: Snapshot) -> set[str]:
        mine = f"operation_id = {quoted(operation_id)}"
        earlier = f"{mine} OR before_operation_id = {quoted(operation_id)}"
        written = {row["id"] for row in snapshot.rows(schema.MEMORIES, mine, ["id"])}
        return written | {row["memory_id"] for row in snapshot.rows(schema.REVISIONS, earlier, ["memory_id"])}

    return sorted(repository.read(found) | set(named))


def named_memories(repository: MemoryRepository, ids: Sequence[str]) -> list[Touched]:
    """The subjects of memories, stored or not."""

    def found(snapshot: Snapshot) -> list[Touched]:
        stored = snapshot.memories(ids)
        kept = _last_states(snapshot, [name for name in ids if name not in stored])
        return [_touched(name, stored.get(name), kept.get(name)) for name in ids]

    return repository.read(found)


def changes_of(repository: MemoryRepository, operation_id: str, ids: Sequence[str]) -> list[Change]:
    """Before and after of some memories; those that the operation left alone are left out."""

    def found(snapshot: Snapshot) -> list[Change]:
        stored = snapshot.memories(ids)
        revisions = _revisions(snapshot, ids)
        kept = _last_states(snapshot, [name for name in ids if name not in stored])
        changes = []
        for name in ids:
            before, after = _states(operation_id, stored.get(name), revisions.get(name, []))
            if before is not None or after is not None:
                memory = _touched(name, stored.get(name), kept.get(name))
                changes.append(Change(memory, _fact_changes(before, after), _value_changes(before, after)))
        return changes

    return repository.read(found)


def _states(
    operation_id: str, stored: StoredMemory | None, revisions: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """The row an operation replaced, and the row it left."""
    before = after = None
    if stored is not None and stored.operation_id == operation_id:
        after = {name: getattr(stored, name) for name in (*PLAIN, "facts", "tags")}
    for revision in revisions:
        if revision["operation_id"] == operation_id:
            before = json.loads(revision["before"])["row"]
        elif revision["before_operation_id"] == operation_id:
            after = json.loads(revision["before"])["row"]
    return before, after


def _revisions(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for batch in batches(ids):
        for row in snapshot.rows(schema.REVISIONS, is_in("memory_id", batch), _REVISION):
            found.setdefault(row["memory_id"], []).append(row)
    return found


def _last_states(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The newest row that the history keeps of memories no longer stored."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, revisions in _revisions(snapshot, ids).items():
        newest_first = sorted(revisions, key=lambda revision: revision["generation"], reverse=True)
        rows = (json.loads(revision["before"])["row"] for revision in newest_first)
        last = next((row for row in rows if row is not None), None)
        if last is not None:
            found[name] = last
    return found


def _touched(name: str, stored: StoredMemory | None, kept: Mapping[str, Any] | None) -> Touched:
    if stored is not None:
        return Touched(name, stored.domain, stored.subject, True)
    return Touched(name) if kept is None else Touched(name, kept["domain"], kept["subject"])


def _fact_changes(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[FactChange, ...]:
    return fact_changes(tuple(before["facts"]) if before else (), tuple(after["facts"]) if after else ())


def _value_changes(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[ValueChange, ...]:
    if before is None or after is None:
        return ()
    plain = (ValueChange(name, str(before[name]), str(after[name])) for name in PLAIN)
    gone = (ValueChange("tag", tag, "") for tag in before["tags"] if tag not in after["tags"])
    come = (ValueChange("tag", "", tag) for tag in after["tags"] if tag not in before["tags"])
    return (*(change for change in plain if change.before != change.after), *gone, *come)
