"""The older suite's JSON export: memories, typed_edges and conflicts in one object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.documents import elements
from memories.interchange.items import Item, MisfitItem
from memories.interchange.readers.base import ForeignReader
from memories.interchange.readers.older_rows import conflict_item, edge_of_row, memory_items
from memories.interchange.readers.values import plain
from memories.interchange.safe_json import require_object
from memories.repository.edges import Edge

_KINDS = {"memories": "memory", "conflicts": "conflict"}


class SuiteJsonReader(ForeignReader):
    """Read twice: edges come last in the file, and a memory is not whole without its own."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def items(self) -> Iterator[Item]:
        ids: set[str] = set()
        declared: dict[str, list[Edge]] = {}
        for name, number, value in elements(self._path):
            if name == "memories" and isinstance(value, dict):
                ids.add(str(value.get("id")))
            elif name == "typed_edges":
                found = _edge(value, f"typed_edges[{number - 1}]")
                if isinstance(found, Edge):
                    declared.setdefault(found.source_id, []).append(found)
                else:
                    yield found
        for name, number, value in elements(self._path):
            place = f"{name}[{number - 1}]"
            if name not in _KINDS:
                continue
            if not isinstance(value, dict):
                yield MisfitItem(place, _KINDS[name], "", _no_object(place), {"value": value})
            elif name == "memories":
                yield from memory_items(value, place, ids, declared)
            else:
                yield conflict_item(value, place)


def _edge(value: object, place: str) -> Edge | Item:
    try:
        return edge_of_row(require_object(value, place))
    except MemsuiteError as error:
        row = plain(value) if isinstance(value, dict) else {"value": str(value)[:200]}
        return MisfitItem(place, "edge", str(row.get("from", "")), error, row)


def _no_object(place: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_TYPE, place, "This is no object.", expected="a JSON object")
