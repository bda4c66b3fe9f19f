"""Rows of the older suite, from its tables or its JSON export, as items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.contract import fields as checks
from memories.interchange.items import ConflictItem, Item, MemoryItem, MisfitItem, Note
from memories.interchange.old_facts import old_text
from memories.interchange.readers import values
from memories.repository.edges import Edge, label_key, make_edge
from memories.repository.ids import new_id
from memories.repository.ledger import AUTO, HUMAN, OPEN, RESOLVED, Conflict, conflict_key

UNKNOWN_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""For a row that says nothing about when it was made: plainly not a time of this suite."""

Declared = Mapping[str, Sequence[Edge]]
"""The edges of the edges table, by the id of their source."""


def edge_of_row(row: Mapping[str, Any]) -> Edge:
    """An edge of the table, or of the JSON export. Raises what is wrong with it."""
    source = values.identifier(row.get("source_id", row.get("from")), "source_id")
    target = values.text_of(row.get("target_id", row.get("to")), "target_id")
    label = values.text_of(row.get("target_label"), "target_label").strip()
    kind = checks.relations([_relation(row.get("relation_type"), target, label)])[0].type
    at = values.seconds(row.get("created_at"), "created_at") or UNKNOWN_TIME
    return make_edge(source, str(kind), target, label, at)


def _relation(kind: Any, target: str, label: str) -> dict[str, Any]:
    return {"type": kind, "target": label} if label else {"type": kind, "target_id": target}


def memory_items(
    row: Mapping[str, Any],
    place: str,
    ids: Collection[str],
    declared: Declared,
    vector: Any = None,
    embedding_id: str = "",
) -> Iterator[Item]:
    """The memory of a row, after what is wrong with its relations; a misfit where it cannot be one."""
    original = values.plain(row)
    name = str(row.get("id") or "")
    try:
        name = values.identifier(row.get("id"))
        parsed = old_text(values.text_of(row.get("content"), "content"))
        made_at = values.seconds(row.get("created_at"), "created_at") or UNKNOWN_TIME
        edges = []
        for found in _relations(row, name, made_at, ids, declared, parsed.relations, place):
            if isinstance(found, Edge):
                edges.append(found)
            else:
                yield found
        yield MemoryItem(
            place=place,
            id=name,
            payload={
                "domain": parsed.domain,
                "subject": parsed.subject,
                "facts": list(parsed.facts),
                "tier": int(parsed.tier),
                "category": row.get("category"),
                "relations": [edge.relation.as_dict() for edge in edges],
                "tags": values.json_list(row.get("tags")),
                "quality": values.number(row.get("quality"), "quality", 0.0, 1.0, 0.5),
            }
            | ({"type": row["type"]} if row.get("type") else {}),
            created_at=made_at,
            updated_at=values.seconds(row.get("updated_at"), "updated_at") or made_at,
            session_id=values.text_of(row.get("session_id")),
            user_id=values.text_of(row.get("user_id")),
            original=original,
            edges=tuple(edges),
            vector=vector,
            embedding_id=embedding_id,
            recalls=int(values.number(row.get("access_count"), "access_count", 0, 2**53, 0)),
            recalled_at=values.seconds(row.get("accessed_at"), "accessed_at"),
        )
    except MemsuiteError as error:
        yield MisfitItem(place, "memory", name, error, original)


def _relations(
    row: Mapping[str, Any],
    name: str,
    made_at: datetime,
    ids: Collection[str],
    declared: Declared,
    in_text: Iterable[Any],
    place: str,
) -> Iterator[Edge | Item]:
    """The edges of the table; the copies in the row and in the text only where an edge is missing."""
    found = {
        (edge.relation_type, edge.target_id, label_key(edge.target_label)): edge
        for edge in declared.get(name, ())
    }
    ends = {(edge.relation_type, end) for edge in found.values() for end in _ends(edge)}
    copies = [entry for entry in values.json_list(row.get("relations")) if isinstance(entry, dict)]
    copies += [relation.as_dict() for relation in in_text]
    for entry in copies:
        try:
            copy = edge_of_row(
                {
                    "source_id": name,
                    "relation_type": entry.get("type"),
                    "target_id": entry.get("target_id"),
                    "target_label": entry.get("target"),
                }
            )
        except MemsuiteError as error:
            yield MisfitItem(place, "edge", name, error, dict(entry))
            continue
        if not ends & {(copy.relation_type, end) for end in _ends(copy)}:
            yield Note("relations taken from the row, since the edges table lacks them")
            found[copy.relation_type, copy.target_id, label_key(copy.target_label)] = make_edge(
                name, copy.relation_type, copy.target_id, copy.target_label, made_at
            )
            ends |= {(copy.relation_type, end) for end in _ends(copy)}
    for edge in found.values():
        if edge.target_id and edge.target_id not in ids and not edge.target_label:
            yield MisfitItem(place, "edge", name, _dangling(edge), edge.as_row())
        elif edge.target_id and edge.target_id not in ids:
            yield edge.pointed_at("")
        elif edge.target_id == name:
            yield MisfitItem(place, "edge", name, _dangling(edge), edge.as_row())
        else:
            yield edge


def _ends(edge: Edge) -> set[str]:
    return {end for end in (edge.target_id, label_key(edge.target_label)) if end}


def _dangling(edge: Edge) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_RELATION_TARGET,
        "relations",
        "The relation points at a memory that the source does not hold.",
        received=edge.target_id,
    )


def conflict_item(row: Mapping[str, Any], place: str) -> Item:
    """A ledger row; one that was resolved without saying by whom counts as a person's decision."""
    try:
        return ConflictItem(place, _conflict(row))
    except MemsuiteError as error:
        return MisfitItem(place, "conflict", str(row.get("id") or ""), error, values.plain(row))


def _conflict(row: Mapping[str, Any]) -> Conflict:
    one = values.identifier(row.get("memory_a_id"), "memory_a_id")
    other = values.identifier(row.get("memory_b_id"), "memory_b_id")
    key = values.identifier(row.get("claim_key"), "claim_key").casefold()
    resolved = values.text_of(row.get("status"), "status") == RESOLVED
    kind = values.text_of(row.get("resolution_type")) or HUMAN
    return Conflict(
        id=values.text_of(row.get("id")) or new_id(),
        conflict_key=conflict_key(one, other, key),
        memory_a_id=one,
        memory_b_id=other,
        subject=values.text_of(row.get("subject"), "subject").casefold(),
        claim_key=key,
        value_a=values.text_of(row.get("value_a"), "value_a"),
        value_b=values.text_of(row.get("value_b"), "value_b"),
        status=RESOLVED if resolved else OPEN,
        resolution_type=(AUTO if kind == AUTO else HUMAN) if resolved else "",
        resolution="",
        resolution_note=values.text_of(row.get("resolution_note")) if resolved else "",
        resolved_by=values.text_of(row.get("resolved_by")) if resolved else "",
        created_at=values.seconds(row.get("created_at"), "created_at") or UNKNOWN_TIME,
        resolved_at=values.seconds(row.get("resolved_at"), "resolved_at") if resolved else None,
        archived_at=values.seconds(row.get("archived_at"), "archived_at"),
    )
