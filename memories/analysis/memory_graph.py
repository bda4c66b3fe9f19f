"""The graph of all memories: what is alike, what people declared, and what belongs together.

Three kinds of edges, none charged to another: likeness (mutual among the nearest eight, the best 1,200),
declared relations (all that lead to a memory), and spokes from a hub to the memories it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memories.analysis.neighbours import NeighbourGraph
from memories.repository import Snapshot, schema

MUTUAL_NEAREST = 8
MOST_LIKE = 1_200
"""Edges of likeness drawn; more are a felt, and the strongest say what there is to see."""

USUAL_THRESHOLD = 0.8
MOST_ENTITY_HUBS = 8
LEAST_OF_ENTITY, LEAST_OF_HUB = 3, 2


class Group(StrEnum):
    """What hubs stand for."""

    NONE = "none"
    DOMAIN = "domain"
    CATEGORY = "category"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Likeness:
    source_id: str
    target_id: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Declared:
    source_id: str
    target_id: str
    relation_type: str


@dataclass(frozen=True, slots=True)
class Hub:
    """``members`` are the ids of the memories it stands for, ascending."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LikenessEdges:
    """The strongest ``edges``, best first, of ``found`` above the threshold."""

    edges: tuple[Likeness, ...]
    found: int


def likeness_edges(
    graph: NeighbourGraph, threshold: float = USUAL_THRESHOLD, most: int = MOST_LIKE
) -> LikenessEdges:
    """Pairs of which each is among the other's nearest eight, with at least the cosine; ties by id."""
    near = graph.lists.near[:, :MUTUAL_NEAREST].astype(np.int64)
    cosines = graph.lists.cosines[:, :MUTUAL_NEAREST]
    rows, places = np.nonzero((near >= 0) & (cosines >= threshold))
    others = near[rows, places]
    size = max(1, len(graph))
    there, back = rows * size + others, others * size + rows
    kept = np.isin(there, back) & (rows < others)
    first, second, likeness = rows[kept], others[kept], cosines[rows[kept], places[kept]]
    best = np.lexsort((second, first, -likeness))[:most]
    edges = (
        Likeness(graph.ids[first[at]], graph.ids[second[at]], round(float(likeness[at]), 4)) for at in best
    )
    return LikenessEdges(tuple(edges), int(kept.sum()))


def declared_edges(snapshot: Snapshot) -> tuple[Declared, ...]:
    """All relations that lead to a memory, in the order of their keys."""
    columns = ["edge_key", "source_id", "target_id", "relation_type"]
    rows = snapshot.rows(schema.EDGES, "target_id != ''", columns)
    return tuple(
        Declared(row["source_id"], row["target_id"], row["relation_type"])
        for row in sorted(rows, key=lambda row: str(row["edge_key"]))
    )


def hubs(catalogue: pa.Table, group: Group) -> tuple[Hub, ...]:
    """What the memories are grouped by, largest first, ties by name. Entities that most memories share say
    nothing, so those of more than half are left out."""
    if group is Group.NONE:
        return ()
    if group is Group.ENTITY:
        lists = catalogue["entities"].combine_chunks()
        pairs = pa.table(
            {"name": pc.list_flatten(lists), "id": catalogue["id"].take(pc.list_parent_indices(lists))}
        )
        found = _grouped(pairs, LEAST_OF_ENTITY)
        telling = [hub for hub in found if len(hub.members) * 2 <= catalogue.num_rows]
        return tuple(telling[:MOST_ENTITY_HUBS])
    pairs = pa.table({"name": catalogue[str(group)], "id": catalogue["id"]})
    return tuple(_grouped(pairs, LEAST_OF_HUB))


def hub_places(
    found: Sequence[Hub], place_of: Mapping[str, tuple[float, float]]
) -> list[tuple[float, float]]:
    """Where each hub stands: amid its members."""
    places = []
    for hub in found:
        xy = [place_of[name] for name in hub.members if name in place_of]
        places.append(
            (sum(x for x, _ in xy) / len(xy), sum(y for _, y in xy) / len(xy)) if xy else (0.0, 0.0)
        )
    return places


def _grouped(pairs: pa.Table, least: int) -> list[Hub]:
    rows = pairs.group_by("name").aggregate([("id", "list")]).to_pylist()
    found = [Hub(str(row["name"]), tuple(sorted(row["id_list"]))) for row in rows if row["name"]]
    return sorted(
        (hub for hub in found if len(hub.members) >= least), key=lambda hub: (-len(hub.members), hub.name)
    )
