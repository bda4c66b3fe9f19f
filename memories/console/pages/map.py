"""The map: every memory at a place, near what is like it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from memories.analysis.layout import MemoryMap, memory_map
from memories.analysis.neighbours import neighbour_graph
from memories.console import jobs
from memories.console.access import accepts, may
from memories.console.canvas_points import CONTENT_TYPE, packed
from memories.console.filters import MemoryFilter
from memories.console.heavy import heavy_work
from memories.console.job_models import UNFINISHED, Job
from memories.console.map_jobs import LAYOUT
from memories.console.navigation import Page, Section, page_url, register
from memories.console.parts import Empty
from memories.console.per_state import PerState
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.contract import Category, ErrorCode, MemsuiteError
from memories.repository import MemoryRepository
from memories.repository.usage import Usage

NEAREST_SHOWN = 5
ISOLATED_BELOW = 0.35
"""Cosine to its nearest below which a memory stands alone: what is nearer is not about the same thing."""

FOUND_MOST = 5_000

register(Page(Section.BROWSE, 40, "Map", "console:map", "map", key="a"))


def _heavily(store: MemoryRepository) -> MemoryMap:
    with heavy_work():
        return memory_map(store)


maps = PerState(_heavily)


@accepts("GET")
@may("view_memory")
def map_page(request: HttpRequest) -> HttpResponse:
    """The frame of the map, its legend, and the same as a table. The points come by themselves."""
    table = repository().catalogue().table
    context = {
        "title": "Map",
        "wide": True,
        "total": table.num_rows,
        "categories": _by_category(table),
        "job": _running(),
        "empty": Empty("map", "No memories yet", "Each will stand here near what is like it."),
    }
    return render_page(request, "console/map/map.html", context)


@accepts("GET")
@may("view_memory")
def map_points(request: HttpRequest) -> HttpResponse:
    """The points as bytes, see ``memories.console.canvas_points``."""
    store = repository()
    found = maps.of(store)
    told = {
        "method": found.method,
        "total": found.total,
        "sample": found.is_sample,
        "by_neighbours": found.by_neighbours,
    }
    catalogue = store.catalogue().table
    here = pc.is_in(pa.array(found.ids, pa.string()), value_set=catalogue["id"].combine_chunks())
    # A memory may have gone between the two readings.
    kept = np.flatnonzero(here.to_numpy(zero_copy_only=False)) if found.ids else np.zeros(0, dtype=np.int64)
    ids = [found.ids[at] for at in kept]
    return HttpResponse(packed(catalogue, ids, found.xy[kept], told), content_type=CONTENT_TYPE)


@accepts("GET")
@may("view_memory")
def map_found(request: HttpRequest) -> HttpResponse:
    """The ids that a filter of the Memories page lets through, one a line, to be marked on the map."""
    ids = MemoryFilter.of(request.GET).ids(repository())[:FOUND_MOST]
    return HttpResponse("\n".join(ids), content_type="text/plain; charset=utf-8")


@accepts("GET")
@may("view_memory")
def map_panel(request: HttpRequest, memory_id: str) -> HttpResponse:
    """The panel beside the map: one memory, and what is nearest to it."""
    store = repository()
    near = neighbour_graph(store).of(memory_id)[:NEAREST_SHOWN]
    found = store.read(lambda state: state.memories([memory_id, *(name for name, _ in near)]))
    if memory_id not in found:
        raise MemsuiteError(ErrorCode.MEMORY_NOT_FOUND, "memory_id", "This memory is gone.")
    context = {
        "title": "Memory",
        "memory": found[memory_id],
        "usage": store.usage.of([memory_id]).get(memory_id, Usage()),
        "near": [(found[name], cosine) for name, cosine in near if name in found],
        "graph_url": page_url("graph", memory=memory_id),
    }
    return render_page(request, "console/map/panel_page.html", context, fragment="console/map/_panel.html")


@accepts("GET")
@may("view_memory")
def map_health(request: HttpRequest) -> HttpResponse:
    """How well the memories are covered by vectors, and which stand alone."""
    store = repository()
    with heavy_work():
        graph = neighbour_graph(store)
    alone = [
        name
        for name, best in zip(graph.ids, graph.lists.cosines[:, 0].tolist(), strict=True)
        if best < ISOLATED_BELOW
    ]
    total = store.count()
    context = {
        "title": "Embedding health",
        "total": total,
        "covered": len(graph),
        "unusable": total - len(graph),
        "alone": len(alone),
        "identity": graph.embedding_id,
        "map": maps.of(store),
        "job": _running(),
    }
    return render_page(request, "console/map/health_page.html", context, fragment="console/map/_health.html")


@accepts("POST")
@may("view_memory")
@may("change_memory")
def map_layout(request: HttpRequest) -> HttpResponse:
    """Have the layout worked out anew, beside the pages. One at a time."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    if (running := _running()) is not None:
        return redirect("console:job", running.pk)
    count = min(repository().count(), 10_000)
    if not count:
        toast(request, "There is nothing to lay out yet", bad=True)
        return redirect("console:map")
    order = jobs.Order(LAYOUT, "Lay the map out", count, page_url("map"))
    return redirect("console:job", jobs.enqueue(request.user, order).pk)


def _running() -> Job | None:
    return Job.objects.filter(kind=LAYOUT, state__in=UNFINISHED).first()


def _by_category(table: pa.Table) -> list[dict[str, Any]]:
    counts = {
        row["values"]: row["counts"]
        for row in pc.value_counts(table["category"]).to_pylist()
        if row["values"]
    }
    return [
        {"name": str(name), "count": counts[str(name)], "url": page_url("memories", category=str(name))}
        for name in Category
        if counts.get(str(name))
    ]


urlpatterns = [
    path("map/", map_page, name="map"),
    path("map/points/", map_points, name="map_points"),
    path("map/found/", map_found, name="map_found"),
    path("map/health/", map_health, name="map_health"),
    path("map/layout/", map_layout, name="map_layout"),
    path("map/memory/<str:memory_id>/", map_panel, name="map_panel"),
]
