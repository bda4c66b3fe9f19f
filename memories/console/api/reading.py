"""What the API reads: memories, search, labels, days, conflicts, numbers. Nothing here writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from django.http import HttpRequest, HttpResponse
from ninja import Query

from memories.console.api.answers import answer
from memories.console.api.site import Endpoints
from memories.console.filters import MemoryFilter
from memories.console.labels import Labels, Order
from memories.console.repository_access import repository
from memories.console.statistics import counts, storage
from memories.repository import MemoryRepository, Snapshot, schema
from memories.repository.engine import quoted
from memories.repository.results import conflict_answer, decorated
from memories.repository.usage import Usage
from memories.retrieval.request import SearchRequest
from memories.retrieval.search import search as find

endpoints = Endpoints("reading")

Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=200)]
"""A page's size; the exact total always comes with it, so that a caller knows how often to ask."""

CONTENT_SHOWN = 300
LEADERS = 10


@endpoints.get("memories", "memories")
def memories(request: HttpRequest, offset: Offset = 0, limit: Limit = 20) -> HttpResponse:
    """Memories that a filter lets through, in an order, a page of them."""
    wanted = MemoryFilter.of(_as_list_query(request.GET.dict()))
    ids = wanted.ids(repository())
    rows = _rows(repository(), ids[offset : offset + limit], CONTENT_SHOWN)
    return answer({"total": len(ids), "offset": offset, "limit": limit, "memories": rows})


@endpoints.get("memory", "memory_by_id")
def memory_by_id(request: HttpRequest, id: Annotated[str, Query(max_length=200)]) -> HttpResponse:
    """One memory, by the parameter ``id``."""
    return memory(request, id)


@endpoints.get("memories/{memory_id}", "memory")
def memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """One memory with its facts, edges, open conflicts and last revisions."""
    return answer(repository().get(memory_id).as_answer())


@endpoints.get("search", "search")
def search(request: HttpRequest) -> HttpResponse:
    """The agent's search: evidence, or a plain word that there is none."""
    return answer(find(repository(), SearchRequest.from_arguments(_search(request.GET.dict()))).as_answer())


