"""Edges that lead nowhere any more: found in any database, removed from one of ours as one operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.edges import Edge, edge_of, label_key
from memories.repository.records import Author
from memories.repository.relations import declare
from memories.repository.snapshot import Snapshot
from memories.repository.write_context import WriteContext


class Fault(StrEnum):
    """Why an edge is of no use."""

    SOURCE_GONE = "source_gone"
    TARGET_GONE = "target_gone"
    TO_ITSELF = "to_itself"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class EdgePlan:
    """``faulty`` pairs edges with what is wrong; ``unresolved`` counts labels that match no memory yet,
    which is no fault."""

    total: int
    unresolved: int
    faulty: tuple[tuple[Edge, Fault], ...]

    @property
    def counts(self) -> dict[str, int]:
        return {str(fault): sum(found is fault for _, found in self.faulty) for fault in Fault}


def plan_edges(edges: Iterable[Edge], ids: Collection[str]) -> EdgePlan:
    """What is wrong with edges between the memories of these ``ids``. Of two that say the same the older
    one stays."""
    total = unresolved = 0
    faulty: list[tuple[Edge, Fault]] = []
    said: set[tuple[str, str, str]] = set()
    for edge in sorted(edges, key=lambda edge: (edge.created_at, edge.edge_key)):
        total += 1
        unresolved += not edge.target_id
        key = (edge.source_id, edge.relation_type, edge.target_id or label_key(edge.target_label))
        fault = _fault(edge, ids) or (Fault.REPEATED if key in said else None)
        if fault is None:
            said.add(key)
        else:
            faulty.append((edge, fault))
    return EdgePlan(total, unresolved, tuple(faulty))


def _fault(edge: Edge, ids: Collection[str]) -> Fault | None:
    if edge.source_id not in ids:
        return Fault.SOURCE_GONE
    if edge.target_id and edge.target_id not in ids:
        return Fault.TARGET_GONE
    return Fault.TO_ITSELF if edge.target_id == edge.source_id else None


class Retention:
    """The edges of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def plan(self) -> EdgePlan:
        return self._context.store.read(_plan)

    def apply(self, author: Author) -> tuple[EdgePlan, str]:
        """Remove what the plan names; the plan and the operation, "" where there was nothing to do. The
        history of each memory keeps the edges it had, so the operation can be undone."""
        with self._context.store.transaction(
            author, "graph_retention", wait=self._context.lock_wait
        ) as transaction:
            plan = _plan(transaction.snapshot)
            changes = ChangeSet(transaction, self._context.conflict_limit)
            gone = {edge.edge_key for edge, _ in plan.faulty}
            sources = {edge.source_id for edge, fault in plan.faulty if fault is not Fault.SOURCE_GONE}
            rows = changes.load(sorted(sources))
            edges = transaction.snapshot.edges_of(sources)
            for name in sorted(sources):
                mine = [edge for edge in edges if edge.source_id == name and edge.edge_key not in gone]
                declare(changes, rows[name], mine)
            changes.write()
            for key in gone:
                transaction.delete(schema.EDGES, key)
        return plan, transaction.stamp.operation_id if plan.faulty else ""


def _plan(snapshot: Snapshot) -> EdgePlan:
    ids = {row["id"] for row in snapshot.rows(schema.MEMORIES, columns=["id"])}
    return plan_edges([edge_of(row) for row in snapshot.rows(schema.EDGES)], ids)
