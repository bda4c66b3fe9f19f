"""The older suite's directory, written by the engine it ran on, and its JSON export."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.embedding.base import Embedder
from memories.interchange import ImportReport, System, import_from
from memories.interchange.readers import reader_of
from memories.interchange.systems import AUTO, system_named
from memories.interchange.verification import verify
from memories.repository import Author, MemoryRepository, schema
from memories.repository.locks import WriteLock
from tests.interchange.conftest import Made, Print

PLACED = 12
SET_ASIDE = {
    "4a1b2c3d-4e5": "missing_tier_marker",
    "6a1b2c3d-4e5": "tier_not_final",
    "7a1b2c3d-4e5": "invalid_relation_target",
    "8a1b2c3d-4e5": "invalid_category",
    "9a1b2c3d-4e5": "secret_detected",
    "ea1b2c3d-4e5": "invalid_parameter",
}


@pytest.fixture(params=[System.SUITE, System.SUITE_JSON])
def source(request: pytest.FixtureRequest, older_suite: Path, older_export: Path) -> tuple[Path, System]:
    system: System = request.param
    return (older_suite if system is System.SUITE else older_export), system


@pytest.fixture
def imported(made: Made, source: tuple[Path, System]) -> tuple[MemoryRepository, ImportReport]:
    store = made("target")
    return store, import_from(store, *source)


def test_auto_tells_what_it_is(source: tuple[Path, System]) -> None:
    path, system = source
    assert system_named(AUTO, path) is system


def test_a_dry_run_writes_nothing_anywhere(
    made: Made, source: tuple[Path, System], fingerprint: Print
) -> None:
    path, system = source
    before, store = fingerprint(path), made("target")
    report = import_from(store, path, system, dry_run=True)
    assert report.added["memories"] == PLACED
    assert not store.path.exists()
    assert fingerprint(path) == before


def test_every_row_is_stored_or_set_aside_and_the_source_stays(
    made: Made, source: tuple[Path, System], fingerprint: Print
) -> None:
    path, system = source
    before, store = fingerprint(path), made("target")
    report = import_from(store, path, system)
    found = verify(store, reader_of(system, path), system, report.ids)
    assert found.different == []
    assert (found.checked["memory"], found.checked["conflict"]) == (PLACED, 4)
    assert fingerprint(path) == before


def test_rows_that_do_not_fit_are_named_with_their_reason(
    imported: tuple[MemoryRepository, ImportReport],
) -> None:
    store, report = imported
    reasons = {misfit["id"]: misfit["reason"] for misfit in report.misfits}
    assert reasons.items() >= SET_ASIDE.items()
    waiting, rows = store.quarantine.page()
    assert waiting == len(report.misfits) == len(rows)


def test_a_secret_is_kept_nowhere(
    imported: tuple[MemoryRepository, ImportReport], older_export: Path
) -> None:
    store, _ = imported
    (text,) = (
        row["content"]
        for row in json.loads(older_export.read_text("utf-8"))["memories"]
        if "ghp_" in row["content"]
    )
    secret = next(word for word in text.split() if word.startswith("ghp_"))
    kept = store.read(lambda s: [*s.rows(schema.QUARANTINE), *s.rows(schema.REVISIONS)])
    assert secret not in str(kept)


def test_importing_again_adds_nothing(made: Made, source: tuple[Path, System]) -> None:
    store = made("target")
    import_from(store, *source)
    again = import_from(store, *source)
    assert (again.added, again.already) == ({}, PLACED)


def test_undo_takes_everything_back(imported: tuple[MemoryRepository, ImportReport], author: Author) -> None:
    store, report = imported
    assert len(store.undo(report.operation_id, author).undone) == PLACED
    empty = (schema.MEMORIES, schema.EDGES, schema.CONFLICTS, schema.ARCHIVE, schema.QUARANTINE)
    assert store.read(lambda s: {s.row_count(name) for name in empty}) == {0}


def test_legacy_ids_stay(imported: tuple[MemoryRepository, ImportReport]) -> None:
    stored = {memory.id for memory in imported[0].list_memories().rows}
    assert {"0a1b2c3d-4e5", "3f2504e0-4f89-41d3-9", "9b2e6a1c-7d3f-4b58-9e0a-6c1d2f3a4b5c"} <= stored


def test_joined_facts_are_told_apart(imported: tuple[MemoryRepository, ImportReport]) -> None:
    facts = {memory.id: memory.facts for memory in imported[0].list_memories().rows}
    assert facts["0a1b2c3d-4e5"] == ("port=7777", "proxy=blue.", "Restarts take 40 s.")
    assert facts["1a1b2c3d-4e5"] == ("Runs on PostgreSQL 16", "port=5432", "Backups at 03:00")


def test_the_original_text_is_the_first_entry_of_the_history(
    imported: tuple[MemoryRepository, ImportReport],
) -> None:
    *_, first = imported[0].revisions("0a1b2c3d-4e5")
    original = json.loads(first.before)["original"]["row"]
    assert original["content"] == "Orchard:gateway port=7777 proxy=blue. Restarts take 40 s. [Tier=1]"


def test_relations_come_from_the_table_and_else_from_the_row(
    imported: tuple[MemoryRepository, ImportReport],
) -> None:
    store, _ = imported
    ids = [memory.id for memory in store.list_memories().rows]
    found = {
        (e.source_id, e.relation_type, e.target_id or e.target_label) for e in store.snapshot().edges_of(ids)
    }
    assert found == {
        ("1a1b2c3d-4e5", "runs_on", "Harbour:standby"),
        ("2a1b2c3d-4e5", "supersedes", "0a1b2c3d-4e5"),
        ("5a1b2c3d-4e5", "uses", "1a1b2c3d-4e5"),
        ("da1b2c3d-4e5", "part_of", "1a1b2c3d-4e5"),
        # Two memories are called that, so the label in the text waits.
        ("aa1b2c3d-4e5", "part_of", "Orchard:gateway"),
        ("ca1b2c3d-4e5", "depends", "0a1b2c3d-4e5"),
    }


def test_a_persons_decision_about_a_conflict_stands(imported: tuple[MemoryRepository, ImportReport]) -> None:
    (row,) = (row for row in imported[0].conflicts() if row.memory_b_id == "2a1b2c3d-4e5")
    assert (row.status, row.resolution_type, row.resolution_note) == ("resolved", "human", "Both are in use")


def test_an_open_conflict_that_is_none_any_more_closes(
    imported: tuple[MemoryRepository, ImportReport],
) -> None:
    (row,) = (row for row in imported[0].conflicts() if row.memory_b_id == "da1b2c3d-4e5")
    assert (row.status, row.resolution_type) == ("resolved", "auto")


def test_recall_counts_come_along(imported: tuple[MemoryRepository, ImportReport]) -> None:
    usage = imported[0].usage.of(["fa1b2c3d-4e5", "0a1b2c3d-4e5"])
    assert {name: found.recalls for name, found in usage.items()} == {"fa1b2c3d-4e5": 12}


def test_a_held_lock_is_waited_for_and_then_named(
    made: Made, older_suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.interchange.readers.suite.LOCK_WAIT", 0.05)
    held = os.open(older_suite / ".write.lock", os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(MemsuiteError) as refused:
            import_from(made("target"), older_suite, System.SUITE)
    finally:
        os.close(held)
    assert refused.value.code is ErrorCode.STORE_BUSY


def test_the_lock_is_held_while_reading(older_suite: Path) -> None:
    items = reader_of(System.SUITE, older_suite).items()
    next(items)
    with pytest.raises(MemsuiteError), WriteLock(older_suite / ".write.lock").held(0.0):
        pytest.fail("somebody else could write")
    items.close()  # type: ignore[attr-defined]


# -- directories made here --------------------------------------------------------------


@pytest.fixture
def small_suite(tmp_path: Path, fast_embedder: Embedder) -> Iterator[tuple[Path, Any]]:
    """Two rows whose vectors the configured model made, as an older directory of the same model has them."""
    texts = ["Orchard gateway: port=1", "Orchard printer: prints labels"]
    vectors = fast_embedder.embed_documents(texts)
    rows = [
        {
            "id": "00000001-aaa",
            "content": "Orchard:gateway port=1 [Tier=2]",
            "category": "tech",
            "vector": vectors[0],
        },
        {
            "id": "00000002-aaa",
            "content": "Orchard:printer prints labels [Tier=2]",
            "category": "tech",
            "vector": vectors[1],
        },
    ]
    text = pa.string()
    kinds = pa.schema(
        [("id", text), ("content", text), ("category", text), ("vector", pa.list_(pa.float32(), 256))]
    )
    table = lancedb.connect(str(tmp_path / "small")).create_table("memories", schema=kinds)
    table.add(pa.Table.from_pylist(rows, schema=kinds))
    yield tmp_path / "small", table


def test_vectors_are_taken_over_where_the_model_is_the_same(
    made: Made, small_suite: tuple[Path, Any], fast_embedder: Embedder
) -> None:
    store = made("target")
    report = import_from(store, small_suite[0], System.SUITE)
    stored = store.snapshot().vectors_of(["00000001-aaa"]).matrix[0]
    assert report.vectors == {"taken over": 2}
    assert float(np.dot(stored, fast_embedder.embed_documents(["Orchard gateway: port=1"])[0])) > 0.999


def test_vectors_of_another_model_are_made_anew(made: Made, small_suite: tuple[Path, Any]) -> None:
    path, table = small_suite
    table.update(where="true", values={"vector": [1.0] + [0.0] * 255})
    assert import_from(made("target"), path, System.SUITE).vectors == {"made": 2}


def test_a_directory_written_while_it_is_read_is_refused(small_suite: tuple[Path, Any]) -> None:
    path, table = small_suite
    items = reader_of(System.SUITE, path).items()
    next(items)
    table.delete("id = '00000001-aaa'")
    with pytest.raises(MemsuiteError) as refused:
        list(items)
    assert refused.value.code is ErrorCode.STORE_BUSY
