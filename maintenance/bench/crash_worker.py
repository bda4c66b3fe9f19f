"""A process of the crash benchmark: ``python -m maintenance.bench.crash_worker ROLE DIRECTORY``.

It says ``ready`` once everything is imported and then waits for one line of JSON, its orders:

* ``victim`` reopens the database, holds it against the oracle, then changes it until it is killed;
* ``writer`` changes it for some seconds beside others, keeping a log;
* ``reader`` checks one state after another until its standard input ends.

Every line it writes is one JSON object with one name.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

from maintenance.bench.hash_vectors import HashEmbedder
from maintenance.bench.invariants import violations
from maintenance.bench.operation import Kind, Operation, Outcome, line, perform
from maintenance.bench.oracle import Oracle
from maintenance.bench.workload import Known, Workload
from maintenance.bench.workspace import settings_in
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository, Snapshot, locks, schema
from memories.repository.engine import connect
from memories.repository.files import DatabaseFiles
from memories.repository.tables import Tables

Orders = Mapping[str, Any]

REST_BETWEEN_CHECKS = 0.02
"""Seconds: a reader that never rests takes the time of those whom it watches."""

LOOK_AROUND_EVERY = 5
"""Operations after which a writer reads again what the others have made of the database."""

LEFT_TO_CHANCE = 40
"""Memories that a writer picks its next changes from."""


def main(role: str, directory: Path) -> None:
    # The engine is loaded before "ready", so that no kill is spent on imports.
    connect(directory / "warm")
    _say("ready", True)
    orders = json.loads(sys.stdin.readline())
    ROLES[role](orders | {"directory": str(directory)})


# -- killed ---------------------------------------------------------------------------------


def victim(orders: Orders) -> None:
    """Check, then change until killed. With no ``seed`` the check is all."""
    oracle: Oracle = pickle.loads(Path(orders["oracle"]).read_bytes())
    pending = Operation.of_json(orders["pending"]) if orders["pending"] else None
    beyond = _beyond_head(Path(orders["directory"]))
    started = time.perf_counter()
    repository = _opened(orders)
    repository.count()
    opened = time.perf_counter() - started
    found = _compared(repository, oracle, pending)
    _say("verified", found | {"open_ms": opened * 1000, "beyond_head": beyond})
    if orders["seed"] is not None and not found["problems"]:
        _change_for_ever(repository, oracle, Workload(orders["seed"], f"kill_{orders['seed']}"))


def _change_for_ever(repository: MemoryRepository, oracle: Oracle, workload: Workload) -> None:
    while True:
        operation = workload.next(_known(oracle))
        _say("begin", operation.as_json())
        try:
            outcome = perform(repository, operation)
        except MemsuiteError as error:
            _say("refused", {"kind": str(operation.kind), "code": str(error.code), "message": error.message})
            continue
        _say("done", asdict(outcome))
        oracle.apply(operation, outcome)


def _known(oracle: Oracle) -> Known:
    stored = {name: (held.domain, held.subject) for name, held in oracle.stored.items()}
    return Known(stored, list(oracle.removed), list(oracle.before))


def _compared(repository: MemoryRepository, oracle: Oracle, pending: Operation | None) -> dict[str, Any]:
    """Whether the acknowledged changes are there, and what became of the one in flight."""
    problems = repository.read(violations)
    without = oracle.differences(repository)
    if not without or pending is None:
        return {"problems": problems + without, "pending": "absent" if pending else "none", "outcome": None}
    outcome = repository.read(lambda snapshot: _last_outcome(snapshot, pending))
    wrong = _applied(oracle, pending, outcome)
    with_it = (wrong or oracle.differences(repository)) if outcome else ["it cannot be told"]
    if with_it:
        return {"problems": problems + without + with_it, "pending": "half", "outcome": None}
    return {"problems": problems, "pending": "whole", "outcome": asdict(outcome) if outcome else None}


def _applied(oracle: Oracle, pending: Operation, outcome: Outcome | None) -> list[str]:
    try:
        return oracle.apply(pending, outcome) if outcome else []
    except (KeyError, ValueError) as error:
        return [f"the change in flight, {pending.kind}, is there in part: {error!r}"]


def _last_outcome(snapshot: Snapshot, operation: Operation) -> Outcome | None:
    """What the newest operation in the database has done, told as its acknowledgement would."""
    latest = f"generation = {snapshot.generation}"
    written = snapshot.memories_where(latest)
    removed = snapshot.rows(schema.REVISIONS, f"removed AND {latest}", ["memory_id", "operation_id"])
    by = {memory.operation_id for memory in written} | {row["operation_id"] for row in removed}
    if len(by) != 1:
        return None
    if operation.kind is Kind.ADD:
        subjects = {memory.subject: memory.id for memory in written}
        ids = [subjects.get(payload["subject"], "") for payload in operation.payloads]
    else:
        ids = [memory.id for memory in written] + [row["memory_id"] for row in removed]
    return Outcome(by.pop(), tuple(ids))


def _beyond_head(directory: Path) -> bool:
    """Whether the kill came between a table's commit and HEAD: the table is past what HEAD names."""
    settings = settings_in(directory)
    head = DatabaseFiles(settings.db_path).head
    if not head.is_file():
        return False
    named = json.loads(head.read_text(encoding="utf-8"))["tables"]
    tables = Tables(DatabaseFiles(settings.db_path))
    return any(tables.version(name) != version for name, version in named.items())


