"""JSON lines with the fields of the contract, as ``add_memory`` takes them, and where known also ``id``,
``created_at``, ``updated_at``, ``session_id``, ``user_id`` and ``platform``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memories.contract import MemsuiteError
from memories.interchange.items import Item, MemoryItem, MisfitItem
from memories.interchange.readers import values
from memories.interchange.readers.base import ForeignReader
from memories.interchange.safe_json import bounded_lines, parsed, require_object
from memories.interchange.sources import opened

BESIDE_THE_CONTRACT = ("id", "created_at", "updated_at", "session_id", "user_id", "platform")


class JsonLinesReader(ForeignReader):
    """One memory a line; blank lines count for nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def total(self) -> int:  # type: ignore[override]
        with opened(self._path) as file:
            return sum(1 for _, line in bounded_lines(file) if line.strip())

    def items(self) -> Iterator[Item]:
        with opened(self._path) as file:
            for number, line in bounded_lines(file):
                text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if text.strip():
                    yield _item(text, f"line {number}")


def _item(text: bytes, place: str) -> Item:
    given: dict[str, Any] = {}
    try:
        given = require_object(parsed(text, place), place)
        return _memory(given, place)
    except MemsuiteError as error:
        row = given or {"text": text.decode("utf-8", "replace").strip()}
        return MisfitItem(place, "memory", str(given.get("id", "")), error, row)


def _memory(given: Mapping[str, Any], place: str) -> MemoryItem:
    name = values.identifier(given["id"]) if given.get("id") else ""
    return MemoryItem(
        place=place,
        id=name,
        payload={
            key: value for key, value in given.items() if key not in (*BESIDE_THE_CONTRACT, "write_mode")
        },
        created_at=_time(given, "created_at"),
        updated_at=_time(given, "updated_at"),
        session_id=values.text_of(given.get("session_id"), "session_id"),
        user_id=values.text_of(given.get("user_id"), "user_id"),
        platform=values.text_of(given.get("platform"), "platform"),
    )


def _time(given: Mapping[str, Any], name: str) -> datetime | None:
    value = given.get(name)
    return values.iso_time(value, name) if isinstance(value, str) else values.seconds(value, name)
