"""The first line of an export: what is in the file, and a hash of each table by which it is told whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.interchange.rows import TABLES
from memories.interchange.safe_json import require_object

FORMAT = "hermes-memory-suite export"
VERSION = 1
"""Of the export's lines; a reader refuses a higher one."""

_WIDEST = 2**53
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class TableHeader:
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Header:
    """``embedding`` is the model of all vectors, ``generation`` that of the state exported, ``schema`` the
    number of the table layout."""

    embedding: str
    vectors: bool
    generation: int
    schema: int
    tables: Mapping[str, TableHeader]

    def as_line(self) -> bytes:
        """Always as long as a header can get, filled up with blanks: the counts are known only when the
        rows behind it are written."""
        text = self._text()
        return text + b" " * (len(self._widest()._text()) - len(text)) + b"\n"

    def _text(self) -> bytes:
        tables = {name: {"rows": found.rows, "sha256": found.sha256} for name, found in self.tables.items()}
        values = {
            "format": FORMAT,
            "version": VERSION,
            "schema": self.schema,
            "contract": CONTRACT_VERSION,
            "embedding": self.embedding,
            "vectors": self.vectors,
            "generation": self.generation,
            "tables": tables,
        }
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")

    def _widest(self) -> Header:
        widest = {name: TableHeader(_WIDEST, _NO_HASH) for name in TABLES}
        return Header(self.embedding, False, self.generation, self.schema, widest)


def header_of(value: Any) -> Header:
    """Raises ``invalid_type`` where it is no header of ours, ``schema_too_new`` where a newer version of the
    suite wrote the file."""
    given = require_object(value, "line 1")
    if given.get("format") != FORMAT:
        raise _no_header(given.get("format"))
    if not isinstance(given.get("version"), int) or given["version"] > VERSION:
        raise MemsuiteError(
            ErrorCode.SCHEMA_TOO_NEW,
            "version",
            "A newer version of hermes-memory-suite wrote this file: upgrade this one.",
            received=given.get("version"),
            expected=VERSION,
        )
    try:
        tables = {
            name: TableHeader(_count(found["rows"]), str(found["sha256"]))
            for name, found in require_object(given["tables"], "tables").items()
            if name in TABLES
        }
        return Header(
            str(given["embedding"]),
            bool(given["vectors"]),
            _count(given["generation"]),
            _count(given["schema"]),
            tables,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _no_header(None) from error


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _WIDEST:
        raise ValueError(value)
    return value


def _no_header(received: Any) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_TYPE,
        "line 1",
        "The file does not open with the header of an export.",
        received=received,
        expected=FORMAT,
    )
