"""How the text of each memory stands to the form this suite writes: of an older database, what an import
would make of it; of our own, whether what is derived still follows from what it was derived from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from memories.contract import MemsuiteError, validate_add
from memories.interchange.exporting import rows_in_order
from memories.interchange.items import Item, MemoryItem, MisfitItem
from memories.interchange.readers import reader_of
from memories.interchange.systems import System
from memories.repository import MemoryRepository, schema
from memories.repository.records import Row
from memories.screening import refuse_secrets

_FIELDS = ("domain", "subject", "facts", "tier", "category", "tags", "quality", "type")
# The older suite left the last fact open; that is how it wrote, not another text.
_CLOSING = re.compile(r"\.(?=\s|$)")


class Plan(StrEnum):
    """What would become of a row."""

    CANONICAL = "canonical"
    AUTO_FIX = "auto_fix"
    QUARANTINE = "quarantine"
    WARNING_ONLY = "warning_only"

    @property
    def drifts(self) -> bool:
        return self in (Plan.AUTO_FIX, Plan.QUARANTINE)


@dataclass(frozen=True, slots=True)
class FormatRow:
    """``after`` is the text as it would be written, "" where nothing would be."""

    id: str
    plan: Plan
    code: str
    message: str
    after: str = ""

    def as_answer(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "plan": str(self.plan),
            "code": self.code,
            "message": self.message,
            "after": self.after,
        }


def counts(rows: Iterable[FormatRow]) -> dict[str, int]:
    found = Counter(str(row.plan) for row in rows)
    return {str(plan): found[str(plan)] for plan in Plan}


def older_formats(path: Path) -> Iterator[FormatRow]:
    """The rows of a directory of the older suite. Writes nothing."""
    troubled: dict[str, MisfitItem] = {}
    for item in reader_of(System.SUITE, path).items():
        if isinstance(item, MisfitItem) and item.kind == "edge":
            troubled[item.id] = item
        elif isinstance(item, MemoryItem | MisfitItem) and _is_memory(item):
            yield _older(item, troubled.get(item.id))


def own_formats(repository: MemoryRepository) -> Iterator[FormatRow]:
    """The memories of a database of ours. Writes nothing."""
    snapshot = repository.snapshot()
    for row in rows_in_order(repository, snapshot, schema.MEMORIES, vectors=False):
        yield _own(row)


def _is_memory(item: Item) -> bool:
    return isinstance(item, MemoryItem) or (isinstance(item, MisfitItem) and item.kind == "memory")


def _older(item: MemoryItem | MisfitItem, edge: MisfitItem | None) -> FormatRow:
    if isinstance(item, MisfitItem):
        return _refused(item.id, item.error)
    try:
        request = validate_add(item.payload)
        refuse_secrets(request.form)
    except MemsuiteError as error:
        return _refused(item.id, error)
    before, after = str((item.original or {}).get("content", "")), request.form.content
    if _without_closing(before) != _without_closing(after):
        return FormatRow(
            item.id, Plan.AUTO_FIX, "rewritten", "It would be written in the canonical form.", after
        )
    if edge is not None:
        return FormatRow(item.id, Plan.WARNING_ONLY, str(edge.error.code), edge.error.message, after)
    return _warned(item.id, request.warnings, after)


def _own(row: Row) -> FormatRow:
    name = row["id"]
    try:
        request = validate_add({field: row[field] for field in _FIELDS})
    except MemsuiteError as error:
        return _refused(name, error)
    after = request.form.content
    if row["content"] != after:
        return FormatRow(name, Plan.AUTO_FIX, "rewritten", "The text does not follow from the facts.", after)
    return _warned(name, request.warnings, after)


def _refused(name: str, error: MemsuiteError) -> FormatRow:
    return FormatRow(name, Plan.QUARANTINE, str(error.code), f"{error.field}: {error.message}")


def _warned(name: str, warnings: Iterable[dict[str, str]], after: str) -> FormatRow:
    for warning in warnings:
        return FormatRow(name, Plan.WARNING_ONLY, warning["code"], warning["message"], after)
    return FormatRow(name, Plan.CANONICAL, "", "", after)


def _without_closing(text: str) -> str:
    return _CLOSING.sub("", " ".join(text.split()))
