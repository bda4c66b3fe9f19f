"""Where a memory has left its words, and what the tables hold without them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memories.repository import schema
from memories.repository.edges import edge_of
from memories.repository.engine import is_in
from memories.repository.records import Row
from memories.repository.snapshot import Snapshot, batches

SHORTEST = 16
"""Characters from which a fact counts as words of this memory wherever it is quoted. A shorter one, such
as ``port=8080``, says nothing of where it came from."""


@dataclass(frozen=True)
class Traces:
    """Memories to erase: their ids, and the facts that any of their states has stated, folded."""

    ids: frozenset[str]
    facts: tuple[str, ...]
    known: frozenset[str]
    """Those of the ids of which there is anything at all."""

    @classmethod
    def of(cls, snapshot: Snapshot, ids: Collection[str]) -> Traces:
        facts: set[str] = set()
        known: set[str] = set()
        for row in _states(snapshot, ids):
            known.add(row["id"])
            facts |= {_folded(fact) for fact in row["facts"] or ()}
        return cls(
            frozenset(ids), tuple(sorted(fact for fact in facts if len(fact) >= SHORTEST)), frozenset(known)
        )

    def quoted_in(self, *texts: str | None) -> bool:
        """Whether any of the texts quotes one of the facts."""
        folded = [_folded(said) for text in texts if text for said in _said_in(text)]
        return any(fact in text for fact in self.facts for text in folded)

    def without(self, name: str, table: pa.Table) -> pa.Table:
        """The rows of a table that stay, none with a word of the memories."""
        clean = _CLEANERS.get(name)
        return clean(self, table) if clean is not None else table


def _states(snapshot: Snapshot, ids: Collection[str]) -> Iterable[Row]:
    """The memories as they are and as any revision keeps them."""
    for batch in batches(ids):
        yield from snapshot.rows(schema.MEMORIES, is_in("id", batch), ["id", "facts"])
        rows = snapshot.rows(schema.REVISIONS, is_in("memory_id", batch), ["memory_id", "before"])
        for row in rows:
            yield {"id": row["memory_id"], "facts": (json.loads(row["before"])["row"] or {}).get("facts")}


def _said_in(text: str) -> list[str]:
    """A text, and where it is JSON the texts in it, which may be written there in another way."""
    if text[:1] not in ("{", "["):
        return [text]
    try:
        return [text, *_strings(json.loads(text))]
    except ValueError:
        return [text]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in _strings(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _strings(inner))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _named(table: pa.Table, columns: Iterable[str], ids: Collection[str]) -> pa.Array:
    """A mask of the rows that hold one of the ids in one of the columns."""
    values = pa.array(sorted(ids), pa.string())
    masks = [pc.is_in(table[column], value_set=values) for column in columns]
    return reduce(pc.or_, masks)


def _by_id(*columns: str) -> Callable[[Traces, pa.Table], pa.Table]:
    return lambda traces, table: table.filter(pc.invert(_named(table, columns, traces.ids)))


def _quoting(*columns: str) -> Callable[[Traces, pa.Table], pa.Table]:
    """Without the rows that quote a fact in one of these columns of text, or of lists of text."""

    def clean(traces: Traces, table: pa.Table) -> pa.Table:
        rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
        keep = [not traces.quoted_in(*_texts(row)) for row in rows]
        return table.filter(pa.array(keep, pa.bool_()))

    return clean


def _texts(values: Iterable[Any]) -> list[str]:
    return [text for value in values for text in (value if isinstance(value, list) else [value]) if text]


def _lessons(traces: Traces, table: pa.Table) -> pa.Table:
    left = _by_id("memory_id")(traces, table)
    return _quoting("rule", "evidence", "proposed", "note")(traces, left)


def _edges(traces: Traces, table: pa.Table) -> pa.Table:
    """What another memory declared by label stays declared, and leads nowhere."""
    rows = []
    for row in table.to_pylist():
        if row["source_id"] in traces.ids:
            continue
        if row["target_id"] in traces.ids:
            if row["target_label"]:
                rows.append(edge_of(row).pointed_at("").as_row())
            continue
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=table.schema)


def _revisions(traces: Traces, table: pa.Table) -> pa.Table:
    """The history of others, without the edges and the disagreements they had with the memories."""
    left = _by_id("memory_id")(traces, table)
    texts = left["before"].to_pylist()
    cleaned = [
        _cleaned(text, traces.ids) if any(name in text for name in traces.ids) else text for text in texts
    ]
    position = left.schema.get_field_index("before")
    return left.set_column(position, left.schema.field(position), pa.array(cleaned, pa.string()))


def _cleaned(text: str, ids: Collection[str]) -> str:
    if not any(name in text for name in ids):
        return text
    kept: dict[str, Any] = json.loads(text)
    kept["edges"] = [edge for edge in kept["edges"] if not {edge["source_id"], edge["target_id"]} & set(ids)]
    kept["closed"] = [
        row for row in kept["closed"] if not {row["memory_a_id"], row["memory_b_id"]} & set(ids)
    ]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


_CLEANERS: Mapping[str, Callable[[Traces, pa.Table], pa.Table]] = {
    schema.MEMORIES: _by_id("id"),
    schema.EDGES: _edges,
    schema.CONFLICTS: _by_id("memory_a_id", "memory_b_id"),
    schema.ARCHIVE: _by_id("memory_a_id", "memory_b_id"),
    schema.REVISIONS: _revisions,
    schema.QUARANTINE: _quoting("raw", "message"),
    schema.TURNS: _quoting("text", "user_text", "assistant_text", "variants"),
    schema.LESSONS: _lessons,
}
