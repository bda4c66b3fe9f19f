"""Clusters: what the memories are about, as groups that nobody had to make."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path

from memories.analysis.clusters import TOO_MUCH_IN_ONE, Cluster, Clusters, clusters
from memories.console.access import accepts, may
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Empty, Notice, Pager, Stat
from memories.console.rendering import render_page
from memories.console.repository_access import repository
from memories.console.slowly import GLANCE, Slowly
from memories.repository import MemoryRepository, Usage

found_clusters: Slowly[Clusters] = Slowly(clusters)

ISOLATED = "isolated"
"""What stands in the address for the memories that are in no cluster."""


def _count(store: MemoryRepository) -> int:
    return len(found_clusters.of(store, GLANCE).clusters)


register(Page(Section.BROWSE, 50, "Clusters", "console:clusters", "clusters", count=_count))


@accepts("GET")
@may("view_memory")
def clusters_page(request: HttpRequest) -> HttpResponse:
    found = found_clusters.of(repository())
    offset, size = window(request.GET, len(found.clusters))
    shown = found.clusters[offset : offset + size]
    most = len(found.clusters[0]) if found.clusters else 1
    context = {
        "title": "Clusters",
        "wide": True,
        "found": found,
        "tiles": _tiles(found),
        "rows": [_row(cluster, most) for cluster in shown],
        "pager": Pager.of(request, len(found.clusters), offset, size),
        "notice": _notice(found),
        "empty": Empty(
            "clusters", "No clusters", "They come with more memories: three that are near make one."
        ),
    }
    return render_page(request, "console/clusters/list.html", context)


@accepts("GET")
@may("view_memory")
def cluster(request: HttpRequest, cluster_key: str) -> HttpResponse:
    """The memories of one cluster; ``isolated`` are those in none."""
    store = repository()
    found = found_clusters.of(store)
    chosen = found.with_key(cluster_key)
    if chosen is None and cluster_key != ISOLATED:
        raise Http404
    ids = chosen.ids if chosen else found.isolated
    offset, size = window(request.GET, len(ids))
    wanted = ids[offset : offset + size]
    memories = store.read(lambda snapshot: snapshot.memories(wanted))
    usage = store.usage.of(wanted)
    context = {
        "title": "Cluster",
        "wide": True,
        "cluster": chosen,
        "total": len(ids),
        "rows": [(memories[name], usage.get(name, Usage())) for name in wanted if name in memories],
        "pager": Pager.of(request, len(ids), offset, size),
        "map_url": page_url("map", colour="cluster"),
        "empty": Empty("clusters", "Every memory is in a cluster", ""),
    }
    return render_page(request, "console/clusters/cluster.html", context)


def _tiles(found: Clusters) -> tuple[Stat, ...]:
    isolated = page_url("cluster", ISOLATED) if found.isolated else ""
    return (
        Stat("Clusters", f"{len(found.clusters):,}", note="of three memories or more"),
        Stat("Coverage", f"{100 * found.coverage:.0f}", unit="%", note="of all memories are in one"),
        Stat("Isolated", f"{len(found.isolated):,}", isolated, note="near to too few others"),
        Stat("Without vector", f"{found.without_vector:,}", note="cannot be placed"),
    )


def _row(cluster: Cluster, most: int) -> dict[str, Any]:
    return {
        "cluster": cluster,
        "url": page_url("cluster", cluster.key),
        "share": f"{100 * len(cluster) / most:.1f}%",
    }


def _notice(found: Clusters) -> Notice | None:
    if not found.tells_little:
        return None
    return Notice(
        "The clusters tell little here",
        f"More than {100 * TOO_MUCH_IN_ONE:.0f} % of the clustered memories fall into one: they are about "
        "one thing, or the model sees them as much alike.",
        kind="warn",
    )


urlpatterns = [
    path("clusters/", clusters_page, name="clusters"),
    path("clusters/<str:cluster_key>/", cluster, name="cluster"),
]
