"""``bench write-cost``: what a change costs on the disk, and what many small ones leave behind."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from maintenance.bench.workspace import Footprint
    from memories.repository import MemoryRepository, Snapshot

BULK = 100
"""Memories of one bulk change."""

BULK_SHARE = 10
"""Single changes measured for each bulk one."""

FIRST_NEW = 1_000_000
"""Numbers of memories that the fill never reaches."""

UPDATES_BAR = 10.0
"""Spec 07: at most this many times the live size after one-row updates, before any maintenance."""

METRICS = {
    "change": "the kind of change; compaction that the writer does by itself is in its figures",
    "bytes, files, versions": "what the database directory grew by, mean of one change",
    "p50_ms, p95_ms": "the change from call to acknowledgement, files flushed to the disk (fsync on)",
    "live_bytes": "a fresh copy of all rows of all tables in one commit, history included, text index built",
    "live_bytes_without_history": "the same without the revisions: the memories alone",
    "bytes_after_updates": "the database after the one-row updates, before any maintenance",
    "times_live": f"bytes_after_updates by live_bytes; the bar is {UPDATES_BAR:g}",
    "times_live_without_history": "bytes_after_updates by live_bytes_without_history, for comparison",
    "add_fsync_on_p50_ms": "one add, each new file flushed to the disk",
    "add_fsync_off_p50_ms": "one add without that (MEMSUITE_FSYNC=off), in the same state",
}


def run(given: Run) -> Result:
    """The cost of each kind of change, of flushing, and of many updates of one row."""
    from maintenance.bench.filling import fill

    with _database(given.directory / "kinds") as repository:
        fill(repository, given.options["rows"])
        rows = _kinds(repository, given.options["samples"])
    flushed = {name: _flushing(given, on) for name, on in (("on", True), ("off", False))}
    with _database(given.directory / "updates") as repository:
        figures = _after_updates(given, repository)
        state = repository.read(lambda snapshot: DatabaseState.of("after updates", snapshot))
    figures |= {f"add_fsync_{name}_p50_ms": round(value, 2) for name, value in flushed.items()}
    times = figures["times_live"]
    short = [f"after the updates the database is {times:.1f} times its live size, not {UPDATES_BAR:g}"]
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=rows,
        figures=figures,
        failures=short if times > UPDATES_BAR else [],
        databases=[state],
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of change and what was measured of it."""

    name: str
    change: Callable[[int], object]
    samples: int

    def measure(self, path: Path) -> dict[str, Any]:
        from maintenance.bench.timing import timed
        from maintenance.bench.workspace import footprint

        before = footprint(path)
        times = timed(self.change, range(self.samples))
        grown = footprint(path).since(before)
        per_change = {
            "bytes": round(grown.bytes / self.samples),
            "files": round(grown.files / self.samples, 2),
            "versions": round(grown.versions / self.samples, 2),
        }
        return {"change": self.name} | per_change | times.as_row()


