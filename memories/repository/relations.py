"""Relations of stored memories, changed by more than an update of the memory that declares them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memories.contract import ErrorCode, MemsuiteError, RelationType, fingerprint
from memories.contract.limits import RELATIONS_MAX
from memories.repository.changes import ChangeSet
from memories.repository.edges import Edge, make_edge
from memories.repository.records import Row


def declare(changes: ChangeSet, row: Row, edges: Sequence[Edge]) -> None:
    """Put a memory into the operation with other outgoing edges, and the fingerprint they give it."""
    relations = [edge.relation for edge in edges]
    declared = {
        "fingerprint": fingerprint(row["category"], row["content"], relations),
        "updated_at": changes.transaction.stamp.at,
    }
    changes.replace(row | declared, edges)


def pointed_at_keeper(edges: Iterable[Edge], leaving: Collection[str], keeper_id: str) -> list[Edge]:
    """The outgoing edges of one memory with those to ``leaving`` memories led to the keeper. What was
    declared by label keeps its label. An edge that another one makes superfluous is left out."""
    # Those that stay as they are come first, so that of two alike the older declaration wins.
    kept: dict[tuple[str, str, str], Edge] = {}
    for edge in sorted(edges, key=lambda edge: edge.target_id in leaving):
        moved = edge.pointed_at(keeper_id) if edge.target_id in leaving else edge
        kept.setdefault(_sameness(moved), moved)
    return list(kept.values())


def _sameness(edge: Edge) -> tuple[str, str, str]:
    """Edges of one memory that say the same: by where they lead, or by label while they lead nowhere."""
    return edge.relation_type, edge.target_id, "" if edge.target_id else edge.target_label


@dataclass
class Superseding:
    """One memory that comes to supersede others, which must be stored, as one change of it."""

    changes: ChangeSet
    row: Row
    edges: list[Edge]

    @classmethod
    def by(cls, changes: ChangeSet, row: Row) -> Superseding:
        """The memory of ``row`` with the edges it has."""
        return cls(changes, row, changes.snapshot.edges_of([row["id"]]))

    def already(self, memory_id: str) -> bool:
        return self._says(self.row["id"], memory_id)

    def add(self, memory_id: str) -> None:
        """Raises ``invalid_relation_target`` for the memory itself and for one that supersedes it, and
        ``too_many_relations``."""
        if memory_id == self.row["id"] or self._says(memory_id, self.row["id"]):
            raise MemsuiteError(
                ErrorCode.INVALID_RELATION_TARGET,
                "by",
                "A memory supersedes another one, and not one that supersedes it.",
                received=memory_id,
            )
        if len(self._outgoing) >= RELATIONS_MAX:
            raise MemsuiteError(
                ErrorCode.TOO_MANY_RELATIONS,
                "by",
                "The superseding memory would have too many relations.",
                received=len(self._outgoing) + 1,
                expected=RELATIONS_MAX,
            )
        moment = self.changes.transaction.stamp.at
        self.edges.append(make_edge(self.row["id"], str(RelationType.SUPERSEDES), memory_id, "", moment))

    def write(self) -> None:
        declare(self.changes, self.row, self._outgoing)

    @property
    def _outgoing(self) -> list[Edge]:
        return [edge for edge in self.edges if edge.source_id == self.row["id"]]

    def _says(self, source_id: str, target_id: str) -> bool:
        return any(
            (edge.source_id, edge.relation_type, edge.target_id)
            == (source_id, str(RelationType.SUPERSEDES), target_id)
            for edge in self.edges
        )


def united_edges(edges: Iterable[Edge], group: Collection[str], keeper_id: str) -> list[Edge]:
    """What some memories declare together, as edges of the keeper: each once, none within the group."""
    kept: dict[tuple[str, str, str], Edge] = {}
    for edge in sorted(edges, key=lambda edge: edge.source_id != keeper_id):
        if edge.source_id in group and edge.target_id not in group:
            taken = make_edge(
                keeper_id, edge.relation_type, edge.target_id, edge.target_label, edge.created_at
            )
            kept.setdefault(_sameness(taken), taken)
    return list(kept.values())
