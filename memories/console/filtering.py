"""Which memories a ``MemoryFilter`` lets through, and in which order: Arrow over the catalogue, and the
engine where only it has the text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from memories.contract import Category, Tier
from memories.repository import MemoryRepository, Snapshot, schema
from memories.repository.catalogue import ORDERS
from memories.repository.engine import quoted
from memories.retrieval.request import TOP_K_MAX, Mode, SearchRequest
from memories.retrieval.search import search

if TYPE_CHECKING:
    from memories.console.filters import MemoryFilter

_KEYS = ORDERS | {
    "changed": [("updated_at", "descending"), ("generation", "descending"), ("id", "descending")],
    "subject": [("subject_key", "ascending"), ("id", "ascending")],
}


def matching(repository: MemoryRepository, wanted: MemoryFilter) -> list[str]:
    """The ids of the memories for which everything asked holds, in the filter's order.

    Raises MemsuiteError: what reading may raise, and for ``how=words`` what a search may.
    """
    table, found = _let_through(repository, wanted)
    return _ordered(table, wanted, found, repository)


def counted(repository: MemoryRepository, wanted: MemoryFilter) -> int:
    """How many memories match; what it raises is what ``matching`` raises."""
    return int(_let_through(repository, wanted)[0].num_rows)


def _let_through(repository: MemoryRepository, wanted: MemoryFilter) -> tuple[pa.Table, Sequence[str]]:
    """The catalogue's rows that match, and what the searched text found, best first."""
    table = _narrowed(repository.catalogue().table, wanted)
    if wanted.conflict:
        table = _among(table, repository.read(_in_conflict))
    found: Sequence[str] = ()
    if wanted.q:
        found = _found(repository, wanted, table)
        table = _among(table, found)
    if wanted.never_recalled:
        table = table.filter(pc.invert(repository.usage.recalls().among(table["id"])))
    return table, found


def holding(table: pa.Table, column: str, values: Collection[str]) -> pa.Array:
    """A mask of the rows whose list column holds any of ``values``, spelled exactly so."""
    lists = table[column].combine_chunks()
    wanted = pa.array(list(values), pa.string())
    parents = pc.list_parent_indices(lists).filter(pc.is_in(pc.list_flatten(lists), value_set=wanted))
    return pc.is_in(pa.array(range(len(lists)), pa.int64()), value_set=parents.cast(pa.int64()))


def _narrowed(table: pa.Table, wanted: MemoryFilter) -> pa.Table:
    """What the catalogue's own columns decide."""
    equal = {
        "category": wanted.category,
        "type": wanted.type,
        "tier": wanted.tier,
        "source": wanted.source,
        "session_id": wanted.session,
    }
    for column, value in equal.items():
        if value not in ("", None):
            table = table.filter(pc.equal(table[column], value))
    if wanted.quality_min is not None:
        table = table.filter(pc.greater_equal(table["quality"], wanted.quality_min))
    if wanted.quality_max is not None:
        table = table.filter(pc.less_equal(table["quality"], wanted.quality_max))
    if wanted.created_from is not None:
        table = table.filter(pc.greater_equal(table["created_at"], _midnight(wanted.created_from)))
    if wanted.created_to is not None:
        table = table.filter(pc.less(table["created_at"], _midnight(wanted.created_to, days=1)))
    for column, value in (("tags", wanted.tag), ("entities", wanted.entity)):
        if value:
            table = table.filter(holding(table, column, [value]))
    return table


def _midnight(day: date, days: int = 0) -> pa.Scalar:
    # The last day of the calendar has no midnight after it.
    if days and day >= date.max:
        return pa.scalar(datetime.max.replace(tzinfo=UTC), pa.timestamp("us", tz="UTC"))
    moment = datetime.combine(day + timedelta(days=days), time(), UTC)
    return pa.scalar(moment, pa.timestamp("us", tz="UTC"))


def _in_conflict(snapshot: Snapshot) -> list[str]:
    rows = snapshot.rows(schema.CONFLICTS, "status = 'open'", ["memory_a_id", "memory_b_id"])
    return [row[side] for row in rows for side in ("memory_a_id", "memory_b_id")]


def _found(repository: MemoryRepository, wanted: MemoryFilter, table: pa.Table) -> list[str]:
    """What the searched text finds: as the agent searches best first, as plain text in no order."""
    if wanted.how == "words":
        request = SearchRequest(
            wanted.q,
            top_k=TOP_K_MAX,
            category=Category(wanted.category) if wanted.category else None,
            tier=None if wanted.tier is None else Tier(wanted.tier),
            tag=wanted.tag or None,
            mode=Mode.AUTO,
            relation_depth=0,
            neighbor_budget=0,
        )
        return [result.id for result in search(repository, request).results]
    return repository.read(lambda snapshot: _containing(snapshot, table, wanted.q))


def _containing(snapshot: Snapshot, table: pa.Table, text: str) -> list[str]:
    """Memories of the table with ``text`` in the subject or in a fact. ``chr(10)`` keeps a text from being
    found across two facts."""
    where = f"contains(lower(array_to_string(facts, chr(10))), {quoted(text.lower())})"
    told = snapshot.arrow(schema.MEMORIES, where, ["id"])
    named = _ids(table.filter(_named(table, text)))
    return [*named, *_ids(told)] if told is not None else named


def _ordered(
    table: pa.Table, wanted: MemoryFilter, found: Sequence[str], repository: MemoryRepository
) -> list[str]:
    order = str(wanted.order)
    if order == "relevance" and wanted.how == "words":
        kept = set(_ids(table))
        return [name for name in found if name in kept]
    ids = _sorted_ids(table, _KEYS.get(order, _KEYS["newest"]))
    if order == "relevance":
        named = set(_ids(table.filter(_named(table, wanted.q))))
        return [*(name for name in ids if name in named), *(name for name in ids if name not in named)]
    if order == "recalled":
        return repository.usage.recalls().last_first(ids)
    if order == "most_recalled":
        return repository.usage.recalls().most_first(ids)
    return ids


def _named(table: pa.Table, text: str) -> pa.Array:
    subjects = pc.binary_join_element_wise(table["domain"], table["subject"], ":")
    return pc.match_substring(pc.utf8_lower(subjects), text.lower())


def _sorted_ids(table: pa.Table, keys: list[tuple[str, str]]) -> list[str]:
    found: list[str] = table["id"].take(pc.sort_indices(table, sort_keys=keys)).to_pylist()
    return found


def _among(table: pa.Table, ids: Collection[str]) -> pa.Table:
    return table.filter(pc.is_in(table["id"], value_set=pa.array(list(ids), pa.string())))


def _ids(table: pa.Table) -> list[str]:
    found: list[str] = table["id"].to_pylist()
    return found
