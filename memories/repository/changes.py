"""One operation on any number of memories, and all that follows from it: edges, labels that
resolve, the ledger, the history. Nothing reaches a table but through here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memories.contract import Relation, clashes
from memories.repository import schema
from memories.repository.edges import (
    Edge,
    LabelChanges,
    by_memory,
    edge_of,
    label_key,
    label_keys,
    resolve_labels,
)
from memories.repository.engine import is_in, quoted
from memories.repository.ledger import (
    MEMORY_DELETED,
    Conflict,
    LedgerChanges,
    conflict_key,
    conflict_of,
    overflow,
    settle,
)
from memories.repository.records import Row, StoredMemory, content_hash, memory_of
from memories.repository.revisions import BeforeImage, revision_row
from memories.repository.snapshot import Snapshot, batches
from memories.repository.transaction import Transaction


@dataclass
class _Changed:
    """One memory in the operation: its whole row before and after, None where it is not stored."""

    before: Row | None
    after: Row | None
    new_edges: Sequence[Edge] | None = None
    """Outgoing edges it has afterwards; None keeps those it has."""
    revived_edges: Sequence[Edge] | None = None
    """Where an earlier state comes back: the incoming edges it had, as far as they went with it."""

    @property
    def is_new(self) -> bool:
        """Whether the memory has no history: nothing was replaced, nothing can refer to it yet."""
        return self.before is None and self.after is not None and self.after["revision"] == 1


@dataclass
class ChangeSet:
    """Gathers what happens to memories, then writes it into a transaction."""

    transaction: Transaction
    conflict_limit: int
    _changed: dict[str, _Changed] = field(default_factory=dict)
    _loaded: dict[str, Row] = field(default_factory=dict)
    _decided: list[Conflict] = field(default_factory=list)

    @property
    def snapshot(self) -> Snapshot:
        return self.transaction.snapshot

    # -- what can happen to a memory ---------------------------------------------------

    def create(self, row: Row, edges: Sequence[Edge]) -> None:
        """A memory whose id is new."""
        self._changed[row["id"]] = _Changed(None, self._stamped(row, 1), new_edges=edges)

    def replace(self, row: Row, edges: Sequence[Edge] | None) -> None:
        """Another form of a memory; ``edges`` are those it declares, None keeps the ones it has."""
        before = self._before(row["id"])
        number = 1 if before is None else before["revision"] + 1
        self._changed[row["id"]] = _Changed(before, self._stamped(row, number), new_edges=edges)

    def load(self, ids: Sequence[str]) -> dict[str, Row]:
        """The whole rows of many memories, read together; ids that are not stored are left out."""
        self._loaded |= self.snapshot.full_rows(ids)
        return self._loaded

    def current(self, memory_id: str) -> Row:
        """The whole row of a memory as the operation has it so far."""
        changed = self._changed.get(memory_id)
        row = changed.after if changed is not None else self._before(memory_id)
        assert row is not None
        return row

    def relations_of(self, memory_id: str) -> list[Relation]:
        """What a memory declares as the operation has it so far."""
        changed = self._changed.get(memory_id)
        edges = changed.new_edges if changed is not None else None
        if edges is None:
            edges = self.snapshot.edges_of([memory_id])
        return [edge.relation for edge in edges if edge.source_id == memory_id]

    def _before(self, memory_id: str) -> Row | None:
        if memory_id in self._changed:
            return self._changed[memory_id].before
        if memory_id not in self._loaded:
            self.load([memory_id])
        return self._loaded.get(memory_id)

    def remove(self, before: Row) -> None:
        self._changed[before["id"]] = _Changed(before, None)

    def revive(self, current: Row | None, image: BeforeImage, revision: int) -> None:
        """Bring back an earlier state, with its edges; ``revision`` is the newest one used."""
        assert image.row is not None
        row = dict(image.row) | {"updated_at": self.transaction.stamp.at}
        outgoing = [edge for edge in image.edges if edge.source_id == row["id"]]
        # A memory that is stored has the incoming edges that others give it today.
        incoming = [edge for edge in image.edges if edge.source_id != row["id"] and current is None]
        self._changed[row["id"]] = _Changed(
            current, self._stamped(row, revision + 1), new_edges=outgoing, revived_edges=incoming
        )

    def decide(self, conflict: Conflict) -> None:
        """A ledger row as a person leaves it, or as it stood before what is taken back. Both its
        memories should change in the operation, so that the history of both keeps what it replaces."""
        self._decided.append(conflict)

    def _stamped(self, row: Row, revision: int) -> Row:
        stamp = self.transaction.stamp
        row = dict(row) | {
            "revision": revision,
            "operation_id": stamp.operation_id,
            "generation": stamp.generation,
        }
        row["content_hash"] = content_hash(row)
        return row

    # -- what follows from it ----------------------------------------------------------

    def write(self) -> LedgerChanges:
        """Put everything into the transaction; returns what the ledger made of it."""
        ids = list(self._changed)
        existing = self.snapshot.edges_of([name for name in ids if self._changed[name].before is not None])
        self._write_memories()
        self._write_edges(existing)
        ledger = self._write_ledger()
        self._write_revisions(existing, ledger)
        return ledger

    def _write_memories(self) -> None:
        for memory_id, changed in self._changed.items():
            if changed.after is None:
                self.transaction.delete(schema.MEMORIES, memory_id)
            elif changed.before is None:
                self.transaction.add(schema.MEMORIES, changed.after)
            else:
                self.transaction.replace(schema.MEMORIES, changed.after)

    def _write_edges(self, existing: Sequence[Edge]) -> None:
        before = {edge.edge_key: edge for edge in existing}
        after = {edge.edge_key: edge for edge in self._edges_after(existing)}
        incoming = self._incoming_brought_back()
        before |= {edge.edge_key: edge for edge, _ in incoming if edge is not None}
        after |= {edge.edge_key: edge for _, edge in incoming}
        labels = self._resolved(after.values(), before.keys() - after.keys())
        for edge in labels.removed:
            # One that was declared just now was never stored without its target.
            if after.pop(edge.edge_key, None) is None:
                before.setdefault(edge.edge_key, edge)
        after |= {edge.edge_key: edge for edge in labels.added}
        for key in before.keys() - after.keys():
            self.transaction.delete(schema.EDGES, key)
        for key in after.keys() - before.keys():
            # Of a memory that is new nothing can be there yet, and adding costs half of replacing.
            is_new = (changed := self._changed.get(after[key].source_id)) is not None and changed.is_new
            put = self.transaction.add if is_new else self.transaction.replace
            put(schema.EDGES, after[key].as_row())

    def _edges_after(self, existing: Sequence[Edge]) -> Iterable[Edge]:
        """The edges of the changed memories once their rows are as they will be."""
        gone = {name for name, changed in self._changed.items() if changed.after is None}
        for edge in existing:
            source = self._changed.get(edge.source_id)
            if edge.source_id in gone or (source is not None and source.new_edges is not None):
                continue
            if edge.target_id in gone:
                # What was declared by label stays declared, and finds a successor by itself.
                if edge.target_label:
                    yield edge.pointed_at("")
                continue
            yield edge
        for changed in self._changed.values():
            edges = changed.new_edges or ()
            yield from edges if changed.revived_edges is None else self._outgoing_brought_back(edges)

    def _outgoing_brought_back(self, edges: Sequence[Edge]) -> Iterable[Edge]:
        """The edges of an earlier state, none to a memory that is no longer there."""
        stored = self._stored_after(edge.target_id for edge in edges if edge.target_id)
        for edge in edges:
            if not edge.target_id or edge.target_id in stored:
                yield edge
            elif edge.target_label:
                yield edge.pointed_at("")

    def _incoming_brought_back(self) -> list[tuple[Edge | None, Edge]]:
        """Edges to memories that come back, each after the unresolved one it takes the place of. A
        label that was withdrawn meanwhile, or names another memory now, is left as it is."""
        revived = [
            edge
            for changed in self._changed.values()
            for edge in changed.revived_edges or ()
            if edge.source_id not in self._changed
        ]
        if not revived:
            return []
        sources = self._stored_after(edge.source_id for edge in revived)
        unresolved = {
            (edge.source_id, edge.relation): edge
            for edge in self.snapshot.edges_of(sources)
            if edge.target_label and not edge.target_id
        }
        found: list[tuple[Edge | None, Edge]] = []
        for edge in revived:
            known = unresolved.get((edge.source_id, edge.relation))
            if edge.source_id in sources and (known is not None or not edge.target_label):
                found.append((known, edge))
        return found

    def _stored_after(self, ids: Iterable[str]) -> set[str]:
        """Which of these memories are stored once the operation is done."""
        wanted = set(ids)
        changed = {name for name in wanted & self._changed.keys() if self._changed[name].after is not None}
        return changed | self.snapshot.memories(wanted - self._changed.keys()).keys()

    def _resolved(self, edges: Iterable[Edge], replaced: Collection[str]) -> LabelChanges:
        """Labels that now match a memory, or no longer do; those of the ``replaced`` edge keys are
        taken care of."""
        candidates = {
            edge.edge_key: edge
            for edge in self._unresolved_edges(self._touched_labels())
            if edge.source_id not in self._changed and edge.edge_key not in replaced
        }
        candidates |= {edge.edge_key: edge for edge in edges if edge.target_label and not edge.target_id}
        if not candidates:
            return LabelChanges((), ())
        labels = {label_key(edge.target_label) for edge in candidates.values()}
        return resolve_labels(candidates.values(), self._subjects_named(labels))

    def _touched_labels(self) -> set[str]:
        """Labels whose matches this operation may change, folded as the engine's lower() does too."""
        labels: set[str] = set()
        for changed in self._changed.values():
            before, after = changed.before, changed.after
            if before and after and before["subject_key"] == after["subject_key"]:
                continue
            for row in (row for row in (before, after) if row):
                labels |= label_keys(row["subject_key"])
                labels |= label_keys(f"{row['domain']}:{row['subject']}".lower())
        return labels

    def _unresolved_edges(self, labels: set[str]) -> list[Edge]:
        folded = "replace(lower(target_label), ' ', '_')"
        return [
            edge_of(row)
            for batch in batches(sorted(labels))
            for row in self.snapshot.rows(schema.EDGES, f"target_id = '' AND {is_in(folded, batch)}")
        ]

    def _subjects_named(self, labels: set[str]) -> dict[str, str]:
        """Ids and subject keys, as they will be, of the memories these labels may name."""
        subjects: dict[str, str] = {}
        for batch in batches(sorted(labels)):
            named = [is_in("subject_key", [label for label in batch if ":" in label])]
            named += [f"ends_with(subject_key, {quoted(':' + label)})" for label in batch if ":" not in label]
            rows = self.snapshot.rows(schema.MEMORIES, " OR ".join(named), ["id", "subject_key"])
            subjects.update((row["id"], row["subject_key"]) for row in rows)
        for memory_id, changed in self._changed.items():
            subjects.pop(memory_id, None)
            if changed.after is not None and label_keys(changed.after["subject_key"]) & labels:
                subjects[memory_id] = changed.after["subject_key"]
        return subjects

    def _write_ledger(self) -> LedgerChanges:
        after = [memory_of(changed.after) for changed in self._changed.values() if changed.after is not None]
        gone = {name: MEMORY_DELETED for name, changed in self._changed.items() if changed.after is None}
        subjects = self._subjects_after(after)
        known = self._known_conflicts(after, subjects)
        changes = settle(after, gone, subjects, known, self.transaction.stamp.at, self._decided)
        for key in changes.from_archive:
            self.transaction.delete(schema.ARCHIVE, key)
        for conflict in changes.written:
            self.transaction.replace(schema.CONFLICTS, conflict.as_row())
        if changes.written:
            self._archive(changes)
        return changes

    def _subjects_after(self, after: Sequence[StoredMemory]) -> dict[str, list[StoredMemory]]:
        stored = self.snapshot.same_subject(memory.subject_key for memory in after)
        subjects = {
            key: [memory for memory in memories if memory.id not in self._changed]
            for key, memories in stored.items()
        }
        for memory in after:
            subjects.setdefault(memory.subject_key, []).append(memory)
        return subjects

    def _known_conflicts(
        self, after: Sequence[StoredMemory], subjects: Mapping[str, Sequence[StoredMemory]]
    ) -> list[Conflict]:
        """Ledger rows that may change: those of the changed memories, and where values clash also
        the decisions of the subject and what the archive knows of the pair."""
        had = [name for name, changed in self._changed.items() if not changed.is_new]
        clashing = [
            (conflict_key(other.id, memory.id, clash.key), memory.subject_key)
            for memory in after
            for other in subjects[memory.subject_key]
            if other.id != memory.id
            for clash in clashes(other.claims, memory.claims)
        ]
        found: dict[str, Conflict] = {}
        for batch in batches(had):
            where = f"{is_in('memory_a_id', batch)} OR {is_in('memory_b_id', batch)}"
            self._collect(found, schema.CONFLICTS, where)
        for batch in batches(subject for _, subject in clashing):
            self._collect(found, schema.CONFLICTS, is_in("subject", batch))
            self._collect(found, schema.ARCHIVE, is_in("subject", batch))
        return list(found.values())

    def _collect(self, found: dict[str, Conflict], table: str, where: str) -> None:
        for row in self.snapshot.rows(table, where):
            found.setdefault(row["conflict_key"], conflict_of(row))

    def _archive(self, changes: LedgerChanges) -> None:
        """Move the oldest resolved rows beyond the limit out of the way."""
        rewritten = {conflict.conflict_key: conflict for conflict in changes.written}
        resolved = [
            conflict
            for row in self.snapshot.rows(schema.CONFLICTS, "status = 'resolved'")
            if (conflict := conflict_of(row)).conflict_key not in rewritten
        ]
        resolved += [conflict for conflict in rewritten.values() if not conflict.is_open]
        for conflict in overflow(resolved, self.conflict_limit):
            self.transaction.changes[schema.CONFLICTS].replaced.pop(conflict.conflict_key, None)
            self.transaction.delete(schema.CONFLICTS, conflict.conflict_key)
            archived = conflict.as_row() | {"archived_at": self.transaction.stamp.at}
            self.transaction.replace(schema.ARCHIVE, archived)

    def _write_revisions(self, existing: Sequence[Edge], ledger: LedgerChanges) -> None:
        edges = by_memory(existing)
        for memory_id, changed in self._changed.items():
            if changed.is_new:
                continue
            row = revision_row(
                self.transaction.stamp,
                memory_id,
                BeforeImage(changed.before, tuple(edges.get(memory_id, ()))),
                removed=changed.after is None,
                ledger=[row for row in ledger.replaced if memory_id in (row.memory_a_id, row.memory_b_id)],
            )
            self.transaction.add(schema.REVISIONS, row)
