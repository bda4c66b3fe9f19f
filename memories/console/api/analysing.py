"""What the API computes over all memories: graph, places, clusters, duplicates, stale ones, reviews.

Two of these at once; a third is told to come back. None of them starts anything but its own computation.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja import Query

from memories.analysis.clusters import clusters as find_clusters
from memories.analysis.staleness import DAYS, QUALITY, Bounds, stale
from memories.console import jobs, map_jobs
from memories.console.api.answers import answer
from memories.console.api.bodies import body_of, described, only
from memories.console.api.site import Endpoints
from memories.console.duplicate_groups import groups
from memories.console.heavy import heavy_work
from memories.console.job_models import UNFINISHED, Job
from memories.console.navigation import page_url
from memories.console.pages.graph import Shown, graph_answer
from memories.console.pages.map import maps
from memories.console.repository_access import repository
from memories.console.review_inbox import inbox
from memories.contract import ErrorCode, MemsuiteError

endpoints = Endpoints("analysing")

Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=200)]
Share = Annotated[float, Query(ge=0, le=1)]

POINTS_MOST = 5_000
"""Places in one answer; the page's own packed points have no such limit."""


@endpoints.get("graph", "graph")
def graph(
    request: HttpRequest, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=POINTS_MOST)] = 1_000
) -> HttpResponse:
    """Memories as nodes, edges of likeness, declared relations and hubs; ``threshold``, ``group``, ``tier``,
    ``relation`` and ``memory`` as on the Graph page."""
    return answer(graph_answer(repository(), Shown.of(request.GET.dict()), offset, limit))


@endpoints.get("projection", "projection")
def projection(
    request: HttpRequest, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=POINTS_MOST)] = 1_000
) -> HttpResponse:
    """Places of memories on the map: the kept layout, or principal components while there is none."""
    found = maps.of(repository())
    state = "ready" if found.method == "umap" else "computing" if _layout_job() else "components"
    pairs = zip(found.ids[offset : offset + limit], found.xy[offset : offset + limit].tolist(), strict=True)
    points = [{"id": name, "x": round(x, 5), "y": round(y, 5)} for name, (x, y) in pairs]
    page = {"total": len(found.ids), "offset": offset, "limit": limit, "points": points}
    return answer(page | {"state": state, "method": found.method, "memories": found.total})


@endpoints.post("projection", "start_projection", "change_memory", body=described({}))
def start_projection(request: HttpRequest) -> HttpResponse:
    """Have the layout worked out by a job, if none is at it."""
    only(body_of(request))
    job, count = _layout_job(), min(repository().count(), 10_000)
    if job is None and count and isinstance(request.user, User):
        order = jobs.Order(map_jobs.LAYOUT, "Lay the map out", count, page_url("map"))
        job = jobs.enqueue(request.user, order)
    return answer({"state": "computing" if job else "components", "job": job.pk if job else ""})


@endpoints.get("clusters", "clusters")
def clusters(request: HttpRequest, offset: Offset = 0, limit: Limit = 50) -> HttpResponse:
    """Groups of memories by likeness, largest first, named by their most telling words."""
    with heavy_work():
        found = find_clusters(repository())
    rows = [
        {
            "id": cluster.key,
            "name": cluster.name,
            "size": len(cluster),
            "cohesion": round(cluster.cohesion, 4),
            "ids": list(cluster.ids[:200]),
        }
        for cluster in found.clusters[offset : offset + limit]
    ]
    about = {
        "coverage": round(found.coverage, 4),
        "isolated": len(found.isolated),
        "without_vector": found.without_vector,
        "low_discrimination": found.tells_little,
    }
    page = {"total": len(found.clusters), "offset": offset, "limit": limit, "clusters": rows}
    return answer(page | {"diagnostics": about})


@endpoints.get("duplicates", "duplicates")
def duplicates(
    request: HttpRequest, threshold: Share = 0.92, offset: Offset = 0, limit: Limit = 50
) -> HttpResponse:
    """Groups of memories that say the same, most alike first."""
    with heavy_work():
        found = groups(repository(), threshold)
    rows = [
        {"id": group.key, "size": len(group.ids), "ids": list(group.ids), "likeness": round(group.value, 4)}
        for group in found[offset : offset + limit]
    ]
    return answer({"total": len(found), "offset": offset, "limit": limit, "groups": rows})


@endpoints.get("stale", "stale")
def stale_memories(
    request: HttpRequest,
    days: Annotated[int, Query(ge=1, le=3_650)] = DAYS,
    quality_max: Share = QUALITY,
    offset: Offset = 0,
    limit: Limit = 50,
) -> HttpResponse:
    """Memories of low quality that nothing has been heard of for long, longest first."""
    store = repository()
    found = stale(
        store.catalogue().table, store.usage.recalls(), Bounds(days, quality_max), datetime.now(UTC)
    )
    rows = [
        {
            "id": row["id"],
            "domain": row["domain"],
            "subject": row["subject"],
            "tier": row["tier"],
            "quality": round(row["quality"], 3),
            "heard_at": row["heard_at"].isoformat(timespec="seconds"),
        }
        for row in found.slice(offset, limit).to_pylist()
    ]
    return answer({"total": found.num_rows, "offset": offset, "limit": limit, "memories": rows})


@endpoints.get("review", "review")
def review(
    request: HttpRequest,
    kind: Annotated[str, Query(max_length=40)] = "",
    offset: Offset = 0,
    limit: Limit = 50,
) -> HttpResponse:
    """What waits for a person's judgement, of one kind or of all in turn."""
    with heavy_work():
        waiting = inbox(repository())
    counts = {str(each): len(items) for each, items in waiting.of_kind.items()}
    if kind and kind not in counts:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "kind",
            "Nothing of this kind waits for review.",
            received=kind,
            expected=sorted(counts),
        )
    queue = [
        item for each, items in waiting.of_kind.items() if not kind or str(each) == kind for item in items
    ]
    rows: list[dict[str, Any]] = [
        {
            "kind": str(item.kind),
            "id": item.id,
            "name": item.name,
            "says": item.says,
            "memory_ids": list(item.memory_ids),
        }
        for item in queue[offset : offset + limit]
    ]
    page = {"total": len(queue), "offset": offset, "limit": limit, "items": rows}
    return answer(page | {"counts": counts})


def _layout_job() -> Job | None:
    return Job.objects.filter(kind=map_jobs.LAYOUT, state__in=UNFINISHED).first()
