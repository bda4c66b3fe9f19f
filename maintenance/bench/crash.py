"""``bench crash``: writers killed at random moments, or many at once; nothing acknowledged may be
lost, and nobody may ever see half a change."""

from __future__ import annotations

import argparse
import pickle
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maintenance.bench.benchmark import Benchmark, Run
from maintenance.bench.results import DatabaseState, Result

if TYPE_CHECKING:
    from maintenance.bench.processes import Worker

SHORTEST_LIFE, LONGEST_LIFE = 0.05, 1.5
"""Seconds from a victim's first change to its kill, drawn evenly."""

TOLD = 10
"""Problems that are told word by word; the figures count all."""

METRICS = {
    "kills": "processes killed (SIGKILL) while they were changing the database",
    "operations": "changes acknowledged before a kill, by kind",
    "in_flight_whole": "changes not acknowledged yet when the kill came that were there in full afterwards",
    "in_flight_absent": "changes not acknowledged yet that had left no trace",
    "tables_beyond_head": "kills that came between the commit of a table and that of HEAD",
    "lost_acknowledged": "reopenings at which an acknowledged change was missing or otherwise; must be 0",
    "half_changes": "states, seen by a reader meanwhile or after reopening, whose tables contradict "
    "one another or the oracle; must be 0",
    "reader_checks": "whole-database checks of the concurrent reader",
    "reader_states": "different states that it saw",
    "open_p50_ms": "opening the database in a fresh process and counting the memories, median",
    "open_p95_ms": "the same, 95th percentile",
    "seconds": "the whole run",
}


def run(given: Run) -> Result:
    """Kill writers one after the other, or with ``--writers`` set several against each other."""
    if given.options["writers"]:
        from maintenance.bench.concurrency import run_writers

        return run_writers(given)
    started = time.monotonic()
    series = _Series(given)
    try:
        series.run()
    finally:
        series.end()
    return series.result(time.monotonic() - started)


@dataclass
class _Tally:
    """What was counted over all kills."""

    operations: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    beyond_head: int = 0
    lost: int = 0
    half: int = 0
    open_ms: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Series:
    """A database, a reader that watches it all the time, and one victim after the other."""

    def __init__(self, given: Run) -> None:
        from maintenance.bench.oracle import Oracle

        self._given = given
        self._kills: int = given.options["kills"]
        self._chance = random.Random(given.options["seed"])
        self._oracle = Oracle()
        self._pending: Any = None
        self._tally = _Tally()
        self._watched: dict[str, int] = {}
        self._done = 0
        self._reader = self._worker("reader")
        self._next = self._worker("victim")

    def _worker(self, role: str) -> Worker:
        from maintenance.bench.processes import Worker

        return Worker(role, self._given.directory)

    def run(self) -> None:
        self._reader.order()
        with self._given.progress("Kills", self._kills) as progress:
            while self._done < self._kills and not self._tally.lost:
                self._one_life(seed=self._chance.randrange(2**32))
                self._done += 1
                progress.show(self._done)
        self._one_life(seed=None)
        self._hear_reader()

    def end(self) -> None:
        """Leave no process behind, however the run ended."""
        for worker in (self._reader, self._next):
            worker.discard()

    def _one_life(self, seed: int | None) -> None:
        """Reopen, check, and with a ``seed`` change things until the kill."""
        victim, self._next = self._next, self._worker("victim")
        path = self._given.directory / "oracle.pickle"
        path.write_bytes(pickle.dumps(self._oracle))
        pending = self._pending.as_json() if self._pending is not None else None
        try:
            victim.order(oracle=str(path), pending=pending, seed=seed)
            self._take_verdict(victim.expect("verified"))
            if seed is None:
                victim.finish()
                return
            life = self._chance.uniform(SHORTEST_LIFE, LONGEST_LIFE)
            said = list(victim.lines(life))
            self._take_log([*said, *victim.kill()])
        finally:
            victim.discard()

    def _take_verdict(self, verdict: dict[str, Any]) -> None:
        from maintenance.bench.operation import Outcome

        tally, pending = self._tally, self._pending
        tally.open_ms.append(verdict["open_ms"])
        tally.beyond_head += bool(verdict["beyond_head"])
        tally.in_flight[verdict["pending"]] += 1
        if verdict["problems"]:
            tally.problems += [f"after kill {self._done}: {problem}" for problem in verdict["problems"]]
            tally.half += verdict["pending"] == "half"
            tally.lost += 1
        if verdict["outcome"] is not None:
            self._oracle.apply(pending, Outcome.of_json(verdict["outcome"]))
        self._pending = None

    def _take_log(self, said: Sequence[tuple[str, Any]]) -> None:
        """Take in what was acknowledged; what has begun only is in flight."""
        from maintenance.bench.operation import Operation, Outcome

        for name, value in said:
            if name == "begin":
                self._pending = Operation.of_json(value)
                continue
            if name == "refused":
                self._tally.problems.append(f"a change that must be possible was refused: {value}")
            else:
                assert self._pending is not None
                self._tally.operations[str(self._pending.kind)] += 1
                self._tally.problems += self._oracle.apply(self._pending, Outcome.of_json(value))
            self._pending = None

    def _hear_reader(self) -> None:
        for name, value in self._reader.finish():
            if name == "watched":
                self._watched = value
                continue
            self._tally.half += name == "half"
            self._tally.problems.append(f"the reader saw: {value}")

    def result(self, seconds: float) -> Result:
        from maintenance.bench.timing import percentile

        tally = self._tally
        figures = {
            "kills": self._done,
            "seed": self._given.options["seed"],
            "operations": dict(tally.operations.most_common()),
            "in_flight_whole": tally.in_flight["whole"],
            "in_flight_absent": tally.in_flight["absent"],
            "tables_beyond_head": tally.beyond_head,
            "lost_acknowledged": tally.lost,
            "half_changes": tally.half,
            "reader_checks": self._watched.get("checks", 0),
            "reader_states": self._watched.get("states", 0),
            "open_p50_ms": round(percentile(tally.open_ms, 0.5), 1),
            "open_p95_ms": round(percentile(tally.open_ms, 0.95), 1),
            "seconds": round(seconds, 1),
        }
        return Result(
            command=self._given.command,
            metrics=METRICS,
            figures=figures,
            failures=told(tally.problems),
            databases=[state_of(self._given.directory)],
        )


def told(problems: Sequence[str]) -> list[str]:
    """The first problems in full and how many more there are."""
    more = len(problems) - TOLD
    return [*problems[:TOLD], *([f"and {more} more"] if more > 0 else [])]


def state_of(directory: Path) -> DatabaseState:
    """The state of the database in a run's directory."""
    from maintenance.bench.hash_vectors import HashEmbedder
    from maintenance.bench.workspace import settings_in
    from memories.repository import MemoryRepository

    with MemoryRepository.open(settings_in(directory), HashEmbedder()) as repository:
        return repository.read(lambda snapshot: DatabaseState.of("generated", snapshot))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=300, metavar="N", help="processes to kill (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the changes and the moments (1)")
    parser.add_argument(
        "--writers", type=int, default=0, metavar="N", help="instead of killing: N writers against each other"
    )
    parser.add_argument("--readers", type=int, default=2, metavar="N", help="that watch the writers (2)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the writers write (60)")


BENCHMARK = Benchmark(
    name="crash",
    summary="kill writers at random, or set several against each other, and hold what is stored to an oracle",
    arguments=_arguments,
    run=run,
)
