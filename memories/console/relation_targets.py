"""Memories that a relation may point at: found as one types, named as a person names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from memories.console.memory_form import Draft
from memories.console.navigation import page_url
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository, StoredMemory
from memories.repository.edges import label_key
from memories.repository.results import MemoryDetail
from memories.retrieval import SearchRequest, search

MOST_TARGETS = 8
"""Rows under the picker: as many as are read at a glance."""

MOST_NAMED = 5
"""Of them those found by name, so that a whole domain does not push out what the search finds."""

LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One outgoing relation of the form. ``note`` says where it stands when it points nowhere yet."""

    row: int
    type: str
    target_id: str
    label: str
    memory: StoredMemory | None
    note: str = ""

    @property
    def url(self) -> str:
        return page_url("memory", self.memory.id) if self.memory is not None else ""


def targets(repository: MemoryRepository, text: str, *, without: Collection[str] = ()) -> list[StoredMemory]:
    """The best targets for what is typed: those whose ``Domain:Subject`` holds it, then what the search
    that the agent uses finds. Fewer when the embedder is down, never an error for it."""
    query = text.strip()[:LONGEST_QUERY]
    if not query:
        return []
    named = _named(repository, query)
    try:
        found = [result.id for result in search(repository, SearchRequest(query, top_k=MOST_TARGETS)).results]
    except MemsuiteError:
        found = []
    ids = [name for name in dict.fromkeys([*named, *found]) if name not in without][:MOST_TARGETS]
    stored = repository.read(lambda snapshot: snapshot.memories(ids))
    return [stored[name] for name in ids if name in stored]


def relation_rows(
    repository: MemoryRepository, draft: Draft, detail: MemoryDetail | None = None
) -> list[RelationRow]:
    """The draft's relations with the memories they point at. A label is resolved as it is stored, or
    while it is new as far as it names one subject in full."""
    pointed = pointed_at(repository, draft, detail)
    stored = repository.read(lambda snapshot: snapshot.memories(name for name in pointed if name))
    return rows_of(draft, pointed, stored)


def pointed_at(repository: MemoryRepository, draft: Draft, detail: MemoryDetail | None = None) -> list[str]:
    """For each of the draft's relations the id it points at, "" where there is none."""
    declared = detail.edges_out if detail else ()
    resolved = {(edge.relation_type, edge.label): edge.memory_id for edge in declared}
    return [
        relation.target_id
        or resolved.get((relation.type, relation.target), "")
        or _of_subject(repository, relation.target)
        for relation in draft.relations
    ]


def rows_of(draft: Draft, pointed: Sequence[str], stored: Mapping[str, StoredMemory]) -> list[RelationRow]:
    """The draft's relations, each with the memory of its id among those ``stored``."""
    return [
        RelationRow(
            row, relation.type, relation.target_id, relation.target, stored.get(name), _note(name, stored)
        )
        for row, (relation, name) in enumerate(zip(draft.relations, pointed, strict=True))
    ]


def is_stored(repository: MemoryRepository, memory_id: str) -> bool:
    return bool(repository.read(lambda snapshot: snapshot.memories([memory_id])))


def _named(repository: MemoryRepository, query: str) -> list[str]:
    """Ids of memories whose ``domain:subject`` holds the text: in the subject first, then the shortest."""
    table = repository.catalogue().table
    key = label_key(query)
    held = pc.match_substring(table["subject_key"], key)
    rows = table.filter(held).select(["id", "subject_key"]).to_pylist()

    def order(row: dict[str, str]) -> tuple[bool, int, str, str]:
        name = row["subject_key"]
        return key not in name.partition(":")[2], len(name), name, row["id"]

    return [row["id"] for row in sorted(rows, key=order)[:MOST_NAMED]]


def _of_subject(repository: MemoryRepository, label: str) -> str:
    table = repository.catalogue().table
    ids = table.filter(pc.equal(table["subject_key"], label_key(label)))["id"].to_pylist()
    return ids[0] if len(ids) == 1 else ""


def _note(name: str, stored: Collection[str]) -> str:
    if not name:
        return "no such memory yet"
    return "" if name in stored else "not stored"
