"""Declared relations as a graph: around one memory, or in summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.edges import Edge
from memories.repository.records import StoredMemory
from memories.repository.snapshot import Snapshot

FIRST_LINE_CHARACTERS = 160
MOST_CONNECTED = 20


@dataclass(frozen=True, slots=True)
class GraphView:
    """The memories within ``depth`` declared steps of one, nearest first, at most ``limit``."""

    memory_id: str
    depth: int
    nodes: tuple[StoredMemory, ...]
    edges: tuple[Edge, ...]
    truncated: bool

    def as_answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "success": True,
            "memory_id": self.memory_id,
            "depth": self.depth,
            "nodes": [node_answer(memory) for memory in self.nodes],
            "edges": [edge_answer(edge) for edge in self.edges],
            "contract_version": CONTRACT_VERSION,
        }
        if self.truncated:
            answer["truncated"] = True
            answer["message"] = (
                "More memories are connected; ask with a higher limit, or around one of these."
            )
        return answer


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """Counts of all declared relations, and the memories with most of them."""

    memories: int
    by_type: dict[str, int]
    unresolved: int
    most_connected: tuple[tuple[StoredMemory, int], ...]

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "memories": self.memories,
            "relations": sum(self.by_type.values()),
            "by_type": self.by_type,
            "unresolved": self.unresolved,
            "most_connected": [
                node_answer(memory) | {"relations": degree} for memory, degree in self.most_connected
            ],
            "contract_version": CONTRACT_VERSION,
        }


def graph_around(snapshot: Snapshot, memory_id: str, depth: int, limit: int) -> GraphView:
    """Raises ``memory_not_found``."""
    seen: dict[str, None] = {memory_id: None}
    edges: dict[str, Edge] = {}
    border: Sequence[str] = [memory_id]
    for _ in range(depth):
        found = snapshot.edges_of(border)
        edges |= {edge.edge_key: edge for edge in found}
        ends = (end for edge in found for end in (edge.source_id, edge.target_id) if end)
        border = [end for end in dict.fromkeys(ends) if end not in seen]
        seen |= dict.fromkeys(border)
    memories = snapshot.memories(list(seen)[:limit])
    if memory_id not in memories:
        raise MemsuiteError(
            ErrorCode.MEMORY_NOT_FOUND, "memory_id", "No memory has this id.", received=memory_id
        )
    shown = [
        edge
        for edge in edges.values()
        if edge.source_id in memories and (edge.target_id in memories or not edge.target_id)
    ]
    nodes = tuple(memories[name] for name in seen if name in memories)
    return GraphView(memory_id, depth, nodes, tuple(shown), truncated=len(seen) > limit)


def graph_summary(snapshot: Snapshot) -> GraphSummary:
    rows = snapshot.rows(schema.EDGES, columns=["source_id", "relation_type", "target_id"])
    degrees = Counter(row["source_id"] for row in rows)
    degrees.update(row["target_id"] for row in rows if row["target_id"])
    ranked = sorted(degrees.items(), key=lambda item: (-item[1], item[0]))[:MOST_CONNECTED]
    memories = snapshot.memories(name for name, _ in ranked)
    return GraphSummary(
        memories=snapshot.count,
        by_type=dict(sorted(Counter(row["relation_type"] for row in rows).items())),
        unresolved=sum(not row["target_id"] for row in rows),
        most_connected=tuple((memories[name], degree) for name, degree in ranked if name in memories),
    )


def node_answer(memory: StoredMemory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": first_line(memory.content),
        "tier": memory.tier,
        "category": memory.category,
    }


def edge_answer(edge: Edge) -> dict[str, Any]:
    answer = {"source_id": edge.source_id, "type": edge.relation_type, "target_id": edge.target_id}
    return answer | ({"target": edge.target_label} if edge.target_label else {})


def first_line(content: str) -> str:
    """What a memory says, short enough for a line."""
    if len(content) <= FIRST_LINE_CHARACTERS:
        return content
    return content[: FIRST_LINE_CHARACTERS - 1].rstrip() + "…"
