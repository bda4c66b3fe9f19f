"""The kinds of store that can be read, and telling one from another by what lies there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import StrEnum
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.safe_json import first_value

CHROMA_FILE = "chroma.sqlite3"
BUILTIN_FILES = ("MEMORY.md", "USER.md")
OLDER_SUITE_COLUMNS = frozenset({"links", "access_count"})


class System(StrEnum):
    """What ``--from`` takes, but for ``auto``."""

    MEMSUITE = "memsuite"
    SUITE = "suite"
    SUITE_JSON = "suite-json"
    MEMPALACE = "mempalace"
    MNEMOSYNE = "mnemosyne"
    NEXUS = "nexus"
    HERMES_BUILTIN = "hermes-builtin"
    JSONL = "jsonl"


AUTO = "auto"


def system_named(name: str, path: Path) -> System:
    """The system that ``--from`` means. Raises ``invalid_parameter`` for one there is no reader for, and
    where ``auto`` finds nothing it knows."""
    if name != AUTO:
        try:
            return System(name)
        except ValueError as error:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER,
                "from",
                "There is no reader for this system.",
                received=name,
                expected=[AUTO, *System],
            ) from error
    found = _in_directory(path) if path.is_dir() else _in_file(path)
    if found is None:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "from",
            "What is there cannot be told from the outside. Say with --from what it is.",
            received=str(path),
            expected=list(System),
        )
    return found


def _in_directory(path: Path) -> System | None:
    if (path / CHROMA_FILE).is_file():
        return _palace(path / CHROMA_FILE)
    if (path / "memories.lance").is_dir():
        return System.SUITE
    if any((path / name).is_file() for name in (*BUILTIN_FILES, *(f"memories/{n}" for n in BUILTIN_FILES))):
        return System.HERMES_BUILTIN
    if (path / "mnemosyne.db").is_file():
        return System.MNEMOSYNE
    return None


def _palace(path: Path) -> System:
    """Nexus keeps a trust score with each document; MemPalace knows none."""
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            query = "SELECT 1 FROM embedding_metadata WHERE key = 'trust_score' LIMIT 1"
            return System.NEXUS if connection.execute(query).fetchone() else System.MEMPALACE
    except sqlite3.Error:
        return System.MEMPALACE


def _in_file(path: Path) -> System | None:
    if path.name in BUILTIN_FILES:
        return System.HERMES_BUILTIN
    try:
        with path.open("rb") as file:
            opening = file.read(16)
    except (OSError, ValueError):
        return None
    if opening.startswith(b"SQLite format 3\0"):
        return System.MNEMOSYNE
    first = first_value(path)
    if not isinstance(first, dict):
        return None
    if str(first.get("format", "")).startswith("hermes-memory-suite"):
        return System.MEMSUITE
    # An object over many lines or a large one: what its first key is tells enough.
    return System.SUITE_JSON if "memories" in first and "domain" not in first else System.JSONL
