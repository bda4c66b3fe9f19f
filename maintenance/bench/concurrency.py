"""``bench crash --writers``: several processes change one database; in the order of HEAD's generations
their acknowledged changes must give exactly what is stored."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maintenance.bench.benchmark import Run
from maintenance.bench.hash_vectors import HashEmbedder
from maintenance.bench.invariants import violations
from maintenance.bench.operation import Operation, Outcome
from maintenance.bench.oracle import Oracle
from maintenance.bench.processes import Worker
from maintenance.bench.results import Result
from maintenance.bench.timing import percentile
from maintenance.bench.workspace import settings_in
from memories.contract import ErrorCode
from memories.repository import MemoryRepository, Snapshot, schema
from memories.repository.repository import COMMAND_WAIT, CONSOLE_WAIT, PLUGIN_WAIT

DOORS = {"plugin": PLUGIN_WAIT, "console": CONSOLE_WAIT, "command": COMMAND_WAIT}
"""Seconds that the writers wait for the lock, each as one of the doors does."""

TO_BE_MET = frozenset(
    {
        ErrorCode.STORE_BUSY,
        ErrorCode.MEMORY_NOT_FOUND,
        ErrorCode.NOT_FOUND,
        ErrorCode.INVALID_RELATION_TARGET,
        ErrorCode.TOO_MANY_TAGS,
    }
)
"""Refusals that are right where others change what one is about to change oneself."""

LOCK_WAIT_BAR_MS = 1000.0

METRICS = {
    "changes": "acknowledged operations of all writers that changed something",
    "refused": "operations that met what another writer had done meanwhile, by error code",
    "unhandled": "errors of any other kind; must be 0",
    "differences": "where what is stored differs from the changes replayed in the order of HEAD; must be 0",
    "half_changes": "states seen by a reader whose tables contradict one another; must be 0",
    "reader_checks": "whole-database checks of all readers",
    "took": "the whole operation, from call to acknowledgement",
    "waited": "of that, the wait for the other processes' lock; the bar is a p95 below one second",
}


@dataclass
class _Log:
    """What one writer has noted of each operation."""

    door: str
    entries: list[Mapping[str, Any]]

    def as_row(self) -> dict[str, Any]:
        took = [entry["took_ms"] for entry in self.entries]
        waited = [entry["waited_ms"] for entry in self.entries]
        return {
            "door": self.door,
            "lock_wait_s": DOORS[self.door],
            "operations": len(self.entries),
            "took_p50_ms": round(percentile(took, 0.5), 1),
            "took_p95_ms": round(percentile(took, 0.95), 1),
            "waited_p50_ms": round(percentile(waited, 0.5), 1),
            "waited_p95_ms": round(percentile(waited, 0.95), 1),
        }


@dataclass
class _Watched:
    """What the readers said at the end."""

    checks: int = 0
    half: int = 0
    problems: list[str] = field(default_factory=list)

    def hear(self, said: Sequence[tuple[str, Any]]) -> None:
        for name, value in said:
            if name == "watched":
                self.checks += value["checks"]
                continue
            self.half += name == "half"
            self.problems.append(f"a reader saw: {value}")


def run_writers(given: Run) -> Result:
    """Writers and readers side by side for some seconds, then the replay."""
    from maintenance.bench.crash import state_of, told

    logs, watched = _side_by_side(given)
    with MemoryRepository.open(settings_in(given.directory), HashEmbedder()) as repository:
        differences = _replayed(repository, logs) + repository.read(violations)
    entries = [entry for log in logs for entry in log.entries]
    refused = Counter(entry["refused"] for entry in entries if "refused" in entry)
    unhandled = [entry["unhandled"] for entry in entries if "unhandled" in entry]
    unhandled += [
        f"refused with {code}, {times} times" for code, times in refused.items() if code not in TO_BE_MET
    ]
    waited_p95 = percentile([entry["waited_ms"] for entry in entries], 0.95)
    slow = [f"the lock wait has a p95 of {waited_p95:.0f} ms"] if waited_p95 >= LOCK_WAIT_BAR_MS else []
    return Result(
        command=given.command,
        metrics=METRICS,
        rows=[log.as_row() for log in logs],
        figures={
            "seconds": given.options["seconds"],
            "seed": given.options["seed"],
            "changes": sum(bool(_operation_id(entry)) for entry in entries),
            "refused": dict(refused.most_common()),
            "unhandled": len(unhandled),
            "differences": len(differences),
            "half_changes": watched.half,
            "reader_checks": watched.checks,
            "waited_p50_ms": round(percentile([entry["waited_ms"] for entry in entries], 0.5), 1),
            "waited_p95_ms": round(waited_p95, 1),
        },
        failures=told([*unhandled, *differences, *watched.problems, *slow]),
        databases=[state_of(given.directory)],
    )


def _side_by_side(given: Run) -> tuple[list[_Log], _Watched]:
    options, directory = given.options, given.directory
    chance = random.Random(options["seed"])
    doors = [list(DOORS)[number % len(DOORS)] for number in range(options["writers"])]
    readers = [Worker("reader", directory) for _ in range(options["readers"])]
    writers = [Worker("writer", directory) for _ in doors]
    paths = [directory / f"writer-{number}.log" for number in range(len(writers))]
    watched = _Watched()
    try:
        for reader in readers:
            reader.order()
        for writer, door, path in zip(writers, doors, paths, strict=True):
            seed = chance.randrange(2**32)
            writer.order(seed=seed, seconds=options["seconds"], lock_wait=DOORS[door], log=str(path))
        _wait(given, options["seconds"])
        for writer in writers:
            writer.expect("finished")
            writer.finish()
        for reader in readers:
            watched.hear(reader.finish())
    finally:
        for worker in (*readers, *writers):
            worker.discard()
    return [_Log(door, _read_log(path)) for door, path in zip(doors, paths, strict=True)], watched


def _wait(given: Run, seconds: float) -> None:
    started = time.monotonic()
    with given.progress("Seconds", int(seconds)) as progress:
        while (passed := time.monotonic() - started) < seconds:
            progress.show(int(passed))
            time.sleep(min(0.5, seconds - passed))


def _read_log(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(text)["operation"] for text in path.read_text(encoding="utf-8").splitlines()]


def _operation_id(entry: Mapping[str, Any]) -> str:
    return str(entry.get("outcome", {}).get("operation_id", ""))


def _replayed(repository: MemoryRepository, logs: Sequence[_Log]) -> list[str]:
    """Replay every acknowledged change in the order in which HEAD took them; returns the differences."""
    generations = repository.read(_generations)
    acknowledged = {
        operation_id: entry for log in logs for entry in log.entries if (operation_id := _operation_id(entry))
    }
    wrong = [
        f"operation {name} was acknowledged and left no trace" for name in acknowledged.keys() - generations
    ]
    wrong += [f"operation {name} was never acknowledged" for name in generations.keys() - acknowledged]
    oracle = Oracle()
    for operation_id in sorted(acknowledged.keys() & generations.keys(), key=generations.__getitem__):
        entry = acknowledged[operation_id]
        operation, outcome = Operation.of_json(entry["asked"]), Outcome.of_json(entry["outcome"])
        wrong += oracle.apply(operation, outcome)
    return wrong + oracle.differences(repository)


def _generations(snapshot: Snapshot) -> dict[str, int]:
    """The generation of each operation that any row or any kept state tells of."""
    found: dict[str, int] = {}
    for table in (schema.MEMORIES, schema.REVISIONS):
        for row in snapshot.rows(table, columns=["operation_id", "generation"]):
            found[row["operation_id"]] = row["generation"]
    for row in snapshot.rows(schema.REVISIONS, columns=["before"]):
        before = json.loads(row["before"])["row"]
        if before is not None:
            found[before["operation_id"]] = before["generation"]
    return found
