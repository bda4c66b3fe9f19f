"""HEAD: the table versions that together are the database now.

One line of JSON, replaced by rename. Whatever a killed writer left in a table beyond the
version named here does not exist for anybody.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.repository.files import flush_directory

SCHEMA = 1
"""Number of the table layout this version writes."""

READER = 1
"""A HEAD whose ``min_reader`` is above this cannot be read by this version."""

WRITER = 1
"""A HEAD whose ``min_writer`` is above this cannot be written by this version."""


@dataclass(frozen=True, slots=True)
class Head:
    """One state of the database.

    ``generation`` counts changes of content; compaction moves versions and keeps it. ``lineage``
    names the history the generations belong to: a database made anew or brought back from a backup
    begins another one, so that a cache never takes one history's number for another's.
    ``previous`` holds the versions of the state before, which pruning must spare as well. ``place``
    is the directory this was written in, so that a copy of it knows that it is one.
    """

    generation: int
    tables: Mapping[str, int]
    embedding: str
    lineage: str = ""
    schema: int = SCHEMA
    min_reader: int = READER
    min_writer: int = WRITER
    previous: Mapping[str, int] = field(default_factory=dict)
    place: str = ""

    def as_line(self) -> str:
        return json.dumps(
            {
                "generation": self.generation,
                "tables": dict(sorted(self.tables.items())),
                "schema": self.schema,
                "min_reader": self.min_reader,
                "min_writer": self.min_writer,
                "embedding": self.embedding,
                "lineage": self.lineage,
                "previous": dict(sorted(self.previous.items())),
                "place": self.place,
            },
            separators=(",", ":"),
        )

    def in_layout(self, tables: Mapping[str, int], *, lineage: str) -> Head:
        """The same content in tables of this version's layout."""
        return replace(
            self,
            generation=self.generation + 1,
            tables=dict(tables),
            previous=dict(self.tables),
            lineage=lineage,
            schema=SCHEMA,
            min_reader=READER,
            min_writer=WRITER,
        )

    def require_writer(self) -> None:
        """Raises ``schema_too_new`` when only a newer version may write here."""
        if self.min_writer > WRITER:
            raise _too_new("written", self.min_writer, WRITER)


def parse_head(line: str, path: Path) -> Head:
    """Raises ``store_unavailable`` naming the file when it is not a HEAD of ours, and
    ``schema_too_new`` when a newer version of the suite must read it."""
    try:
        raw = json.loads(line)
        head = _head_of(raw)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "db_path",
            f"{path} is damaged: it does not name the table versions. Nothing was changed; "
            "bring the database directory back from a backup.",
            received=line,
        ) from error
    if head.min_reader > READER:
        raise _too_new("read", head.min_reader, READER)
    return head


def read_line(path: Path) -> str | None:
    """The HEAD line as it stands, or None where there is no HEAD."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE, "db_path", f"{path} cannot be read: {error}", received=str(path)
        ) from error


def write_head(path: Path, head: Head, *, fsync: bool) -> None:
    """Replace HEAD in one step. The temporary name holds the process id, so that what a
    killed writer left is never half of another one's."""
    temporary = path.with_name(f"HEAD.{os.getpid()}.tmp")
    try:
        _write(temporary, head.as_line() + "\n", fsync)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    if fsync:
        flush_directory(path.parent)


def remove_unfinished(path: Path) -> None:
    """Remove what dead writers have left of a new HEAD. Only for the holder of the write lock, since
    nobody else can be writing one then."""
    for leftover in path.parent.glob("HEAD.*.tmp"):
        leftover.unlink(missing_ok=True)


def _write(path: Path, text: str, fsync: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # Through a file object, which goes on after a short write: a disk nearly full takes half a line.
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        if fsync:
            os.fsync(file.fileno())


def _head_of(raw: Any) -> Head:
    return Head(
        generation=int(raw["generation"]),
        tables={str(name): int(version) for name, version in raw["tables"].items()},
        embedding=str(raw["embedding"]),
        lineage=str(raw["lineage"]),
        schema=int(raw["schema"]),
        min_reader=int(raw["min_reader"]),
        min_writer=int(raw["min_writer"]),
        previous={str(name): int(version) for name, version in raw.get("previous", {}).items()},
        place=str(raw.get("place", "")),
    )


def _too_new(verb: str, needed: int, have: int) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.SCHEMA_TOO_NEW,
        "db_path",
        f"A newer version of hermes-memory-suite has written this database, and only such a one can have "
        f"it {verb}. Upgrade the side that says this: the package installed in {sys.prefix}.",
        received=needed,
        expected=have,
    )
