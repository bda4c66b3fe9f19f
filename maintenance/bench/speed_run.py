"""One size of ``bench speed``: fill a database, then do each kind of work a number of times."""

from __future__ import annotations

import random
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from maintenance.bench.filling import fill
from maintenance.bench.hash_vectors import HashEmbedder
from maintenance.bench.made_up import payload, question
from maintenance.bench.operation import BENCH
from maintenance.bench.results import DatabaseState
from maintenance.bench.timing import Timings, timed
from maintenance.bench.workspace import footprint, settings_in
from memories.repository import BulkChange, MemoryRepository
from memories.retrieval.candidates import POOL
from memories.retrieval.request import Mode, SearchRequest
from memories.retrieval.search import search
from memories.text.query import analyse

MANY = 10_000
"""Memories of the bulk tag edit, or all where there are fewer."""

PAGE = 50
FIRST_NEW = 10_000_000
"""Numbers of memories that the fill never reaches."""


@dataclass
class Measured:
    """What was measured at one size. Sent from one process to another."""

    rows: int
    state: DatabaseState
    figures: dict[str, Any]
    times: list[dict[str, Any]] = field(default_factory=list)

    def p50(self, work: str) -> float:
        """The median of a kind of work, in milliseconds."""
        return next(float(row["p50_ms"]) for row in self.times if row["work"] == work)


def measure(directory: Path, rows: int, updates: int, samples: int) -> Measured:
    """Fill a new database in ``directory`` and do each kind of work on it ``samples`` times, after a
    first time that warms up and does not count."""
    settings = settings_in(directory)
    repository = MemoryRepository.open(settings, HashEmbedder())
    started = time.perf_counter()
    fill(repository, rows)
    built = time.perf_counter() - started
    work = _Work(repository, rows, samples)
    work.all(updates)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        cold = pool.submit(cold_search, directory).result()
    work.note("open and first search", Timings([cold["first_search_ms"]]))
    figures = {
        "build_rows_per_s": round(rows / built),
        "rss_peak_mb": peak_rss_mb(),
        "cold_rss_mb": cold["rss_mb"],
        "bytes": footprint(repository.path).bytes,
    }
    state = repository.read(lambda snapshot: DatabaseState.of(f"{rows} rows", snapshot))
    return Measured(rows, state, figures, work.times)


def cold_search(directory: Path) -> dict[str, float]:
    """Open a database and search it once, in a process that has done nothing yet but import."""
    started = time.perf_counter()
    repository = MemoryRepository.open(settings_in(directory), HashEmbedder())
    search(repository, SearchRequest(question(1)))
    return {"first_search_ms": (time.perf_counter() - started) * 1000, "rss_mb": peak_rss_mb()}


