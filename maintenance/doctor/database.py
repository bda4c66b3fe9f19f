"""Checks of the database itself: what is there, does it open, do its tables agree with one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from maintenance.doctor.findings import Finding, good, note, problem
from maintenance.doctor.model import identity_match
from memories.contract import MemsuiteError
from memories.embedding import Embedder
from memories.repository import MemoryRepository, Snapshot
from memories.repository.foreign import is_older_suite
from memories.repository.health import examine
from memories.settings import Settings

# Enough to look for a cause; the whole list may be as long as the database.
_NAMED = 5


def examine_database(settings: Settings, embedder: Embedder) -> Iterator[Finding]:
    """Open what is there and count; a place with nothing in it stays empty."""
    path = settings.db_path
    if not path.is_dir() or not any(path.iterdir()):
        yield note(
            "database", f"There is no database at {path} yet; the first memory makes it.", path=str(path)
        )
        return
    try:
        repository = MemoryRepository.open(settings, embedder)
    except MemsuiteError as error:
        mend = "Run 'adopt'." if is_older_suite(path) else _remedy(error)
        yield problem("database", error.message, mend, code=str(error.code))
        return
    try:
        yield from _files(settings)
        yield from repository.read(lambda snapshot: list(_tables(snapshot, embedder)))
    except MemsuiteError as error:
        yield problem("database", error.message, _remedy(error), code=str(error.code))
    finally:
        repository.close()


def _files(settings: Settings) -> Iterator[Finding]:
    """Whether every file the current state is made of is there and as long as it was written."""
    found = examine(settings.db_path, settings.backups_dir)
    for damage in found.damage:
        index = damage.path.parent.parent.name == "_indices"
        mend = "The next write makes the index anew." if index else "Bring the directory back from a backup."
        yield problem("files", f"{damage.path}: {damage.what}.", mend, path=str(damage.path))
    if found.usage_fault:
        yield problem(
            "usage",
            f"The counts of use cannot be read ({found.usage_fault}); the memories are not affected.",
            "Move .memsuite/usage.db in the database directory aside; counting begins anew.",
        )
    if not found.damage:
        yield good("files", "Every file of the database is there and complete; 'health --deep' reads them.")


def _tables(snapshot: Snapshot, embedder: Embedder) -> Iterator[Finding]:
    counts = {name: snapshot.row_count(name) for name in sorted(snapshot.head.tables)}
    yield good(
        "database",
        f"The database opens at change {snapshot.generation:,}: {snapshot.count:,} memories.",
        generation=snapshot.generation,
        schema=snapshot.head.schema,
        versions=dict(snapshot.head.tables),
    )
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    yield good("tables", f"Rows: {listed or 'none yet'}.", rows=counts)
    yield from identity_match(embedder, snapshot.embedding_id)
    yield from _ids(snapshot)
    yield from _edges(snapshot)


def _ids(snapshot: Snapshot) -> Iterator[Finding]:
    repeated = [identifier for identifier, times in Counter(_all_ids(snapshot)).items() if times > 1]
    if not repeated:
        yield good("unique_ids", "Every memory has an id of its own.")
        return
    yield problem(
        "unique_ids",
        f"{len(repeated):,} ids are stored more than once, {_some(repeated)}.",
        "Bring the database directory back from a backup.",
        ids=repeated[:_NAMED],
        count=len(repeated),
    )


def _edges(snapshot: Snapshot) -> Iterator[Finding]:
    known = set(_all_ids(snapshot))
    columns = ["edge_key", "source_id", "target_id", "target_label"]
    rows = snapshot.rows("memory_edges", columns=columns)
    # "" is the target of a label that matches nothing yet.
    lost = [row for row in rows if not {row["source_id"], row["target_id"]} <= known | {""}]
    waiting = sorted({row["target_label"] for row in rows if not row["target_id"]})
    if lost:
        yield problem(
            "edges",
            f"{len(lost):,} of {len(rows):,} relations point at a memory that is not stored.",
            "Restore the memory from the trash, or update the memory that declares the relation.",
            edges=[row["edge_key"] for row in lost[:_NAMED]],
            count=len(lost),
        )
    else:
        yield good("edges", f"All {len(rows):,} relations lead somewhere.", count=len(rows))
    if waiting:
        yield note(
            "unresolved_labels",
            f"{len(waiting):,} relation labels match no single memory yet, {_some(waiting)}; they resolve by "
            "themselves once one does.",
            labels=waiting[:_NAMED],
            count=len(waiting),
        )


def _all_ids(snapshot: Snapshot) -> list[str]:
    return [row["id"] for row in snapshot.rows("memories", columns=["id"])]


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" and others" if len(names) > _NAMED else "")


def _remedy(error: MemsuiteError) -> str:
    if error.retryable:
        return "Try again in a moment; if it stays so, bring the database directory back from a backup."
    return "See the message, and docs/errors.md for this code."
