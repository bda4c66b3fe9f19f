"""The form of what is stored: audit and migration plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memories.interchange.formats import Plan, counts, older_formats, own_formats
from memories.interchange.older_edges import older_plan
from memories.repository import Author, schema
from memories.repository.edges import edge_of
from memories.repository.retention import Fault
from tests.interchange.conftest import Made, Print

Maker = Callable[..., dict[str, Any]]


def test_rows_of_an_older_database_are_sorted_by_what_would_become_of_them(
    older_suite: Path, fingerprint: Print
) -> None:
    before = fingerprint(older_suite)
    rows = {row.id: row for row in older_formats(older_suite)}
    assert rows["0a1b2c3d-4e5"].plan is Plan.CANONICAL
    assert rows["1a1b2c3d-4e5"].plan is Plan.AUTO_FIX
    assert rows["1a1b2c3d-4e5"].after.startswith("Orchard:database Runs on PostgreSQL 16. port=5432.")
    assert (rows["4a1b2c3d-4e5"].plan, rows["4a1b2c3d-4e5"].code) == (Plan.QUARANTINE, "missing_tier_marker")
    assert rows["7a1b2c3d-4e5"].plan is Plan.WARNING_ONLY
    assert counts(rows.values()) == {"canonical": 8, "auto_fix": 3, "quarantine": 5, "warning_only": 1}
    assert fingerprint(older_suite) == before


def test_memories_of_our_own_are_canonical(made: Made, payload: Maker, author: Author) -> None:
    store = made("a")
    store.add(payload("gateway"), author)
    store.add(payload("tool"), author)
    assert [row.plan for row in own_formats(store)] == [Plan.CANONICAL, Plan.WARNING_ONLY]


def test_a_text_that_does_not_follow_from_the_facts_is_drift(
    made: Made, payload: Maker, author: Author
) -> None:
    store = made("a")
    name = store.add(payload("gateway"), author).memory_id
    with store._store.transaction(author, "spoil", wait=1) as transaction:
        row = transaction.snapshot.full_rows([name])[name]
        transaction.replace(schema.MEMORIES, row | {"content": "Orchard:gateway something else [Tier=2]"})
    (found,) = own_formats(store)
    assert found.plan.drifts


def test_edges_of_an_older_database_that_lead_nowhere_are_named(older_suite: Path) -> None:
    plan = older_plan(older_suite)
    assert [(edge.source_id, fault) for edge, fault in plan.faulty] == [
        ("7a1b2c3d-4e5", Fault.TARGET_GONE),
        ("gone0000-bee", Fault.SOURCE_GONE),
    ]
    assert plan.unresolved == 2


def test_edges_that_lead_nowhere_are_removed_and_come_back_with_the_undo(
    made: Made, payload: Maker, author: Author
) -> None:
    store = made("a")
    relations = [{"type": "uses", "target": "Orchard:proxy"}]
    name = store.add(payload("gateway", relations=relations), author).memory_id
    with store._store.transaction(author, "spoil", wait=1) as transaction:
        row = transaction.snapshot.rows(schema.EDGES)[0]
        transaction.add(schema.EDGES, row | {"edge_key": "f" * 64, "target_id": "gone", "target_label": ""})
    plan, operation = store.retention.apply(author)
    assert plan.counts["target_gone"] == 1
    assert [edge_of(row).target_label for row in store.snapshot().rows(schema.EDGES)] == ["Orchard:proxy"]
    store.undo(operation, author)
    assert [memory.id for memory in store.list_memories().rows] == [name]
    assert store.retention.apply(author)[1] == ""
