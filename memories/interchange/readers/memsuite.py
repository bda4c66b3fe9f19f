"""An export of this suite."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError, RelationType
from memories.contract.limits import RELATION_TARGET_MAX
from memories.interchange.header import Header, header_of
from memories.interchange.items import Item, MemoryItem, MisfitItem, RowItem, TurnItem
from memories.interchange.readers import values
from memories.interchange.rows import TABLES, row_of
from memories.interchange.safe_json import bounded_lines, parsed, require_object
from memories.interchange.sources import opened
from memories.repository import schema
from memories.repository.edges import edge_of, make_edge
from memories.repository.import_stage import USAGE
from memories.repository.ledger import AUTO, HUMAN, OPEN, RESOLVED, conflict_key
from memories.repository.lessons import LessonStatus
from memories.repository.records import LIGHT, Row, embedding_text_of

_HASH = re.compile(r"[0-9a-f]{64}")
_OPENING = re.compile(rb'\{"table":"(?P<table>\w{1,40})","row":\{')
"""How every line begins; what it goes on with is looked at when the row is taken."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_KINDS = {
    schema.MEMORIES: "memory",
    schema.EDGES: "edge",
    schema.CONFLICTS: "conflict",
    schema.ARCHIVE: "conflict",
    schema.REVISIONS: "revision",
    schema.TURNS: "turn",
    schema.LESSONS: "lesson",
    schema.QUARANTINE: "quarantine",
    USAGE: "usage",
}
_PAYLOAD = ("domain", "subject", "facts", "tier", "category", "tags", "quality", "type")


