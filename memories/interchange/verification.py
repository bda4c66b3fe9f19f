"""Holding a database against the source it was imported from, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from memories.contract import MemsuiteError, validate_add
from memories.interchange.gathering import Gathering
from memories.interchange.items import Item, MemoryItem
from memories.interchange.masking import kept_row
from memories.interchange.readers.base import Reader
from memories.interchange.systems import System
from memories.repository import MemoryRepository, Snapshot, StoredMemory, schema
from memories.repository.edges import label_key
from memories.repository.engine import is_in
from memories.repository.ledger import conflict_key
from memories.repository.records import Row
from memories.repository.revisions import revision_of

ROWS_AT_ONCE = 256
DIFFERENCES_NAMED = 100


@dataclass
class Verification:
    """``checked`` counts rows by kind; ``different`` names those that are not as the source has them."""

    checked: dict[str, int] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.different

    def note(self, kind: str, place: str, fits: bool) -> None:
        self.checked[kind] = self.checked.get(kind, 0) + 1
        if not fits and len(self.different) < DIFFERENCES_NAMED:
            self.different.append(f"{kind} {place}")


def verify(
    repository: MemoryRepository,
    reader: Reader,
    system: System,
    ids: Mapping[str, str],
    progress: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Whether every row of the source is stored as it says, or set aside with its reason. ``ids`` leads
    from ids of the source to those in the database."""
    found = Verification()
    gathering = Gathering(system, None)
    items, done = reader.items(), 0
    while batch := list(islice(items, ROWS_AT_ONCE)):
        step = gathering.step(batch)
        repository.read(lambda snapshot: _check(found, snapshot, batch, step.tables, ids))  # noqa: B023
        done += len(batch)
        progress(done)
    return found


def _check(
    found: Verification,
    snapshot: Snapshot,
    items: Sequence[Item],
    tables: Mapping[str, Sequence[Row]],
    ids: Mapping[str, str],
) -> None:
    memories = [item for item in items if isinstance(item, MemoryItem)]
    names = [ids[item.id] for item in memories if item.id in ids]
    stored = snapshot.memories(names)
    originals = _originals(snapshot, names)
    for item in memories:
        name = ids.get(item.id, "")
        set_aside = name not in stored
        fits = set_aside or _says(stored[name], item, originals.get(name, ()))
        if not set_aside:
            found.note("memory", item.place, fits)
    for table in (schema.QUARANTINE, schema.TURNS, schema.LESSONS):
        _there(found, snapshot, table, [row["id"] for row in tables.get(table, ())])
    _edges(found, snapshot, tables.get(schema.EDGES, ()), ids)
    _ledger(found, snapshot, [*tables.get(schema.CONFLICTS, ()), *tables.get(schema.ARCHIVE, ())], ids)


def _says(memory: StoredMemory, item: MemoryItem, originals: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a memory is what the contract makes of the source's row, and keeps the row itself."""
    try:
        form = validate_add(item.payload).form
    except MemsuiteError:
        return False
    same = (memory.content, memory.category, memory.quality) == (form.content, form.category, form.quality)
    tagged = {tag.casefold() for tag in form.tags} <= {tag.casefold() for tag in memory.tags}
    dated = item.created_at is None or memory.created_at == item.created_at
    kept = item.original is None or kept_row(dict(item.original)) in originals
    return same and tagged and dated and kept


def _originals(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    where = f"revision = 0 AND {is_in('memory_id', ids)}"
    for row in snapshot.rows(schema.REVISIONS, where) if ids else ():
        original = json.loads(revision_of(row).before).get("original")
        if original:
            found.setdefault(row["memory_id"], []).append(original["row"])
    return found


def _there(found: Verification, snapshot: Snapshot, table: str, names: Sequence[str]) -> None:
    there = {row["id"] for row in snapshot.rows(table, is_in("id", names), ["id"])} if names else set()
    for name in names:
        found.note(table, name, name in there)


def _edges(found: Verification, snapshot: Snapshot, rows: Sequence[Row], ids: Mapping[str, str]) -> None:
    """An edge whose source is stored is there, to the same target or under the same label."""
    sources = {ids[row["source_id"]] for row in rows if row["source_id"] in ids}
    ends: set[tuple[str, str, str]] = set()
    for edge in snapshot.edges_of(sources):
        ends.add((edge.source_id, edge.relation_type, edge.target_id))
        ends.add((edge.source_id, edge.relation_type, label_key(edge.target_label)))
    for row in rows:
        source = ids.get(row["source_id"])
        if source is None:
            continue
        target = ids.get(row["target_id"], row["target_id"]) or label_key(row["target_label"])
        wanted = {
            (source, row["relation_type"], end) for end in (target, label_key(row["target_label"])) if end
        }
        found.note("edge", f"of {row['source_id']}", bool(wanted & ends))


def _ledger(found: Verification, snapshot: Snapshot, rows: Sequence[Row], ids: Mapping[str, str]) -> None:
    for row in rows:
        one = ids.get(row["memory_a_id"], row["memory_a_id"])
        other = ids.get(row["memory_b_id"], row["memory_b_id"])
        if row["memory_a_id"] not in ids and row["memory_b_id"] not in ids:
            continue
        where = is_in("conflict_key", [conflict_key(one, other, row["claim_key"])])
        stored = [*snapshot.rows(schema.CONFLICTS, where), *snapshot.rows(schema.ARCHIVE, where)]
        fits = bool(stored) and (row["resolution_type"] != "human" or stored[0]["resolution_type"] == "human")
        found.note("conflict", row["id"], fits)
