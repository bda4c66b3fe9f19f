"""What is declared around the results: what replaced them, and one hop along the edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memories.contract import RelationType
from memories.repository import Edge, Filter, Snapshot, StoredMemory
from memories.retrieval.document import DocumentCache

SEEDS = 5
"""Results whose edges are followed."""

LONGEST_CHAIN = 5
"""Replacements of replacements that are followed."""

_REPLACING = frozenset({RelationType.SUPERSEDES, RelationType.INVALIDATES})


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory shown for what is declared between it and a result. ``role``: replacement, contradiction
    or context; ``direction``: ``out`` where the result declares it, ``in`` where the neighbour does."""

    memory: StoredMemory
    role: str
    relation_type: str
    direction: str
    seed_id: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The declared surroundings of some results at one state of the tables. ``hidden`` counts neighbours
    left out because something replaces them."""

    superseded_by: dict[str, str]
    replacements: dict[str, Neighbour]
    neighbours: tuple[Neighbour, ...] = ()
    hidden: int = 0


@dataclass
class Explorer:
    """Reads edges and the memories at their ends, each once."""

    snapshot: Snapshot
    documents: DocumentCache
    where: Filter | None
    _edges: dict[str, list[Edge]] = field(default_factory=dict)
    _memories: dict[str, StoredMemory] = field(default_factory=dict)

    def around(self, ids: Sequence[str], *, depth: int, budget: int) -> Surroundings:
        """What replaced each of ``ids`` (followed whatever ``depth`` is: a replaced memory must not stand
        alone), and with depth 1 at most ``budget`` neighbours of the first of them."""
        superseded_by = self._superseded_by(ids)
        replacements = {
            newer: Neighbour(memory, "replacement", self._kind(newer, older), "in", older)
            for older, newer in superseded_by.items()
            if newer not in ids and (memory := self._memory(newer)) is not None
        }
        if not depth or not budget or not ids:
            return Surroundings(superseded_by, replacements)
        return self._with_neighbours(ids, Surroundings(superseded_by, replacements), budget)

    def _with_neighbours(self, ids: Sequence[str], near: Surroundings, budget: int) -> Surroundings:
        """``near`` and what is one hop from the seeds. A neighbour that something else replaces is left
        out, unless that is among the results."""
        present = {*ids, *near.replacements}
        found: dict[str, Neighbour] = {}
        for one in self._hops(ids[:SEEDS]):
            if one.memory.id not in present:
                found.setdefault(one.memory.id, one)
        replaced = self._superseded_by(list(found))
        current = [one for name, one in found.items() if name not in replaced or replaced[name] in present]
        left_out = sum(self._replaces(edge, seed) for seed in ids[:SEEDS] for edge in self._edges_of(seed))
        return Surroundings(
            near.superseded_by | {name: newer for name, newer in replaced.items() if newer in present},
            near.replacements,
            tuple(current[:budget]),
            left_out + len(found) - len(current),
        )

    def _hops(self, seeds: Sequence[str]) -> Iterator[Neighbour]:
        """Neighbours of the seeds in the seeds' order, contradictions of each first."""
        for seed in seeds:
            edges = [edge for edge in self._edges_of(seed) if not self._replaces(edge, seed)]
            for edge in sorted(edges, key=_precedence):
                outgoing = edge.source_id == seed
                memory = self._memory(edge.target_id if outgoing else edge.source_id)
                if memory is not None:
                    direction = "out" if outgoing else "in"
                    yield Neighbour(memory, _role(edge), edge.relation_type, direction, seed)

    @staticmethod
    def _replaces(edge: Edge, seed: str) -> bool:
        """Whether the seed itself replaces the edge's target, which is then left out."""
        return edge.source_id == seed and bool(edge.target_id) and edge.relation_type in _REPLACING

    def _superseded_by(self, ids: Sequence[str]) -> dict[str, str]:
        """Older → newest that replaces it, for ``ids`` and for what replaces them in turn."""
        newest: dict[str, str] = {}
        reached = list(ids)
        for _ in range(LONGEST_CHAIN):
            self._load(reached)
            newer = {
                older: edge.source_id
                for older in reached
                for edge in self._edges_of(older)
                if edge.target_id == older and edge.relation_type in _REPLACING
            }
            reached = [name for name in newer.values() if name not in newest]
            newest |= newer
            if not reached:
                break
        return newest

    def _kind(self, newer: str, older: str) -> str:
        return next(edge.relation_type for edge in self._edges_of(older) if edge.source_id == newer)

    def _edges_of(self, name: str) -> list[Edge]:
        return self._edges.get(name, [])

    def _load(self, ids: Sequence[str]) -> None:
        """Edges of ``ids`` and the memories at their other ends, oldest edge first."""
        missing = [name for name in ids if name not in self._edges]
        if not missing:
            return
        self._edges |= {name: [] for name in missing}
        for edge in self.snapshot.edges_of(missing):
            for name in {edge.source_id, edge.target_id} & set(missing):
                self._edges[name].append(edge)
        touched = [edge for name in missing for edge in self._edges[name]]
        ends = {edge.source_id for edge in touched} | {edge.target_id for edge in touched}
        found = self.documents.of(self.snapshot, sorted(ends - {""} - self._memories.keys()))
        self._memories |= {name: document.memory for name, document in found.items()}

    def _memory(self, name: str) -> StoredMemory | None:
        """A memory that the filter lets through; None for others and for edges that lead nowhere."""
        memory = self._memories.get(name)
        return memory if memory is not None and matches(memory, self.where) else None


def matches(memory: StoredMemory, where: Filter | None) -> bool:
    """Whether a filter lets a memory through, as the tables would decide."""
    if where is None:
        return True
    return (
        where.category in (None, memory.category)
        and where.tier in (None, memory.tier)
        and (where.tag is None or where.tag in memory.tags)
    )


def _precedence(edge: Edge) -> tuple[bool, datetime, str]:
    return (_role(edge) != "contradiction", edge.created_at, edge.edge_key)


def _role(edge: Edge) -> str:
    if edge.relation_type in _REPLACING:
        return "replacement"
    return "contradiction" if edge.relation_type == RelationType.CONTRADICTS else "context"
