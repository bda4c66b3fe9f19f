"""What follows from many new memories at once: which edges they bring, which labels resolve, what the
ledger makes of their claims. Works on light columns, and on whole memories only where subjects meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memories.repository import schema
from memories.repository.edges import Edge, edge_of, label_key, label_keys, make_edge, resolve_labels
from memories.repository.engine import is_in
from memories.repository.import_plan import ImportPlan
from memories.repository.import_stage import ImportStage
from memories.repository.ledger import Conflict, conflict_key, conflict_of, settle
from memories.repository.records import LIGHT, Row, StoredMemory, memory_of
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Snapshot, batches
from memories.repository.transaction import Transaction

Subjects = Mapping[str, str]
"""Subject keys of new memories by their ids."""


def new_subjects(stage: ImportStage, plan: ImportPlan) -> Subjects:
    rows = stage.rows(schema.MEMORIES, ["subject_key"])
    pairs = zip(plan.fates, rows, strict=True)
    return {name: row["subject_key"] for name, row in pairs if name is not None}


# -- edges ------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewEdges:
    """``dangling`` are staged edges without a label whose target is nowhere."""

    added: tuple[Edge, ...]
    removed: tuple[Edge, ...]
    dangling: tuple[Edge, ...]


def new_edges(stage: ImportStage, plan: ImportPlan, snapshot: Snapshot, subjects: Subjects) -> NewEdges:
    """The edges that new memories declare, and those labels of stored ones that they now match."""
    declared: dict[str, Edge] = {}
    dangling: list[Edge] = []
    staged = [_mapped(edge_of(row), plan.ids) for row in stage.rows(schema.EDGES)]
    staged = [edge for edge in staged if edge.source_id in subjects]
    stored = _stored_ids(snapshot, {edge.target_id for edge in staged} - subjects.keys() - {""})
    for edge in staged:
        if edge.target_id and edge.target_id not in subjects and edge.target_id not in stored:
            if not edge.target_label:
                dangling.append(edge)
                continue
            edge = edge.pointed_at("")
        declared[edge.edge_key] = edge
    resolved = _resolved(declared.values(), snapshot, subjects)
    for edge in resolved.removed:
        declared.pop(edge.edge_key, None)
    declared |= {edge.edge_key: edge for edge in resolved.added}
    removed = tuple(edge for edge in resolved.removed if edge.source_id not in subjects)
    return NewEdges(tuple(declared.values()), removed, tuple(dangling))


def _mapped(edge: Edge, ids: Mapping[str, str]) -> Edge:
    source = ids.get(edge.source_id, edge.source_id)
    target = ids.get(edge.target_id, edge.target_id)
    return make_edge(source, edge.relation_type, target, edge.target_label, edge.created_at)


def _stored_ids(snapshot: Snapshot, ids: Iterable[str]) -> set[str]:
    return {
        row["id"]
        for batch in batches(ids)
        for row in snapshot.rows(schema.MEMORIES, is_in("id", batch), ["id"])
    }


def _resolved(declared: Iterable[Edge], snapshot: Snapshot, subjects: Subjects) -> NewEdges:
    names = {label for key in subjects.values() for label in label_keys(key)}
    waiting = [edge_of(row) for row in snapshot.rows(schema.EDGES, "target_id = '' AND target_label != ''")]
    candidates = [edge for edge in waiting if label_key(edge.target_label) in names]
    candidates += [edge for edge in declared if edge.target_label and not edge.target_id]
    if not candidates:
        return NewEdges((), (), ())
    labels = {label_key(edge.target_label) for edge in candidates}
    named = {name: key for name, key in subjects.items() if label_keys(key) & labels}
    for row in snapshot.rows(schema.MEMORIES, columns=["id", "subject_key"]):
        if label_keys(row["subject_key"]) & labels:
            named[row["id"]] = row["subject_key"]
    found = resolve_labels(candidates, named)
    return NewEdges(found.added, found.removed, ())


# -- the ledger -------------------------------------------------------------------------


@dataclass(frozen=True)
class NewConflicts:
    """Ledger rows as they will stand; ``from_archive`` are keys to take out of the archive."""

    current: tuple[Conflict, ...]
    archived: tuple[Conflict, ...]
    from_archive: tuple[str, ...]


def new_conflicts(
    stage: ImportStage, plan: ImportPlan, snapshot: Snapshot, subjects: Subjects, stamp: Stamp
) -> NewConflicts:
    """The source's ledger, brought up to what the memories say now. A pair and key that this ledger
    knows already stays as it is here."""
    known = _known(snapshot, set(subjects.values()))
    brought = {
        table: [
            row
            for row in _brought(stage, table, plan.ids)
            if row.conflict_key not in known and {row.memory_a_id, row.memory_b_id} & subjects.keys()
        ]
        for table in (schema.CONFLICTS, schema.ARCHIVE)
    }
    rows = [row for found in brought.values() for row in found]
    disputed = {side for row in rows if row.is_open for side in (row.memory_a_id, row.memory_b_id)}
    changed, groups = _meeting(stage, plan, snapshot, subjects, disputed)
    ledger = settle(changed, {}, groups, [*known.values(), *rows], stamp.at)
    written = {row.conflict_key: row for row in ledger.written}
    written |= _still_decided(rows, written)
    current = {row.conflict_key: row for row in brought[schema.CONFLICTS]} | written
    archived = [row for row in brought[schema.ARCHIVE] if row.conflict_key not in written]
    return NewConflicts(tuple(current.values()), tuple(archived), ledger.from_archive)


def _still_decided(brought: Sequence[Conflict], written: Mapping[str, Conflict]) -> dict[str, Conflict]:
    """A person's decisions about what the memories still say: where the source only spelled the values in
    another way (its older claims had no case and one word), they are not asked again."""
    return {
        row.conflict_key: replace(
            row, value_a=written[row.conflict_key].value_a, value_b=written[row.conflict_key].value_b
        )
        for row in brought
        if row.is_human and row.conflict_key in written and written[row.conflict_key].is_open
    }


def _known(snapshot: Snapshot, subject_keys: Collection[str]) -> dict[str, Conflict]:
    """Ledger rows of subjects that get new memories, those at hand before archived ones."""
    found: dict[str, Conflict] = {}
    for table in (schema.CONFLICTS, schema.ARCHIVE):
        for row in snapshot.rows(table):
            if row["subject"] in subject_keys:
                found.setdefault(row["conflict_key"], conflict_of(row))
    return found


def _brought(stage: ImportStage, table: str, ids: Mapping[str, str]) -> Iterable[Conflict]:
    for row in stage.rows(table):
        conflict = conflict_of(row)
        one = ids.get(conflict.memory_a_id, conflict.memory_a_id)
        other = ids.get(conflict.memory_b_id, conflict.memory_b_id)
        key = conflict_key(one, other, conflict.claim_key)
        yield replace(conflict, memory_a_id=one, memory_b_id=other, conflict_key=key)


def _meeting(
    stage: ImportStage,
    plan: ImportPlan,
    snapshot: Snapshot,
    subjects: Subjects,
    disputed: Collection[str],
) -> tuple[list[StoredMemory], dict[str, list[StoredMemory]]]:
    """New memories whose subject others have too, or about which there is an open row; and all
    memories of those subjects."""
    sizes = Counter(subjects.values())
    there = {row["subject_key"] for row in snapshot.rows(schema.MEMORIES, columns=["subject_key"])}
    shared = {key for key, size in sizes.items() if size > 1 or key in there}
    shared |= {subjects[name] for name in disputed if name in subjects}
    if not shared:
        return [], {}
    changed = list(_staged_memories(stage, plan, shared))
    groups = {key: list(found) for key, found in snapshot.same_subject(shared).items()}
    for memory in changed:
        groups.setdefault(memory.subject_key, []).append(memory)
    return changed, groups


def _staged_memories(
    stage: ImportStage, plan: ImportPlan, subject_keys: Collection[str]
) -> Iterable[StoredMemory]:
    rows = stage.rows(schema.MEMORIES, list(LIGHT))
    for name, row in zip(plan.fates, rows, strict=True):
        if name is not None and row["subject_key"] in subject_keys:
            yield memory_of(row | {"id": name})


# -- put into the transaction -----------------------------------------------------------


def write_following(transaction: Transaction, edges: NewEdges, conflicts: NewConflicts) -> list[Row]:
    """Put edges and ledger rows into the operation; returns which rows of the ledger those are."""
    for edge in edges.removed:
        transaction.delete(schema.EDGES, edge.edge_key)
    for edge in edges.added:
        transaction.replace(schema.EDGES, edge.as_row())
    for key in conflicts.from_archive:
        transaction.delete(schema.ARCHIVE, key)
    written: list[Row] = []
    for table, rows in ((schema.CONFLICTS, conflicts.current), (schema.ARCHIVE, conflicts.archived)):
        written += _replaced(transaction, table, rows)
    return written


def _replaced(transaction: Transaction, table: str, rows: Sequence[Conflict]) -> list[Row]:
    for row in rows:
        transaction.replace(table, row.as_row())
    return [{"table": table, "key": row.conflict_key} for row in rows]
