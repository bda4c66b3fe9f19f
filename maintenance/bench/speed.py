"""``bench speed``: how long the work on a database takes, and how that grows with its size."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import Result

if TYPE_CHECKING:
    from maintenance.bench.speed_run import Measured

ADD_RATIO_BAR = 1.5
"""Spec 07: an add in the largest database may take this many times one in the smallest."""

BARS: Mapping[str, Mapping[int, tuple[str, float]]] = {
    "search hybrid": {1_000: ("p50_ms", 15), 10_000: ("p50_ms", 25), 100_000: ("p50_ms", 60)},
    "add": {1_000: ("p50_ms", 35)},
    "tag edit of many": {10_000: ("p50_ms", 5_000)},
    "list page": {10_000: ("p95_ms", 100), 100_000: ("p95_ms", 300)},
    "counts after an add": {10_000: ("p95_ms", 100), 100_000: ("p95_ms", 300)},
}
"""Spec 07: work, rows, and the most milliseconds that a column may show. A size between two of them
has the bar of the larger one."""

METRICS = {
    "rows": "made-up memories in the database, about 50 words each",
    "work": "what was done; vectors come from hashes, so no time of an embedding model is in any figure",
    "times": "how often it was done",
    "p50_ms, p95_ms": "from call to answer",
    "bar_ms": "the most that spec 07 allows where it says something",
    "build_rows_per_s": "adding the memories in commits of 2,000, claims, words, tags and hashes included",
    "rss_peak_mb": "most resident memory of the process that filled and measured the database",
    "cold_rss_mb": "most resident memory of a fresh process after its first search",
    "bytes": "the database directory at the end",
    "add_ratio": f"median add in the largest database by that in the smallest; the bar is {ADD_RATIO_BAR:g}",
    "add_after_updates_ratio": "the same for adds after the one-row updates, without any maintenance",
}


def run(given: Run) -> Result:
    """Measure each size in a process of its own, so that one's memory is not another's."""
    sizes: Sequence[int] = given.options["rows"]
    measured = [_measured(given, rows) for rows in sizes]
    rows = [
        {"rows": each.rows, **row, **_bar(row["work"], each.rows)} for each in measured for row in each.times
    ]
    ratios = _ratios(measured)
    figures = {f"{name}_at_{each.rows}": value for each in measured for name, value in each.figures.items()}
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=rows,
        figures=figures | ratios,
        failures=[*_missed(rows), *_grown(ratios)],
        databases=[each.state for each in measured],
    )


def _measured(given: Run, rows: int) -> Measured:
    from maintenance.bench import speed_run

    directory = given.directory / str(rows)
    directory.mkdir()
    updates, samples = given.options["updates"], given.options["samples"]
    with _one_process() as process:
        return process.submit(speed_run.measure, directory, rows, updates, samples).result()


@contextmanager
def _one_process() -> Iterator[ProcessPoolExecutor]:
    # Spawned: the engine's threads do not live on in a fork.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def bar_of(work: str, rows: int) -> tuple[str, float] | None:
    """The column and the milliseconds of the bar for this work at this size, if there is one."""
    sizes = BARS.get(work, {})
    fitting = [size for size in sizes if size >= rows]
    return sizes[min(fitting)] if fitting else None


def _bar(work: str, rows: int) -> dict[str, Any]:
    bar = bar_of(work, rows)
    return {} if bar is None else {"bar_ms": f"{bar[0].removesuffix('_ms')} {bar[1]:g}"}


def _missed(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        bar = bar_of(row["work"], row["rows"])
        if bar is not None and row[bar[0]] > bar[1]:
            column = bar[0].removesuffix("_ms")
            yield f"{row['work']} at {row['rows']:,}: {column} {row[bar[0]]:g} ms, the bar is {bar[1]:g}"


def _ratios(measured: Sequence[Measured]) -> dict[str, float]:
    """How an add grows from the smallest database to the largest."""
    if len(measured) < 2:
        return {}
    by_size = sorted(measured, key=lambda each: each.rows)
    smallest, largest = by_size[0], by_size[-1]
    base = smallest.p50("add")
    return {
        "add_ratio": round(largest.p50("add") / base, 2),
        "add_after_updates_ratio": round(largest.p50("add after the updates") / base, 2),
    }


def _grown(ratios: Mapping[str, float]) -> Iterator[str]:
    for name, ratio in ratios.items():
        if ratio > ADD_RATIO_BAR:
            yield f"{name.replace('_', ' ')}: {ratio:g}, the bar is {ADD_RATIO_BAR:g}"


def _sizes(text: str) -> list[int]:
    sizes = [int(part.replace("_", "")) for part in text.split(",") if part]
    if not sizes or min(sizes) < 10:
        raise argparse.ArgumentTypeError("sizes are whole numbers of 10 or more, with commas between them")
    return sizes


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows",
        type=_sizes,
        default=[1_000, 10_000, 100_000],
        metavar="N,N",
        help="sizes of the databases (1000,10000,100000)",
    )
    parser.add_argument(
        "--updates", type=int, default=2000, metavar="N", help="one-row updates before the last adds (2000)"
    )
    parser.add_argument(
        "--samples", type=int, default=40, metavar="N", help="times of each kind of work (40)"
    )


BENCHMARK = Benchmark(
    name="speed",
    summary="the time of each kind of work on databases of several sizes, without the embedding model",
    arguments=_arguments,
    run=run,
)