def _kinds(repository: MemoryRepository, samples: int) -> list[dict[str, Any]]:
    from maintenance.bench.made_up import payload
    from maintenance.bench.operation import BENCH
    from memories.repository import BulkChange

    ids = _ids(repository)
    count = len(ids)

    def several(number: int) -> Sequence[str]:
        return [ids[(number * BULK + place) % count] for place in range(min(BULK, count))]

    def update(number: int) -> object:
        patch = {"facts": [f"changed once more, as number {number}", f"port={number + 1}"]}
        return repository.update(ids[number % count], patch, BENCH, patch=True)

    def retag(number: int) -> object:
        patch = {"tags": [f"set {number}"]}
        return repository.update(ids[number % count], patch, BENCH, patch=True)

    kinds = (
        _Kind("add", lambda number: repository.add(payload(FIRST_NEW + number), BENCH), samples),
        _Kind("update of the facts", update, samples),
        _Kind("tag edit", retag, samples),
        _Kind(
            f"tag edit of {BULK}",
            lambda number: repository.apply(
                BulkChange.of("add_tags", [f"b{number}"]), several(number), BENCH
            ),
            -(-samples // BULK_SHARE),
        ),
        _Kind("delete", lambda number: repository.delete(ids[number % count], BENCH), min(samples, count)),
    )
    return [kind.measure(repository.path) for kind in kinds]


def _flushing(given: Run, on: bool) -> float:
    """The median of one add with or without flushing, in milliseconds, each on a database of its own."""
    from maintenance.bench.filling import fill
    from maintenance.bench.made_up import payload
    from maintenance.bench.operation import BENCH
    from maintenance.bench.timing import timed

    with _database(given.directory / f"fsync-{on}", fsync=on) as repository:
        fill(repository, given.options["rows"])
        numbers = range(FIRST_NEW, FIRST_NEW + given.options["samples"])
        return timed(lambda number: repository.add(payload(number), BENCH), numbers).p50


def _after_updates(given: Run, repository: MemoryRepository) -> dict[str, Any]:
    from maintenance.bench.filling import fill
    from maintenance.bench.operation import BENCH
    from maintenance.bench.workspace import footprint

    fill(repository, given.options["rows"])
    ids, updates = _ids(repository), given.options["updates"]
    with given.progress("One-row updates", updates) as progress:
        for number in range(updates):
            patch = {"facts": [f"as it is after update {number}", f"port={number % 60_000 + 1}"]}
            repository.update(ids[number % len(ids)], patch, BENCH, patch=True)
            progress.show(number + 1)
    after = footprint(repository.path)
    live, alone = repository.read(
        lambda snapshot: (
            _fresh_copy(snapshot, given.directory / "live", history=True),
            _fresh_copy(snapshot, given.directory / "alone", history=False),
        )
    )
    return {
        "rows": given.options["rows"],
        "updates": updates,
        "bytes_after_updates": after.bytes,
        "files_after_updates": after.files,
        "versions_after_updates": after.versions,
        "live_bytes": live.bytes,
        "live_bytes_without_history": alone.bytes,
        "times_live": round(after.bytes / live.bytes, 2),
        "times_live_without_history": round(after.bytes / alone.bytes, 2),
    }


def _fresh_copy(snapshot: Snapshot, path: Path, *, history: bool) -> Footprint:
    """Write all rows of a state into new tables, one commit a table, and see what they take."""
    from maintenance.bench.workspace import footprint
    from memories.embedding import EmbeddingIdentity
    from memories.repository import schema
    from memories.repository.files import DatabaseFiles
    from memories.repository.tables import TableChange, Tables

    files = DatabaseFiles(path)
    files.create()
    tables = Tables(files)
    dimension = EmbeddingIdentity.parse(snapshot.embedding_id).dimension
    tables.create(dimension)
    for name, arrow_schema in schema.schemas(dimension).items():
        if name == schema.REVISIONS and not history:
            continue
        rows = {row[schema.KEYS[name]]: row for row in snapshot.rows(name)}
        if rows:
            tables.commit(name, TableChange(added=rows), arrow_schema, fsync=False)
    return footprint(path)


def _ids(repository: MemoryRepository) -> list[str]:
    ids: list[str] = repository.catalogue().table["id"].to_pylist()
    return ids


@contextmanager
def _database(directory: Path, *, fsync: bool = True) -> Iterator[MemoryRepository]:
    from maintenance.bench.hash_vectors import HashEmbedder
    from maintenance.bench.workspace import settings_in
    from memories.repository import MemoryRepository

    with MemoryRepository.open(settings_in(directory, fsync=fsync), HashEmbedder()) as repository:
        yield repository


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=1000, metavar="N", help="memories to begin with (1000)")
    parser.add_argument("--updates", type=int, default=2000, metavar="N", help="one-row updates (2000)")
    parser.add_argument(
        "--samples",
        type=int,
        default=100,
        metavar="N",
        help="changes of each kind: three compactions that a writer does by itself are among 100 (100)",
    )


BENCHMARK = Benchmark(
    name="write-cost",
    summary="bytes, files and versions of each kind of change, and the size after many small ones",
    arguments=_arguments,
    run=run,
)