def peak_rss_mb() -> float:
    """The most memory this process has had resident, in MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Not getrusage: on Linux its figure begins with what the parent process had.
        (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status.read_text(encoding="ascii"), re.MULTILINE)
        return round(int(kilobytes) / 1e3, 1)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Bytes on macOS, kilobytes elsewhere.
    return round(most / (1e6 if sys.platform == "darwin" else 1e3), 1)


class _Work:
    """The kinds of work on one database, in an order in which none spoils the next."""

    def __init__(self, repository: MemoryRepository, rows: int, samples: int) -> None:
        self._repository = repository
        self._rows = rows
        self._times = samples + 1
        self._chance = random.Random(rows)
        self._fresh = iter(range(FIRST_NEW, 2 * FIRST_NEW))
        self._ids = self._stored()
        self.times: list[dict[str, Any]] = []

    def all(self, updates: int) -> None:
        self._read()
        self._search()
        self._change()
        self._after_changes()
        self._update_much(updates)

    def note(self, work: str, times: Timings) -> None:
        self.times.append({"work": work} | times.as_row())

    def _repeat(
        self, work: str, one: Callable[[Any], object], over: Sequence[Any], warm: bool = True
    ) -> None:
        if warm:
            one(over[0])
        self.note(work, timed(one, over[1:] if warm else over))

    def _some(self) -> list[str]:
        return self._chance.choices(self._ids, k=self._times)

    # -- the kinds --------------------------------------------------------------------------

    def _read(self) -> None:
        repository = self._repository
        offsets = [self._chance.randrange(self._rows) for _ in range(self._times)]
        self._repeat("get", repository.get, self._some())
        self._repeat("list page", lambda at: repository.list_memories(limit=PAGE, offset=at), offsets)
        self._repeat(
            "list page of a tag",
            lambda at: repository.list_memories(tag=f"area {at % 40}", limit=PAGE, offset=at % 20),
            offsets,
        )
        self._repeat("counts", lambda _: _counts(repository), offsets)

    def _search(self) -> None:
        numbers = [self._chance.randrange(self._rows) for _ in range(self._times)]
        questions = [question(number) for number in numbers]
        for mode in (Mode.LEXICAL, Mode.HYBRID, Mode.AUTO):
            self._repeat(f"search {mode}", self._searching(mode), questions)
        words = [analyse(text).lexical_query for text in questions]
        vectors = [self._repository.embedder.embed_query(text) for text in questions]
        snapshot = self._repository.snapshot()
        self._repeat("words alone", lambda text: snapshot.lexical(text, limit=POOL), words)
        self._repeat("vectors alone", lambda vector: snapshot.nearest(vector, limit=POOL), vectors)

    def _change(self) -> None:
        repository = self._repository
        some = self._some()
        patches = [(name, {"facts": [f"written anew as {self._next()}"]}) for name in some]
        self._repeat("add", self._add, self._numbers())
        repeated = self._next()
        self._repeat("add, said again", self._add, [repeated] * self._times)
        self._repeat("update", lambda pair: repository.update(pair[0], pair[1], BENCH, patch=True), patches)
        self._repeat("delete", lambda name: repository.delete(name, BENCH), list(dict.fromkeys(self._some())))
        many = self._stored()[:MANY]
        tags = [BulkChange.of("add_tags", [f"bulk {number}"]) for number in range(2)]
        self._repeat("tag edit of many", lambda tag: repository.apply(tag, many, BENCH), tags, warm=False)

    def _after_changes(self) -> None:
        """Reading right after a change, when what a process keeps in memory is one change behind."""
        self._repeat_after_adds("search after an add", self._searching(Mode.HYBRID))
        self._repeat_after_adds("counts after an add", lambda _: _counts(self._repository))

    def _repeat_after_adds(self, work: str, one: Callable[[str], object]) -> None:
        times = Timings()
        for text in self._questions():
            self._add(self._next())
            with times.one():
                one(text)
        self.note(work, times)

    def _update_much(self, updates: int) -> None:
        known = self._stored()
        for number in range(updates):
            patch = {"facts": [f"as it is after update {number}"]}
            self._repository.update(known[number * 7 % len(known)], patch, BENCH, patch=True)
        self._repeat("add after the updates", self._add, self._numbers())
        self._repeat("search after the updates", self._searching(Mode.HYBRID), self._questions())

    # -- parts ------------------------------------------------------------------------------

    def _add(self, number: int) -> object:
        return self._repository.add(payload(number), BENCH)

    def _searching(self, mode: Mode) -> Callable[[str], object]:
        return lambda text: search(self._repository, SearchRequest(text, mode=mode))

    def _questions(self) -> list[str]:
        return [question(self._chance.randrange(self._rows)) for _ in range(self._times)]

    def _numbers(self) -> list[int]:
        return [self._next() for _ in range(self._times)]

    def _next(self) -> int:
        return next(self._fresh)

    def _stored(self) -> list[str]:
        ids: list[str] = self._repository.catalogue().table["id"].to_pylist()
        return ids


def _counts(repository: MemoryRepository) -> object:
    catalogue = repository.catalogue()
    return [catalogue.counts(column) for column in ("category", "tier", "tags", "domain")]