@endpoints.get("tags", "tags")
def tags(
    request: HttpRequest, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> HttpResponse:
    """Tags and how many memories carry each, most used first."""
    labels = Labels.of(repository().catalogue().table, "tags")
    page = labels.page(Order.COUNT, offset, limit)
    rows = [{"tag": label.name, "count": label.memories} for label in page]
    return answer({"total": len(labels), "offset": offset, "limit": limit, "tags": rows})


@endpoints.get("timeline", "timeline")
def timeline(request: HttpRequest, offset: Offset = 0, limit: Limit = 50) -> HttpResponse:
    """Days (UTC) on which memories were made, newest first, with the first ids of each."""
    table = repository().catalogue().table
    days = pc.floor_temporal(table["created_at"], unit="day")
    grouped = (
        pa.table({"day": days, "id": table["id"]})
        .group_by("day")
        .aggregate([("id", "count"), ("id", "list")])
    ).sort_by([("day", "descending")])
    rows = [
        {
            "date": row["day"].date().isoformat(),
            "count": row["id_count"],
            "ids": sorted(row["id_list"])[:CONTENT_SHOWN],
        }
        for row in grouped.slice(offset, limit).to_pylist()
    ]
    return answer({"total": grouped.num_rows, "offset": offset, "limit": limit, "days": rows})


@endpoints.get("conflicts", "conflicts")
def conflicts(
    request: HttpRequest,
    status: Annotated[str, Query(pattern="^(open|resolved|archived)?$")] = "",
    memory_id: Annotated[str, Query(max_length=200)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> HttpResponse:
    """Disagreements between memories, newest first."""
    found = repository().conflicts(status=status, memory_id=memory_id, limit=offset + limit)
    total = repository().read(lambda state: _conflicts_there(state, status, memory_id))
    rows = [conflict_answer(conflict) for conflict in found[offset:]]
    return answer({"total": total, "offset": offset, "limit": limit, "conflicts": rows})


@endpoints.get("typed-edges", "typed_edges")
def typed_edges(
    request: HttpRequest, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> HttpResponse:
    """Declared relations that lead to a memory, in the order of their keys."""
    edges = sorted(
        repository().read(lambda state: state.rows(schema.EDGES, "target_id != ''")),
        key=lambda row: str(row["edge_key"]),
    )
    rows = [
        {
            "from": row["source_id"],
            "to": row["target_id"],
            "relation_type": row["relation_type"],
            "created_at": row["created_at"].isoformat(timespec="seconds"),
        }
        for row in edges[offset : offset + limit]
    ]
    return answer({"total": len(edges), "offset": offset, "limit": limit, "edges": rows})


@endpoints.get("stats", "stats")
def stats(request: HttpRequest) -> HttpResponse:
    """How many of what: categories, types, tiers, ages, recalls, bytes."""
    store = repository()
    catalogue, settings = store.catalogue(), store.settings
    files = storage(settings.db_path, settings.backups_dir)
    edges = store.read(lambda state: state.rows(schema.EDGES, "", ["edge_key"]))
    return answer(
        {
            "total_memories": len(catalogue),
            "total_entities": len(catalogue.counts("entities")),
            "total_edges": len(edges),
            "categories": catalogue.counts("category"),
            "types": catalogue.counts("type"),
            "tiers": {str(tier): count for tier, count in catalogue.counts("tier").items()},
            "ages": _ages(catalogue.table["created_at"], datetime.now(UTC)),
            "db_size_bytes": files.database,
            "backup_bytes": files.backups,
        }
    )


@endpoints.get("dashboard", "dashboard")
def dashboard(request: HttpRequest) -> HttpResponse:
    """The numbers of the dashboard, and the memories recalled most."""
    store = repository()
    catalogue, recalls = store.catalogue(), store.usage.recalls()
    found = counts(catalogue, recalls, datetime.now(UTC).date(), tags=20)
    leaders = recalls.leaders(catalogue.table["id"], LEADERS)
    mean = pc.mean(catalogue.table["quality"]).as_py()
    return answer(
        {
            "total": found.total,
            "categories": dict(found.categories),
            "tiers": {str(tier): count for tier, count in found.tiers.items()},
            "types": catalogue.counts("type"),
            "tags": dict(found.tags),
            "avg_quality": None if mean is None else round(mean, 3),
            "never_recalled": found.never_recalled,
            "recent": found.recent,
            "most_recalled": _rows(store, leaders, CONTENT_SHOWN),
        }
    )


def _rows(store: MemoryRepository, ids: list[str] | tuple[str, ...], most: int) -> list[dict[str, Any]]:
    """Memories as answers, in the order of ``ids``, their text cut to ``most`` characters."""
    found = store.read(lambda state: state.memories(ids))
    usage = store.usage.of(ids)
    rows = [decorated(found[name], usage.get(name, Usage())) for name in ids if name in found]
    for row in rows:
        if len(row["content"]) > most:
            row["content"] = row["content"][: most - 1] + "…"
    return rows


_OLDER_NAMES = {"search": "q", "date_from": "created_from", "date_to": "created_to"}
"""Parameters of the older suite and what the list's own query calls them."""


def _as_list_query(given: dict[str, str]) -> dict[str, str]:
    """The query of the Memories page. ``search`` looks for the text as it stands; days may come as
    seconds since 1970."""
    query = {_OLDER_NAMES.get(name, name): value for name, value in given.items()}
    if "search" in given:
        query.setdefault("how", "contains")
    for name in ("created_from", "created_to"):
        if name in query:
            query[name] = _day(query[name])
    return query


def _day(text: str) -> str:
    try:
        return datetime.fromtimestamp(float(text), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return text  # a day in letters, or nothing that can be read: the filter says which


_NUMBERS = ("top_k", "tier", "relation_depth", "neighbor_budget")
_SWITCH = {"0": False, "false": False, "1": True, "true": True}


def _search(given: dict[str, str]) -> dict[str, object]:
    """The arguments of the agent's tool, from a query where everything is text; ``q`` is ``query``."""
    arguments: dict[str, object] = dict(given)
    if "q" in arguments:
        arguments["query"] = arguments.pop("q")
    for name in _NUMBERS:
        text = str(arguments.get(name, ""))
        if text.lstrip("-").isdecimal() and text.isascii() and len(text) < 10:
            arguments[name] = int(text)
    if "diagnostics" in arguments:
        arguments["diagnostics"] = _SWITCH.get(
            str(arguments["diagnostics"]).lower(), arguments["diagnostics"]
        )
    return arguments


def _conflicts_there(state: Snapshot, status: str, memory_id: str) -> int:
    where = [f"status = {quoted(status)}"] if status in ("open", "resolved") else []
    if memory_id:
        where.append(f"(memory_a_id = {quoted(memory_id)} OR memory_b_id = {quoted(memory_id)})")
    table = schema.ARCHIVE if status == "archived" else schema.CONFLICTS
    return state.row_count(table, " AND ".join(where))


_AGES = (("under_1_day", 1), ("1_to_7_days", 7), ("7_to_30_days", 30), ("30_to_90_days", 90))


def _ages(created: pa.ChunkedArray, now: datetime) -> dict[str, int]:
    days = pc.divide(pc.cast(pc.subtract(pa.scalar(now, created.type), created), pa.int64()), 86_400_000_000)
    found: dict[str, int] = {}
    below = 0
    for name, limit in _AGES:
        total = int(pc.sum(pc.less(days, limit)).as_py() or 0)
        found[name], below = total - below, total
    return found | {"over_90_days": len(created) - below}
