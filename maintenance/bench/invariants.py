"""What must hold between the tables of any one state, whatever has been done: a state in which it
does not is half a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memories.contract import clashes
from memories.repository import Snapshot, StoredMemory, schema
from memories.repository.ledger import conflict_key
from memories.repository.records import content_hash, memory_of
from memories.repository.revisions import LIGHT as REVISION_COLUMNS

_BEFORE_IMAGE = frozenset({"before", "note", "at"})
_REVISION_COLUMNS = tuple(name for name in REVISION_COLUMNS if name not in _BEFORE_IMAGE)


def violations(snapshot: Snapshot) -> list[str]:
    """Everything wrong with one state; empty where it is whole."""
    if not snapshot.head.tables:
        return []
    rows = _full_rows(snapshot)
    memories = [memory_of(row) for row in rows]
    wrong = [
        f"{row['id']}: the content hash is wrong" for row in rows if content_hash(row) != row["content_hash"]
    ]
    wrong += _repeated(snapshot)
    wrong += _edges(snapshot, {memory.id for memory in memories})
    wrong += _ledger(snapshot, memories)
    wrong += _history(snapshot, memories)
    return wrong


def _full_rows(snapshot: Snapshot) -> list[dict[str, object]]:
    ids = [row["id"] for row in snapshot.rows(schema.MEMORIES, columns=["id"])]
    return list(snapshot.full_rows(ids).values())


def _repeated(snapshot: Snapshot) -> Iterator[str]:
    for table, key in schema.KEYS.items():
        counted = Counter(row[key] for row in snapshot.rows(table, columns=[key]))
        yield from (f"{table}: {times} rows of {name}" for name, times in counted.items() if times > 1)


def _edges(snapshot: Snapshot, stored: set[str]) -> Iterator[str]:
    """Edges that point nowhere, and relations by label that have become two."""
    rows = snapshot.rows(schema.EDGES)
    labelled = [row for row in rows if row["target_label"]]
    declared = Counter((row["source_id"], row["relation_type"], row["target_label"]) for row in labelled)
    yield from (f"{times} edges for the one relation {one}" for one, times in declared.items() if times > 1)
    for row in rows:
        missing = {row["source_id"], row["target_id"] or row["source_id"]} - stored
        if missing:
            kind, label = row["relation_type"], row["target_label"]
            yield (
                f"{row['source_id']} {kind} {row['target_id']} ({label!r}): "
                f"{', '.join(sorted(missing))} is not stored"
            )


def _ledger(snapshot: Snapshot, memories: Sequence[StoredMemory]) -> Iterator[str]:
    """Nobody decides anything here, so the open rows are exactly the clashes there are."""
    expected = set(_clashing(memories))
    found = {row["conflict_key"] for row in snapshot.rows(schema.CONFLICTS, "status = 'open'")}
    yield from (f"the ledger lacks the clash {key[:12]}" for key in expected - found)
    yield from (f"the ledger keeps {key[:12]} open, though nothing clashes" for key in found - expected)


def _clashing(memories: Sequence[StoredMemory]) -> Iterator[str]:
    subjects: dict[str, list[StoredMemory]] = {}
    for memory in memories:
        for other in subjects.setdefault(memory.subject_key, []):
            for clash in clashes(other.claims, memory.claims):
                yield conflict_key(other.id, memory.id, clash.key)
        subjects[memory.subject_key].append(memory)


def _history(snapshot: Snapshot, memories: Sequence[StoredMemory]) -> Iterator[str]:
    """The newest entry of a memory's history is of the operation that wrote its row, or took it away."""
    newest: dict[str, dict[str, object]] = {}
    for row in snapshot.rows(schema.REVISIONS, columns=_REVISION_COLUMNS):
        known = newest.get(row["memory_id"])
        if known is None or row["generation"] > known["generation"]:
            newest[row["memory_id"]] = row
    stored = {memory.id: memory for memory in memories}
    for memory in memories:
        entry = newest.get(memory.id)
        if memory.generation > snapshot.generation:
            yield f"{memory.id} is of generation {memory.generation}, HEAD of {snapshot.generation}"
        if memory.revision > 1 and (entry is None or entry["operation_id"] != memory.operation_id):
            yield f"{memory.id}: the history lacks operation {memory.operation_id}"
    for memory_id, entry in newest.items():
        if bool(entry["removed"]) == (memory_id in stored):
            yield f"{memory_id}: the history says {'trash' if entry['removed'] else 'stored'}, wrongly"
