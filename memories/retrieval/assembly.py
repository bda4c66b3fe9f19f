"""From ranked memories to the rows of an answer: replacements before what they replaced, neighbours after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.repository import Snapshot, Usage, UsageStore
from memories.retrieval.answer import Exact, Result
from memories.retrieval.document import DocumentCache
from memories.retrieval.neighbours import Explorer, Neighbour, Surroundings
from memories.retrieval.ranking import Ranked, replacements_first
from memories.retrieval.request import SearchRequest
from memories.retrieval.router import Route

Shown = Ranked | Neighbour | Exact


@dataclass(frozen=True, slots=True)
class Assembled:
    results: tuple[Result, ...]
    surroundings: Surroundings


def assemble(
    snapshot: Snapshot,
    documents: DocumentCache,
    usage: UsageStore,
    request: SearchRequest,
    route: Route,
    found: Sequence[Ranked | Exact],
) -> Assembled:
    """At most ``top_k`` rows. On the graph route neighbours may take up to half of them; otherwise they
    get what the ranked ones leave."""
    ranked = {row.memory.id: row for row in found}
    by_id: dict[str, Shown] = {row.memory.id: row for row in found[: request.top_k]}
    explorer = Explorer(snapshot, documents, request.filter)
    around = explorer.around(
        list(by_id), depth=request.relation_depth, budget=min(request.neighbor_budget, request.top_k)
    )
    by_id |= {name: ranked.get(name, newer) for name, newer in around.replacements.items()}
    order = [name for name in replacements_first(list(by_id), around.superseded_by) if name in by_id]
    reserved = min(len(around.neighbours), request.top_k // 2) if route is Route.GRAPH else 0
    kept: list[Shown] = [by_id[name] for name in order[: request.top_k - reserved]]
    ids = {row.memory.id for row in kept}
    neighbours = [one for one in around.neighbours if one.seed_id in ids]
    rows = [*kept, *neighbours[: request.top_k - len(kept)]]
    return Assembled(_results(snapshot, usage, rows, around.superseded_by), around)


def _results(
    snapshot: Snapshot, usage: UsageStore, rows: Sequence[Shown], superseded_by: dict[str, str]
) -> tuple[Result, ...]:
    ids = [row.memory.id for row in rows]
    conflicts, used = snapshot.open_conflict_counts(ids), usage.of(ids)
    return tuple(
        Result(row, used.get(name, Usage()), conflicts.get(name, 0), superseded_by.get(name))
        for name, row in zip(ids, rows, strict=True)
    )
