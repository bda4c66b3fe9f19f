"""``bench analyses``: what looking at all memories together takes, first and after a few more came."""

from __future__ import annotations

import argparse
import gc
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from memories.repository import MemoryRepository

ADDED = 100

BARS: Mapping[str, Mapping[int, float]] = {
    "neighbour graph": {10_000: 3.0, 100_000: 60.0},
    "neighbour graph, 100 more": {10_000: 0.15, 100_000: 3.0},
    "near-duplicates": {10_000: 1.0, 100_000: 10.0},
    "clusters": {10_000: 1.0, 100_000: 10.0},
}
"""Spec 07, in seconds; 100 more memories may take 5 % of a whole graph's bar."""

METRICS = {
    "rows": "made-up memories, about 50 words each, of 25 a domain; every twentieth rewords another one",
    "work": "what was computed; near-duplicates and clusters come after the neighbour graph, whose time is "
    "not in theirs",
    "seconds": "from call to answer, once",
    "cpu_s": "processor time of all threads meanwhile: on a busy machine this is the figure that compares",
    "bar_s": "the most seconds that spec 07 allows where it says something",
    "found": "pairs that are near, pairs that say the same, clusters, or memories with a finding",
    "rss_peak_mb": "most resident memory of this process so far",
}


def run(given: Run) -> Result:
    rows: list[dict[str, Any]] = []
    states = []
    for size in given.options["rows"]:
        directory = given.directory / str(size)
        directory.mkdir()
        with given.progress(f"Adding {size:,} memories", size) as line:
            repository = _filled(directory, size, line.show)
        rows += _measured(repository, size)
        states.append(DatabaseState.of(f"{size} memories", repository.snapshot()))
        repository.close()
        shutil.rmtree(directory, ignore_errors=True)
    return Result(
        command=given.command, metrics=METRICS, rows=rows, failures=list(_missed(rows)), databases=states
    )


def _filled(directory: Path, size: int, show: Callable[[int], None]) -> MemoryRepository:
    from maintenance.bench.topic_vectors import TopicEmbedder
    from maintenance.bench.workspace import settings_in
    from memories.repository import MemoryRepository

    repository = MemoryRepository(settings_in(directory, fsync=False), TopicEmbedder())
    for start in range(0, size, 2_000):
        _add(repository, range(start, min(start + 2_000, size)))
        show(min(start + 2_000, size))
    return repository


def _add(repository: MemoryRepository, numbers: range) -> None:
    from maintenance.bench.operation import BENCH
    from maintenance.bench.topic_vectors import memory
    from memories.contract import MemsuiteError

    for result in repository.add_many([memory(number) for number in numbers], BENCH):
        if isinstance(result, MemsuiteError):
            raise result


def _measured(repository: MemoryRepository, size: int) -> Iterator[dict[str, Any]]:
    from memories.analysis.duplicates import duplicates
    from memories.analysis.findings import findings
    from memories.analysis.neighbours import neighbour_graph

    # The vectors in memory are the search's, which has them long before.
    repository.read(lambda snapshot: len(snapshot.all_vectors().ids))
    works: Sequence[tuple[str, Callable[[], int]]] = (
        ("neighbour graph", lambda: len(neighbour_graph(repository).pairs(0.6)[0])),
        ("near-duplicates", lambda: len(duplicates(repository).pairs)),
        ("groups at the default threshold", lambda: len(duplicates(repository).groups())),
        ("findings in single memories", lambda: len(findings(repository).by_memory)),
        *_clusters(repository),
    )
    for name, work in works:
        yield _timed(size, name, work)
    _add(repository, range(10_000_000, 10_000_000 + ADDED))
    repository.read(lambda snapshot: len(snapshot.all_vectors().ids))
    for name, work in works:
        if not name.startswith("groups"):
            yield _timed(size, f"{name}, {ADDED} more", work)


def _clusters(repository: MemoryRepository) -> list[tuple[str, Callable[[], int]]]:
    from memories.analysis.clusters import clusters

    return [("clusters", lambda: len(clusters(repository).clusters))]


def _timed(size: int, name: str, work: Callable[[], int]) -> dict[str, Any]:
    gc.collect()
    started, used = time.perf_counter(), time.process_time()
    found = work()
    row: dict[str, Any] = {
        "rows": size,
        "work": name,
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_s": round(time.process_time() - used, 3),
        "found": found,
        "rss_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    bar = bar_of(name, size)
    return row if bar is None else row | {"bar_s": bar}


def bar_of(name: str, rows: int) -> float | None:
    """The bar of a work at a size, that of the next larger one where it says nothing of this one."""
    sizes = BARS.get(name, {})
    fitting = [size for size in sizes if size >= rows]
    return sizes[min(fitting)] if fitting else None


def _missed(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        if "bar_s" in row and row["seconds"] > row["bar_s"]:
            yield f"{row['work']} at {row['rows']:,}: {row['seconds']:g} s, the bar is {row['bar_s']:g}"


def _sizes(text: str) -> list[int]:
    sizes = [int(part.replace("_", "")) for part in text.split(",") if part]
    if not sizes or min(sizes) < 10:
        raise argparse.ArgumentTypeError("sizes are whole numbers of 10 or more, with commas between them")
    return sizes


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows", type=_sizes, default=[10_000, 100_000], metavar="N,N", help="sizes (10000,100000)"
    )


BENCHMARK = Benchmark(
    name="analyses",
    summary="the time of what looks at all memories: neighbour graph, duplicates, clusters, findings",
    arguments=_arguments,
    run=run,
)
