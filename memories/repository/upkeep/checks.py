"""Whether what maintenance has written still says what it said before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import is_in
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head
from memories.repository.manifest import Manifest, ManifestError, PartFile, versions_made
from memories.repository.records import content_hash
from memories.repository.snapshot import Snapshot

SAMPLE = 50
"""Memories whose contents are compared row by row, spread over the table."""

SEARCHES = 3
"""Sampled memories that a search by their own words must find."""

FOUND_AMONG = 100
"""Results in which such a memory must be: others may hold the same words."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a state says: rows by table, and of a sample of memories the hash and the indexed words."""

    rows: Mapping[str, int]
    hashes: Mapping[str, str]
    words: Mapping[str, str]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Expected:
        rows = {name: snapshot.row_count(name) for name in snapshot.head.tables}
        ids = sorted(row["id"] for row in snapshot.rows(schema.MEMORIES, columns=["id"]))
        sample = ids[:: max(1, len(ids) // SAMPLE)][:SAMPLE]
        columns = ["id", "content_hash", schema.TEXT]
        sampled = snapshot.rows(schema.MEMORIES, is_in("id", sample), columns) if sample else []
        return cls(
            rows,
            {row["id"]: row["content_hash"] for row in sampled},
            {row["id"]: row[schema.TEXT] for row in sampled},
        )


def verify_contents(expected: Expected, after: Snapshot) -> None:
    """Raises ``store_unavailable`` unless counts, sampled contents, the text index and a search agree."""
    for name, rows in expected.rows.items():
        found = after.row_count(name)
        if found != rows:
            raise _failed(f"{name} holds {found} rows instead of {rows}")
    for memory_id, row in after.full_rows(expected.hashes).items():
        if content_hash(row) != expected.hashes[memory_id]:
            raise _failed(f"the memory {memory_id} differs")
    _verify_search(expected, after)


def _verify_search(expected: Expected, after: Snapshot) -> None:
    if expected.rows.get(schema.MEMORIES) and after.index_rows(schema.MEMORIES, schema.TEXT_INDEX) is None:
        raise _failed("the text index is missing")
    searched = [(name, words) for name, words in expected.words.items() if words][:SEARCHES]
    for memory_id, words in searched:
        distinct = " ".join(dict.fromkeys(words.split()))
        if memory_id not in {name for name, _ in after.lexical(distinct, limit=FOUND_AMONG)}:
            raise _failed(f"a search does not find the memory {memory_id}")
    if after.text_index_failed:
        raise _failed("the text index cannot be read")


def verify_kept_versions(files: DatabaseFiles, head: Head) -> None:
    """Raises ``store_unavailable`` where a version that is still there lacks rows, where the one HEAD
    names lacks anything, or where the HEAD before names one that is gone. An index of an older version
    may be damaged: what is read there is read without it."""
    for name, version in head.tables.items():
        folder = files.table(name)
        kept = versions_made(folder)
        for number in {version, head.previous.get(name, version)}:
            if number not in kept:
                raise _failed(f"version {number} of {name} is gone")
        for number in kept:
            for part in _parts(folder, number, whole=number == version):
                if part.damage:
                    raise _failed(f"version {number} of {name}: {part.path} is {part.damage}")


def _parts(folder: Path, number: int, *, whole: bool) -> list[PartFile]:
    try:
        manifest = Manifest(folder, number)
        rows = [part for fragment in manifest.fragments for part in fragment.files]
        return list(manifest.files()) if whole else rows
    except ManifestError as error:
        raise _failed(str(error)) from error


def _failed(reason: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"What maintenance wrote did not prove to be the same: {reason}. The database is as it was before.",
        received=reason,
    )
