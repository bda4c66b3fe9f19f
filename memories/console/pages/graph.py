"""The graph: every memory, what is alike, what people declared, and what belongs together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from memories.analysis.layout import MemoryMap
from memories.analysis.memory_graph import (
    MOST_LIKE,
    USUAL_THRESHOLD,
    Declared,
    Group,
    Hub,
    LikenessEdges,
    declared_edges,
    hub_places,
    hubs,
    likeness_edges,
)
from memories.analysis.neighbours import neighbour_graph
from memories.analysis.projection import Matrix
from memories.console.access import accepts, may
from memories.console.canvas_points import CONTENT_TYPE, packed
from memories.console.heavy import heavy_work
from memories.console.navigation import Page, Section, page_url, register
from memories.console.pages.map import maps
from memories.console.parts import Empty
from memories.console.rendering import render_page
from memories.console.repository_access import repository
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

EDGES_LISTED = 200
LEAST_THRESHOLD = 0.3
"""Below, nearly everything is alike, and what is drawn would be chance."""

register(Page(Section.BROWSE, 60, "Graph", "console:graph", "graph"))


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page is asked to show: ``memory`` narrows it to the neighbourhood of one, ``tier`` (0 for
    all) and ``relations`` (none for all) to some."""

    group: Group = Group.DOMAIN
    threshold: float = USUAL_THRESHOLD
    tier: int = 0
    relation: str = ""
    memory: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Shown:
        """Raises ``invalid_parameter``."""
        group = query.get("group", Group.DOMAIN)
        if group not in list(Group):
            raise _refused("group", group, [str(each) for each in Group])
        try:
            threshold, tier = float(query.get("threshold", USUAL_THRESHOLD)), int(query.get("tier") or 0)
        except ValueError as error:
            raise _refused("threshold", query.get("threshold"), "numbers") from error
        if not LEAST_THRESHOLD <= threshold <= 1:
            raise _refused("threshold", query.get("threshold"), f"from {LEAST_THRESHOLD} to 1")
        if tier not in (0, 1, 2, 3):
            raise _refused("tier", query.get("tier"), [1, 2, 3])
        return cls(
            Group(group), threshold, tier, query.get("relation", "")[:40], query.get("memory", "")[:200]
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """All that is drawn of one state."""

    catalogue: pa.Table
    places: MemoryMap
    likeness: LikenessEdges
    declared: tuple[Declared, ...]
    hubs: tuple[Hub, ...]


@accepts("GET")
@may("view_memory")
def graph(request: HttpRequest) -> HttpResponse:
    """The frame, what it shows in numbers, and its edges as a table."""
    wanted = Shown.of(request.GET.dict())
    store = repository()
    total = store.count()
    context: dict[str, Any] = {
        "title": "Graph",
        "wide": True,
        "total": total,
        "wanted": wanted,
        "groups": [(str(each), f"By {each}" if each is not Group.NONE else "No hubs") for each in Group],
        "most_like": MOST_LIKE,
        "empty": Empty("graph", "No memories yet", "They and their relations will stand here."),
        "data_query": request.GET.urlencode(),
        "data_url": page_url("graph_edges"),
    }
    if total:
        drawn = _drawn(store, wanted)
        context |= _counts(drawn) | {"rows": _rows(store, drawn)}
    return render_page(request, "console/graph/graph.html", context)


@accepts("GET")
@may("view_memory")
def graph_points(request: HttpRequest) -> HttpResponse:
    """Every memory as a point, see ``memories.console.canvas_points``. Those without a usable vector stand
    in a row below the others."""
    drawn = _drawn(repository(), Shown.of(request.GET.dict()))
    ids, xy = _every(drawn)
    return HttpResponse(packed(drawn.catalogue, ids, xy, {}), content_type=CONTENT_TYPE)


@accepts("GET")
@may("view_memory")
def graph_edges(request: HttpRequest) -> HttpResponse:
    """The edges and hubs of what is asked for."""
    drawn = _drawn(repository(), Shown.of(request.GET.dict()))
    return JsonResponse(_edges(drawn, *_every(drawn)), json_dumps_params={"ensure_ascii": False})


def graph_answer(store: MemoryRepository, wanted: Shown, offset: int, limit: int) -> dict[str, Any]:
    """The same for the API: a page of the memories as nodes, and the edges and hubs of all of them."""
    drawn = _drawn(store, wanted)
    ids, xy = _every(drawn)
    shown = ids[offset : offset + limit]
    found = store.read(lambda state: state.memories(shown))
    nodes = [
        {
            "id": name,
            "label": f"{found[name].domain}:{found[name].subject}",
            "category": found[name].category,
            "tier": found[name].tier,
            "x": round(x, 5),
            "y": round(y, 5),
        }
        for name, (x, y) in zip(shown, xy[offset : offset + limit].tolist(), strict=True)
        if name in found
    ]
    page = {"total": len(ids), "offset": offset, "limit": limit, "nodes": nodes}
    return page | {"likeness_found": drawn.likeness.found} | _edges(drawn, ids, xy)


def _edges(drawn: Drawn, ids: list[str], xy: Matrix) -> dict[str, Any]:
    places = {name: (float(x), float(y)) for name, (x, y) in zip(ids, xy.tolist(), strict=True)}
    spots = hub_places(drawn.hubs, places)
    return {
        "likeness": [[edge.source_id, edge.target_id, edge.cosine] for edge in drawn.likeness.edges],
        "declared": [[edge.source_id, edge.target_id, edge.relation_type] for edge in drawn.declared],
        "hubs": [
            {"name": hub.name, "x": x, "y": y, "members": hub.members}
            for hub, (x, y) in zip(drawn.hubs, spots, strict=True)
        ],
    }


def _drawn(store: MemoryRepository, wanted: Shown) -> Drawn:
    with heavy_work():
        near = neighbour_graph(store)
    places = maps.of(store)
    declared = store.read(declared_edges)
    if wanted.relation:
        declared = tuple(edge for edge in declared if edge.relation_type == wanted.relation)
    catalogue = store.catalogue().table
    if wanted.tier:
        catalogue = catalogue.filter(pc.equal(catalogue["tier"], wanted.tier))
    likeness = likeness_edges(near, wanted.threshold)
    if wanted.memory:
        around = _around(wanted.memory, likeness, declared)
        catalogue = catalogue.filter(
            pc.is_in(catalogue["id"], value_set=pa.array(sorted(around), pa.string()))
        )
    here = set(catalogue["id"].to_pylist())
    return Drawn(
        catalogue,
        places,
        LikenessEdges(
            tuple(edge for edge in likeness.edges if {edge.source_id, edge.target_id} <= here), likeness.found
        ),
        tuple(edge for edge in declared if {edge.source_id, edge.target_id} <= here),
        hubs(catalogue, wanted.group),
    )


def _around(memory_id: str, likeness: LikenessEdges, declared: tuple[Declared, ...]) -> set[str]:
    """A memory and what one edge leads to."""
    pairs = [(edge.source_id, edge.target_id) for edge in likeness.edges]
    pairs += [(edge.source_id, edge.target_id) for edge in declared]
    return {memory_id} | {other for pair in pairs if memory_id in pair for other in pair}


def _every(drawn: Drawn) -> tuple[list[str], Matrix]:
    """The ids of all shown memories, ascending, and their places."""
    ids = sorted(drawn.catalogue["id"].to_pylist())
    row_of = {name: row for row, name in enumerate(drawn.places.ids)}
    xy = np.zeros((len(ids), 2), dtype=np.float32)
    without = [at for at, name in enumerate(ids) if name not in row_of]
    placed = [at for at, name in enumerate(ids) if name in row_of]
    if placed:
        xy[placed] = drawn.places.xy[[row_of[ids[at]] for at in placed]]
    if without:
        xy[without] = np.stack(
            (np.linspace(-1, 1, len(without)), np.full(len(without), -1.15)), axis=1, dtype=np.float32
        )
    return ids, xy


def _counts(drawn: Drawn) -> dict[str, Any]:
    return {
        "shown": drawn.catalogue.num_rows,
        "like_drawn": len(drawn.likeness.edges),
        "like_found": drawn.likeness.found,
        "declared_count": len(drawn.declared),
        "hub_count": len(drawn.hubs),
        "relations": sorted({edge.relation_type for edge in drawn.declared}),
    }


def _rows(store: MemoryRepository, drawn: Drawn) -> list[dict[str, Any]]:
    """The edges for the table: declared ones first, as many as can be read."""
    declared = [(edge.source_id, edge.relation_type, edge.target_id) for edge in drawn.declared]
    like = [(edge.source_id, f"alike {edge.cosine:.2f}", edge.target_id) for edge in drawn.likeness.edges]
    first = [*declared, *like][:EDGES_LISTED]
    wanted = {end for source, _, target in first for end in (source, target)}
    found = store.read(lambda state: state.memories(wanted))
    return [
        {"source": found[source], "says": says, "target": found[target]}
        for source, says, target in first
        if source in found and target in found
    ]


def _refused(name: str, received: object, expected: object) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        name,
        f"The graph cannot be shown with this {name}.",
        received=received,
        expected=expected,
    )


urlpatterns = [
    path("graph/", graph, name="graph"),
    path("graph/points/", graph_points, name="graph_points"),
    path("graph/edges/", graph_edges, name="graph_edges"),
]
