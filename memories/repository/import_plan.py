"""What becomes of each staged row: decided from light columns, before the lock and again under it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from memories.repository import schema
from memories.repository.engine import is_in
from memories.repository.import_stage import ImportStage
from memories.repository.snapshot import Snapshot, State, batches

SCAN_FROM = 2_000
"""Staged memories from which reading the ids of all stored ones is quicker than asking for each."""


@dataclass(frozen=True)
class ImportPlan:
    """``fates`` has, for each staged memory in order, the id under which it is added, None where it is
    there already. ``ids`` leads from ids of the source to ids of this database, for all that refer to
    them. ``whole`` means that the tables are taken as they are."""

    state: State
    whole: bool
    fates: tuple[str | None, ...]
    ids: Mapping[str, str]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def new(self) -> frozenset[str]:
        """The ids of the memories that are added."""
        return frozenset(name for name in self.fates if name is not None)

    @property
    def renamed(self) -> dict[str, str]:
        """Memories that are added under another id than their own."""
        new = self.new
        return {old: final for old, final in self.ids.items() if old != final and final in new}

    def same_as(self, other: ImportPlan) -> bool:
        return (self.whole, self.fates, self.ids) == (other.whole, other.fates, other.ids)


def plan_import(stage: ImportStage, snapshot: Snapshot, *, whole: bool) -> ImportPlan:
    """Decide for every staged memory. ``whole`` is granted only where nothing is stored."""
    if whole and is_empty(snapshot):
        names = [row["id"] for row in stage.rows(schema.MEMORIES, ["id"])]
        counts = {"added": len(names)}
        return ImportPlan(snapshot.state, True, tuple(names), {name: name for name in names}, counts)
    staged = [
        (row["id"], row["fallback_id"], row["fingerprint"])
        for row in stage.rows(schema.MEMORIES, ["id", "fallback_id", "fingerprint"])
    ]
    return _decide(staged, snapshot)


def is_empty(snapshot: Snapshot) -> bool:
    """Whether no table holds a row, but for the list of imports."""
    tables = set(schema.ALL_TABLES) - {schema.IMPORTS}
    return not any(snapshot.row_count(name) for name in tables)


def _decide(staged: list[tuple[str, str, str]], snapshot: Snapshot) -> ImportPlan:
    by_id = _stored(snapshot, staged)
    by_fingerprint = {fingerprint: name for name, fingerprint in sorted(by_id.items(), reverse=True)}
    earlier = _earlier(snapshot, {name for name, _, now in staged if by_id.get(name, now) != now})
    fates: list[str | None] = []
    ids: dict[str, str] = {}
    taken: set[str] = set(by_id)
    counts: Counter[str] = Counter()
    for name, fallback, fingerprint in staged:
        final: str | None = None
        if name in by_id and (by_id[name] == fingerprint or fingerprint in earlier.get(name, ())):
            counts["already"] += 1
            ids.setdefault(name, name)
        elif fallback in by_id:
            counts["already"] += 1
            ids.setdefault(name, fallback)
        elif name not in by_id and fingerprint in by_fingerprint:
            counts["duplicates"] += 1
            ids.setdefault(name, by_fingerprint[fingerprint])
        else:
            final = next((free for free in (name, fallback) if free not in taken), None)
            counts["added" if final == name else "repeated" if final is None else "renamed"] += 1
            if final is not None:
                taken.add(final)
                ids.setdefault(name, final)
        fates.append(final)
    return ImportPlan(snapshot.state, False, tuple(fates), ids, counts)


def fingerprints_of(snapshot: Snapshot, ids: Collection[str]) -> dict[str, str]:
    """The fingerprints of those of some ids that are stored."""
    return {
        row["id"]: row["fingerprint"]
        for batch in batches(ids)
        for row in snapshot.rows(schema.MEMORIES, is_in("id", batch), ["id", "fingerprint"])
    }


def _stored(snapshot: Snapshot, staged: list[tuple[str, str, str]]) -> dict[str, str]:
    """Fingerprints of stored memories by id: of all of them, or of those the staged ones may meet."""
    columns = ["id", "fingerprint"]
    if len(staged) >= SCAN_FROM:
        rows = snapshot.rows(schema.MEMORIES, columns=columns)
        return {row["id"]: row["fingerprint"] for row in rows}
    found = fingerprints_of(snapshot, [name for entry in staged for name in entry[:2]])
    for batch in batches(entry[2] for entry in staged):
        rows = snapshot.rows(schema.MEMORIES, is_in("fingerprint", batch), columns)
        found |= {row["id"]: row["fingerprint"] for row in rows}
    return found


def _earlier(snapshot: Snapshot, ids: Collection[str]) -> dict[str, set[str]]:
    """The fingerprints that memories had before, as they were imported or later: one that has been
    changed here since is not brought in a second time."""
    found: dict[str, set[str]] = {}
    for batch in batches(ids):
        for row in snapshot.rows(schema.REVISIONS, is_in("memory_id", batch), ["memory_id", "before"]):
            kept = json.loads(row["before"])
            states = (kept["row"], kept.get("original"))
            found.setdefault(row["memory_id"], set()).update(
                state["fingerprint"] for state in states if state and "fingerprint" in state
            )
    return found
