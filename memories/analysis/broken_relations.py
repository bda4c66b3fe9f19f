"""Relations that lead nowhere: to a memory that is gone, or under a label that no memory bears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from memories.repository import Snapshot, schema


@dataclass(frozen=True, slots=True)
class Broken:
    """One relation. ``target`` is its label, or the id of what is gone; ``is_gone`` tells which."""

    type: str
    target: str
    is_gone: bool


def broken_relations(snapshot: Snapshot) -> Mapping[str, tuple[Broken, ...]]:
    """The broken relations by the id of the memory that declares them, newest memory first."""
    edges = snapshot.arrow(schema.EDGES, columns=["source_id", "relation_type", "target_id", "target_label"])
    stored = snapshot.arrow(schema.MEMORIES, columns=["id"])
    if edges is None or stored is None or not edges.num_rows:
        return {}
    there = pc.is_in(edges["target_id"], value_set=stored["id"].combine_chunks())
    found: dict[str, list[Broken]] = {}
    for row in edges.filter(pc.invert(there)).to_pylist():
        is_gone = bool(row["target_id"])
        target = row["target_id"] if is_gone else row["target_label"]
        found.setdefault(row["source_id"], []).append(Broken(row["relation_type"], target, is_gone))
    return {name: tuple(found[name]) for name in sorted(found, reverse=True)}