# -- beside others --------------------------------------------------------------------------


def writer(orders: Orders) -> None:
    """Change what is there until the time is up; the log goes to the file that was ordered."""
    repository = _opened(orders, lock_wait=orders["lock_wait"])
    workload = Workload(orders["seed"], f"writer_{orders['seed']}")
    looks = _Looks(repository)
    waits: list[float] = []
    until = time.monotonic() + orders["seconds"]
    with Path(orders["log"]).open("w", encoding="utf-8") as log, _lock_waits(waits):
        while time.monotonic() < until:
            operation = workload.next(looks.known())
            started = time.perf_counter()
            entry = _tried(repository, operation, looks)
            took = (time.perf_counter() - started) * 1000
            waited, waits[:] = max(waits, default=0.0), []
            log.write(line("operation", entry | {"took_ms": took, "waited_ms": waited * 1000}))
    _say("finished", True)


def _tried(repository: MemoryRepository, operation: Operation, looks: _Looks) -> dict[str, Any]:
    try:
        outcome = perform(repository, operation)
    except MemsuiteError as error:
        return {"asked": operation.as_json(), "refused": str(error.code)}
    except Exception as error:  # any other error is what this benchmark looks for
        return {"asked": operation.as_json(), "unhandled": repr(error)}
    looks.took(operation, outcome)
    return {"asked": operation.as_json(), "outcome": asdict(outcome)}


class _Looks:
    """What a writer sees of the database from time to time."""

    def __init__(self, repository: MemoryRepository) -> None:
        self._repository = repository
        self._known = Known()
        self._operations: list[str] = []
        self._since = LOOK_AROUND_EVERY

    def known(self) -> Known:
        self._since += 1
        if self._since > LOOK_AROUND_EVERY:
            self._since = 0
            self._known = self._look()
        return self._known

    def took(self, operation: Operation, outcome: Outcome) -> None:
        if outcome.operation_id:
            self._operations.append(outcome.operation_id)

    def _look(self) -> Known:
        table = self._repository.catalogue().table.select(["id", "domain", "subject"])
        rows = table.slice(max(0, table.num_rows - LEFT_TO_CHANCE)).to_pylist()
        trash = self._repository.trash(limit=LEFT_TO_CHANCE)[1]
        return Known(
            {row["id"]: (row["domain"], row["subject"]) for row in rows},
            [revision.memory_id for revision in trash],
            self._operations,
        )


@contextmanager
def _lock_waits(waits: list[float]) -> Iterator[None]:
    """Notes the seconds that each taking of the write lock waits for the other processes. The
    repository has no use for that number, so it is measured round the one call that waits."""
    waiting = locks._take

    def measured(path: Path, deadline: float) -> Any:
        started = time.perf_counter()
        try:
            return waiting(path, deadline)
        finally:
            waits.append(time.perf_counter() - started)

    with patch.object(locks, "_take", measured):
        yield


# -- watching -------------------------------------------------------------------------------


def reader(orders: Orders) -> None:
    """Check states until standard input ends; says what was wrong with any, and how many it saw."""
    repository = _opened(orders)
    checks, errors = 0, 0
    seen: set[int] = set()
    told: set[str] = set()
    while not _input_ended():
        try:
            generation, wrong = repository.read(lambda state: (state.generation, violations(state)))
        except MemsuiteError as error:
            errors += 1
            _say("unhandled", error.message)
            continue
        checks += 1
        seen.add(generation)
        if news := [problem for problem in wrong if problem not in told]:
            # What stays wrong is told once: the next states are not to blame for it.
            told.update(news)
            _say("half", {"generation": generation, "problems": news[:5]})
        time.sleep(REST_BETWEEN_CHECKS)
    _say("watched", {"checks": checks, "states": len(seen), "errors": errors})


def _input_ended() -> bool:
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(readable)


def _opened(orders: Orders, lock_wait: float = 10.0) -> MemoryRepository:
    settings = settings_in(Path(orders["directory"]))
    return MemoryRepository.open(settings, HashEmbedder(), lock_wait=lock_wait)


def _say(name: str, value: object) -> None:
    # Straight to the pipe in one piece: what is written outlives a kill, what is buffered does not.
    os.write(1, line(name, value).encode())


ROLES: dict[str, Callable[[Orders], None]] = {"victim": victim, "writer": writer, "reader": reader}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
