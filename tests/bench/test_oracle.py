"""The crash benchmark's judges must themselves be able to say no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maintenance.bench.hash_vectors import HashEmbedder
from maintenance.bench.invariants import violations
from maintenance.bench.operation import BENCH, Kind, Operation, Outcome, perform
from maintenance.bench.oracle import Oracle
from maintenance.bench.workload import Known, Workload
from maintenance.bench.workspace import settings_in
from memories.repository import MemoryRepository, schema

STEPS = 60


@pytest.fixture
def repository(tmp_path: Path) -> MemoryRepository:
    return MemoryRepository.open(settings_in(tmp_path, fsync=False), HashEmbedder())


def _worked(repository: MemoryRepository, steps: int = STEPS, seed: int = 2) -> tuple[Oracle, set[Kind]]:
    oracle, workload, kinds = Oracle(), Workload(seed, "test"), set()
    for _ in range(steps):
        stored = {name: (held.domain, held.subject) for name, held in oracle.stored.items()}
        operation = workload.next(Known(stored, list(oracle.removed), list(oracle.before)))
        assert oracle.apply(operation, perform(repository, operation)) == []
        kinds.add(operation.kind)
    return oracle, kinds


def test_repository_and_oracle_agree_after_changes_of_every_kind(repository: MemoryRepository) -> None:
    oracle, kinds = _worked(repository)
    assert kinds == set(Kind)
    assert oracle.differences(repository) == []
    assert repository.read(violations) == []


@pytest.fixture
def one(repository: MemoryRepository) -> tuple[Oracle, str]:
    """An oracle that knows the one memory stored, and its id."""
    oracle = Oracle()
    operation = Workload(1, "one").next(Known())
    outcome = perform(repository, operation)
    assert oracle.apply(operation, outcome) == []
    assert oracle.differences(repository) == []
    return oracle, outcome.ids[0]


@pytest.mark.parametrize(
    "patch",
    [{"facts": ["port=9"]}, {"quality": 0.123}, {"relations": [{"type": "uses", "target": "No:one"}]}],
)
def test_a_change_behind_the_oracle_s_back_is_a_difference(
    repository: MemoryRepository, one: tuple[Oracle, str], patch: dict[str, Any]
) -> None:
    oracle, memory_id = one
    repository.update(memory_id, patch, BENCH, patch=True)
    (difference,) = oracle.differences(repository)
    assert difference.startswith(memory_id)


def test_a_lost_memory_is_a_difference(repository: MemoryRepository, one: tuple[Oracle, str]) -> None:
    oracle, memory_id = one
    repository.delete(memory_id, BENCH)
    assert oracle.differences(repository) == [
        f"not stored: {memory_id}",
        f"in the trash, though nobody put it there: {memory_id}",
    ]


def test_an_outcome_that_names_the_wrong_memories_is_told(
    repository: MemoryRepository, one: tuple[Oracle, str]
) -> None:
    oracle, memory_id = one
    assert oracle.apply(Operation(Kind.DELETE, (memory_id,)), Outcome("some", ())) != []


def _break(repository: MemoryRepository, table: str, change: dict[str, Any]) -> None:
    """Change a row behind the back of everything that keeps rows together."""
    store = repository._store
    with store.transaction(BENCH, "break", wait=1) as transaction:
        columns = None if table == schema.MEMORIES else []
        ids = [row["id"] for row in transaction.snapshot.rows(schema.MEMORIES, columns=["id"])]
        row = transaction.snapshot.full_rows(ids)[ids[0]] if columns is None else {}
        transaction.replace(table, row | change)


def test_a_wrong_content_hash_is_a_violation(repository: MemoryRepository, one: tuple[Oracle, str]) -> None:
    _break(repository, schema.MEMORIES, {"subject": "another"})
    assert repository.read(violations) == [f"{one[1]}: the content hash is wrong"]


def test_an_edge_from_nowhere_is_a_violation(repository: MemoryRepository, one: tuple[Oracle, str]) -> None:
    edge = {
        "edge_key": "k",
        "source_id": "gone",
        "relation_type": "uses",
        "target_id": "",
        "target_label": "x",
    }
    _break(repository, schema.EDGES, edge)
    (wrong,) = repository.read(violations)
    assert wrong.endswith("gone is not stored")


def test_a_row_without_its_history_is_a_violation(
    repository: MemoryRepository, one: tuple[Oracle, str]
) -> None:
    _break(repository, schema.MEMORIES, {"revision": 2, "operation_id": "unknown"})
    assert f"{one[1]}: the history lacks operation unknown" in repository.read(violations)


def test_operations_and_outcomes_survive_the_pipe() -> None:
    operation = Operation(Kind.UPDATE, ("a",), patch={"facts": ["port=1"]})
    assert Operation.of_json(operation.as_json()) == operation