class MemsuiteReader:
    """Read twice: once to see that the file is whole, before anything is taken from it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def header(self) -> Header:
        with opened(self._path) as file:
            _, line = next(bounded_lines(file), (0, b""))
            return header_of(parsed(line, "line 1"))

    @property
    def total(self) -> int:
        return sum(table.rows for table in self.header.tables.values())

    @property
    def whole(self) -> bool:
        return set(self.header.tables) == set(TABLES)

    @property
    def generation(self) -> int:
        return self.header.generation

    def items(self) -> Iterator[Item]:
        self._require_whole_file()
        for number, table, value in self._lines():
            yield self._item(f"line {number}", table, value)

    def _lines(self) -> Iterator[tuple[int, str, Any]]:
        with opened(self._path) as file:
            for number, line in bounded_lines(file):
                if number > 1:
                    given = require_object(parsed(line, f"line {number}"), f"line {number}")
                    yield number, str(given.get("table")), given.get("row")

    def _require_whole_file(self) -> None:
        """Raises ``invalid_parameter`` where a table is not as the header says."""
        digests = {name: hashlib.sha256() for name in TABLES}
        counts = dict.fromkeys(TABLES, 0)
        with opened(self._path) as file:
            for number, line in bounded_lines(file):
                if number == 1:
                    continue
                opening = _OPENING.match(line)
                table = opening["table"].decode("ascii") if opening else ""
                if table not in digests:
                    raise _damaged(f"line {number}")
                digests[table].update(line)
                counts[table] += 1
        for name, table_header in self.header.tables.items():
            if (counts[name], digests[name].hexdigest()) != (table_header.rows, table_header.sha256):
                raise _damaged(name)

    def _item(self, place: str, table: str, value: Any) -> Item:
        try:
            row = row_of(table, value, place, vectors=self.header.vectors)
            return _ITEMS[table](place, row, self.header.embedding)
        except MemsuiteError as error:
            given = value if isinstance(value, dict) else {"value": str(value)[:200]}
            name = str(given.get("id", given.get("memory_id", "")))
            return MisfitItem(place, _KINDS[table], name, error, values.plain(given))


def _memory(place: str, row: Row, embedding: str) -> Item:
    if not _HASH.fullmatch(row["fingerprint"] or ""):
        raise _impossible("fingerprint", row["fingerprint"])
    _require_counting(row, "revision", "generation")
    kept = (
        "tags_manual",
        "source",
        "fingerprint",
        "revision",
        "operation_id",
        "generation",
        "reviewed_at",
        "approved_by",
    )
    return MemoryItem(
        place=place,
        id=values.identifier(row["id"]),
        payload={name: row[name] for name in _PAYLOAD},
        created_at=_present(row, "created_at"),
        updated_at=_present(row, "updated_at"),
        session_id=row["session_id"] or "",
        user_id=row["user_id"] or "",
        platform=row["platform"] or "",
        vector=row.get("vector"),
        embedding_id=embedding if row.get("vector") is not None else "",
        columns={name: row[name] for name in kept},
    )


def _edge(place: str, row: Row, embedding: str) -> Item:
    edge = edge_of(row)
    values.identifier(edge.source_id, "source_id")
    if edge.target_id:
        values.identifier(edge.target_id, "target_id")
    made = make_edge(edge.source_id, edge.relation_type, edge.target_id, edge.target_label, edge.created_at)
    known = edge.relation_type in set(RelationType) and (edge.target_id or edge.target_label)
    if not known or made.edge_key != edge.edge_key or len(edge.target_label) > RELATION_TARGET_MAX:
        raise _impossible("edge_key", edge.edge_key)
    _present(row, "created_at")
    return RowItem(schema.EDGES, row)


def _conflict(table: str) -> Callable[[str, Row, str], Item]:
    def item(place: str, row: Row, embedding: str) -> Item:
        one = values.identifier(row["memory_a_id"], "memory_a_id")
        other = values.identifier(row["memory_b_id"], "memory_b_id")
        if row["conflict_key"] != conflict_key(one, other, row["claim_key"] or ""):
            raise _impossible("conflict_key", row["conflict_key"])
        if row["status"] not in (OPEN, RESOLVED) or row["resolution_type"] not in ("", AUTO, HUMAN):
            raise _impossible("status", row["status"])
        _present(row, "created_at")
        return RowItem(table, row)

    return item


def _revision(place: str, row: Row, embedding: str) -> Item:
    values.identifier(row["memory_id"], "memory_id")
    _require_counting(row, "revision", "generation")
    _present(row, "at")
    kept = require_object(parsed(row["before"] or "", f"{place} before"), "before")
    before = kept.get("row")
    if not {"row", "edges", "closed"} <= kept.keys() or not isinstance(kept["edges"], list):
        raise _impossible("before", None)
    if before is None:
        return RowItem(schema.REVISIONS, row)
    if (
        not isinstance(before, dict)
        or not set(LIGHT) <= before.keys()
        or before.get("id") != row["memory_id"]
    ):
        raise _impossible("before", None)
    # A state that an earlier model had embedded is embedded anew only when it is restored.
    text = _words(before) if before["embedding_id"] == embedding else ""
    return RowItem(schema.REVISIONS, row, text)


def _words(before: Mapping[str, Any]) -> str:
    facts = before["facts"]
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise _impossible("before", None)
    return embedding_text_of(str(before["domain"]), str(before["subject"]), facts)


def _turn(place: str, row: Row, embedding: str) -> Item:
    _require_counting(row, "seen_count", "generation")
    _present(row, "occurred_at")
    _present(row, "last_seen_at")
    if not 0 <= (row["trust"] or 0) <= 1:
        raise _impossible("trust", row["trust"])
    vectors = {name: row[name] for name in ("vector", "context_vector") if row.get(name) is not None}
    columns = {
        name: value for name, value in row.items() if name not in ("id", "text", "vector", "context_vector")
    }
    name, text = values.identifier(row["id"]), values.text_of(row["text"], "text")
    return TurnItem(place, name, text, columns, vectors, embedding if vectors else "")


def _lesson(place: str, row: Row, embedding: str) -> Item:
    values.identifier(row["id"])
    evidence = parsed(row["evidence"] or "", f"{place} evidence")
    proposed = require_object(parsed(row["proposed"] or "", f"{place} proposed"), "proposed")
    if not isinstance(evidence, list) or row["status"] not in set(LessonStatus) or "category" not in proposed:
        raise _impossible("status", row["status"])
    _require_counting(row, "count", "generation")
    _present(row, "created_at")
    _present(row, "updated_at")
    return RowItem(schema.LESSONS, row)


def _quarantined(place: str, row: Row, embedding: str) -> Item:
    values.identifier(row["id"])
    if row["raw"]:
        require_object(parsed(row["raw"], f"{place} raw"), "raw")
    _present(row, "at")
    return RowItem(schema.QUARANTINE, row)


def _usage(place: str, row: Row, embedding: str) -> Item:
    values.identifier(row["memory_id"], "memory_id")
    _require_counting(row, "recalls", "confirmations")
    if not _DAY.fullmatch(row["day"] or ""):
        raise _impossible("day", row["day"])
    values.iso_time(row["last_recalled_at"], "last_recalled_at")
    return RowItem(USAGE, row)


_ITEMS: Mapping[str, Callable[[str, Row, str], Item]] = {
    schema.MEMORIES: _memory,
    schema.EDGES: _edge,
    schema.CONFLICTS: _conflict(schema.CONFLICTS),
    schema.ARCHIVE: _conflict(schema.ARCHIVE),
    schema.REVISIONS: _revision,
    schema.TURNS: _turn,
    schema.LESSONS: _lesson,
    schema.QUARANTINE: _quarantined,
    USAGE: _usage,
}


def _require_counting(row: Row, *names: str) -> None:
    for name in names:
        if not isinstance(row[name], int) or row[name] < 0:
            raise _impossible(name, row[name])


def _present(row: Row, name: str) -> Any:
    if row[name] is None:
        raise _impossible(name, None)
    return row[name]


def _impossible(field: str, received: object) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, field, "No row of ours says this.", received=received)


def _damaged(table: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        "source",
        "The file is damaged or was changed: a table is not as its header says.",
        received=table,
    )
