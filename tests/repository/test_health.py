"""Health tells what is there; its deep part names what is not as it was written."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, schema
from memories.repository import integrity as module
from memories.repository.health import DatabaseHealth, IndexState, TableState, examine
from memories.repository.integrity import Integrity, verify
from memories.repository.records import content_hash
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.repository.damage import cut, data_files, flip, listing, manifest_file, overwrite


@pytest.fixture
def stored(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    """Ids of three memories, each in a data file of its own; the first relates to the second."""
    found = [repository.add(payload(subject), agent).memory_id for subject in ("Gateway", "Proxy", "Lamp")]
    related = payload("Gateway", "Gateway moved", relations=[{"type": "uses", "target_id": found[1]}])
    repository.update(found[0], related, agent)
    return found


@pytest.fixture
def health(repository: MemoryRepository, settings: Settings) -> Callable[[], DatabaseHealth]:
    return lambda: examine(repository.path, settings.backups_dir)


@pytest.fixture
def deep(repository: MemoryRepository) -> Callable[[], Integrity]:
    return lambda: verify(repository.path, _silent)


def _silent(done: int, total: int) -> None:
    pass


def _tables(found: DatabaseHealth) -> dict[str, Any]:
    return {table.name: table for table in found.tables}


def test_where_nothing_is_nothing_is_said_or_made(
    repository: MemoryRepository, health: Callable[[], DatabaseHealth], deep: Callable[[], Integrity]
) -> None:
    found = health()
    assert (found.exists, found.sound, found.tables, found.storage.database) == (False, True, (), 0)
    assert deep().sound
    assert not repository.path.exists()


def test_each_table_has_its_rows_versions_parts_and_bytes(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    tables = _tables(health())
    assert set(tables) == set(schema.TABLES)
    memories = tables[schema.MEMORIES]
    beside = lancedb.connect(str(repository.path)).open_table(schema.MEMORIES)
    assert memories.rows == beside.count_rows() == 3
    assert memories.version == beside.version
    assert memories.versions_kept == len(beside.list_versions())
    assert memories.fragments == beside.stats()["fragment_stats"]["num_fragments"]
    assert (tables[schema.EDGES].rows, tables[schema.REVISIONS].rows) == (1, 1)
    folder = repository.path / "memories.lance"
    assert memories.size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert {table.state for table in tables.values()} == {TableState.CURRENT}


def test_the_text_index_lags_behind_new_rows_until_it_is_brought_up(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    index = health().text_index
    assert (index.state, index.indexed_rows, index.unindexed_rows) == (IndexState.LAGGING, 0, 3)
    version = repository._store._tables.compact(schema.MEMORIES, fsync=False)
    _move(repository.path, schema.MEMORIES, version)
    index = health().text_index
    assert (index.state, index.indexed_rows, index.unindexed_rows) == (IndexState.CURRENT, 3, 0)


def test_a_text_index_that_is_not_there_is_missing_a_vector_index_is_none(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    beside = lancedb.connect(str(repository.path)).open_table(schema.MEMORIES)
    beside.drop_index(schema.TEXT_INDEX)
    _move(repository.path, schema.MEMORIES, beside.version)
    assert health().text_index.state is IndexState.MISSING
    assert health().vector_index.state is IndexState.NONE


def test_storage_tells_what_is_in_use_and_guesses_nothing(
    repository: MemoryRepository,
    stored: list[str],
    health: Callable[[], DatabaseHealth],
    settings: Settings,
) -> None:
    settings.backups_dir.mkdir(parents=True)
    (settings.backups_dir / "copy").write_bytes(b"x" * 1000)
    storage = health().storage
    everything = sum(path.stat().st_size for path in repository.path.rglob("*") if path.is_file())
    assert (storage.database, storage.backups) == (everything, 1000)
    assert 0 < storage.active < storage.database
    answer = storage.as_dict()
    assert answer["total_footprint_bytes"] == everything + 1000
    assert answer["overhead_bytes_estimate"] == everything - storage.active
    assert answer["reclaimable_bytes"] is None
    assert answer["index_directories"] == len(list(repository.path.glob("*.lance/_indices/*")))


def test_looking_changes_no_file(
    repository: MemoryRepository,
    stored: list[str],
    health: Callable[[], DatabaseHealth],
    deep: Callable[[], Integrity],
) -> None:
    repository.usage.record_recall(stored)
    before = listing(repository.path)
    health()
    deep()
    assert listing(repository.path) == before


def test_a_held_write_lock_is_seen_without_waiting_for_it(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    assert not health().lock_held
    with repository._store._write_lock.held(0):
        assert health().lock_held
    assert not health().lock_held


def test_looking_hinders_no_writer(
    repository: MemoryRepository,
    stored: list[str],
    health: Callable[[], DatabaseHealth],
    agent: Author,
    payload: PayloadMaker,
) -> None:
    watching = threading.Event()

    def watch() -> None:
        while not watching.is_set():
            health()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(5):
            repository.add(payload(f"Subject_{number}"), agent)
    finally:
        watching.set()
        watcher.join()
    assert repository.count() == 8


def test_one_damaged_table_hides_no_other(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    cut(manifest_file(repository.path, schema.EDGES), 10)
    shutil.rmtree(repository.path / "quarantine.lance")
    found = health()
    states = {name: table.state for name, table in _tables(found).items()}
    assert states[schema.EDGES] is TableState.DAMAGED
    assert states[schema.QUARANTINE] is TableState.MISSING
    assert _tables(found)[schema.MEMORIES].rows == 3
    assert {damage.path.name for damage in found.damage} == {
        manifest_file(repository.path, schema.EDGES).name,
        "quarantine.lance",
    }
    assert not found.sound


@pytest.mark.parametrize("content", ["", '{"generation":1}'])
def test_a_head_that_says_nothing_is_the_problem(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth], content: str
) -> None:
    (repository.path / "HEAD").write_text(content)
    assert str(repository.path / "HEAD") in health().problem
    assert not health().sound


def test_tables_without_head_are_a_problem(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    (repository.path / "HEAD").unlink()
    assert "HEAD is missing" in health().problem


def test_a_data_file_of_another_size_is_named_without_reading_it(
    repository: MemoryRepository, stored: list[str], health: Callable[[], DatabaseHealth]
) -> None:
    path = data_files(repository.path)[0]
    size = path.stat().st_size
    cut(path, size - 1)
    (damage,) = health().damage
    assert (damage.path, damage.what) == (path, f"{size - 1} bytes instead of {size}")


# -- deep ------------------------------------------------------------------------------


def test_reading_everything_finds_nothing_where_nothing_is_wrong(
    stored: list[str], repository: MemoryRepository, agent: Author, deep: Callable[[], Integrity]
) -> None:
    repository.delete(stored[2], agent)
    found = deep()
    assert found.sound
    assert (found.read[schema.MEMORIES], found.read[schema.EDGES], found.read[schema.REVISIONS]) == (2, 1, 2)


def test_flipped_bytes_name_the_memory_and_its_file(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    """64 bytes inside the stored vector, where the engine itself notices nothing."""
    row = repository.snapshot().full_rows([stored[1]])[stored[1]]
    inside = row[schema.VECTOR].tobytes()[100:164]
    (path,) = [path for path in data_files(repository.path) if inside in path.read_bytes()]
    flip(path, path.read_bytes().index(inside), 64)
    assert repository.count() == len(repository.list_memories().rows) == 3
    found = deep()
    assert found.memories == [stored[1]]
    assert {damaged.file for damaged in found.rows} == {path}
    assert "its values are not those its hash was made from" in [damaged.what for damaged in found.rows]


def test_flipped_bytes_of_a_text_name_the_memory(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    """Bytes that are no text any more, and a letter that has become another one."""
    (path,) = [path for path in data_files(repository.path) if b"Lamp runs" in path.read_bytes()]
    place = path.read_bytes().index(b"Lamp runs")
    overwrite(path, place, b"Ramp")
    assert deep().memories == [stored[2]]
    overwrite(path, place, b"\xff\xfe")
    assert deep().memories == [stored[2]]


def test_rows_that_cannot_be_read_leave_the_others_readable(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    path = data_files(repository.path)[0]
    path.unlink()
    found = deep()
    assert found.read[schema.MEMORIES] == 2
    assert [damaged.file for damaged in found.rows] == [path]
    assert (path, "missing") in found.files
    assert found.lost_edges == []


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_many_rows_are_read_in_batches_and_counted(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
) -> None:
    monkeypatch.setattr(module, "BATCH", batch)
    repository.add_many([payload(f"Subject_{number}") for number in range(7)], agent)
    seen: list[tuple[int, int]] = []
    found = verify(repository.path, lambda done, total: seen.append((done, total)))
    assert found.sound
    assert found.read[schema.MEMORIES] == 7
    assert seen[-1] == (7, 7)


def test_rows_that_have_come_back_or_gone_are_noticed(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, deep: Callable[[], Integrity]
) -> None:
    """The list of deleted rows of an earlier version in the place of the present one."""
    added = repository.add_many([payload(f"Subject_{number}") for number in range(4)], agent)
    ids = [result.memory_id for result in added if not isinstance(result, MemsuiteError)]
    repository.delete(ids[0], agent)
    (older,) = (repository.path / "memories.lance" / "_deletions").iterdir()
    repository.delete(ids[1], agent)
    (newer,) = set((repository.path / "memories.lance" / "_deletions").iterdir()) - {older}
    assert deep().sound
    shutil.copy(older, newer)
    assert [(row.file, row.what) for row in deep().rows] == [(newer, "3 rows are there instead of 2")]


def test_an_empty_table_that_forgot_its_columns_is_named(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    path = manifest_file(repository.path, schema.QUARANTINE)
    content = path.read_bytes()
    for name in (b"message", b"reason"):
        overwrite(path, content.rindex(name), name.upper())
    assert [file for file, _ in deep().files] == [path]


def _rewritten(path: Path, table: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """The rows of a table as someone else would have written them, committed past all our code."""
    beside = lancedb.connect(str(path)).open_table(table)
    rows = [change(row) for row in beside.to_arrow().to_pylist()]
    beside.delete("true")
    beside.add(pa.Table.from_pylist([row for row in rows if row is not None], schema=beside.schema))
    _move(path, table, beside.version)


def _move(path: Path, table: str, version: int) -> None:
    head = json.loads((path / "HEAD").read_text())
    head["tables"][table] = version
    (path / "HEAD").write_text(json.dumps(head) + "\n")


@pytest.mark.parametrize(
    ("vector", "what"),
    [(np.inf, "its vector is not finite"), (0.5, "its vector is not of length one")],
)
def test_a_vector_that_cannot_be_compared_is_named_though_its_hash_is_right(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity], vector: float, what: str
) -> None:
    def spoil(row: dict[str, Any]) -> dict[str, Any]:
        if row["id"] == stored[0]:
            row = row | {"vector": [vector] * len(row["vector"])}
        return row | {"content_hash": content_hash(row)}

    _rewritten(repository.path, schema.MEMORIES, spoil)
    assert [(damaged.key, damaged.what) for damaged in deep().rows] == [(stored[0], what)]


def test_an_id_stored_twice_is_named(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    def doubled(row: dict[str, Any]) -> dict[str, Any]:
        row = row | {"id": stored[0]} if row["id"] == stored[1] else row
        return row | {"content_hash": content_hash(row)}

    _rewritten(repository.path, schema.MEMORIES, doubled)
    assert deep().repeated_keys == {schema.MEMORIES: [stored[0]]}


def test_a_relation_to_a_memory_that_is_not_stored_is_named(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    _rewritten(repository.path, schema.MEMORIES, lambda row: None if row["id"] == stored[1] else row)
    (edge,) = repository.snapshot().rows(schema.EDGES)
    assert deep().lost_edges == [edge["edge_key"]]


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (schema.EDGES, {"target_label": "Other"}),
        (schema.REVISIONS, {"before": "{no json"}),
        (schema.REVISIONS, {"before_vector": [1.0, 0.0]}),
        (schema.REVISIONS, {"before": "[]"}),
    ],
)
def test_a_changed_relation_or_kept_state_is_named(
    repository: MemoryRepository,
    stored: list[str],
    deep: Callable[[], Integrity],
    table: str,
    change: dict[str, Any],
) -> None:
    _rewritten(repository.path, table, lambda row: row | change)
    assert [damaged.table for damaged in deep().rows] == [table]


def test_a_changed_conflict_is_named(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, deep: Callable[[], Integrity]
) -> None:
    one = repository.add(payload("Gateway", "port=1"), agent)
    other = repository.add(payload("Proxy", "port=2"), agent)
    repository.update(other.memory_id, payload("Gateway", "port=2"), agent)
    assert repository.conflicts(memory_id=one.memory_id)
    assert deep().sound
    _rewritten(repository.path, schema.CONFLICTS, lambda row: row | {"claim_key": "colour"})
    assert [damaged.table for damaged in deep().rows] == [schema.CONFLICTS]


def test_a_damaged_head_cannot_be_verified(
    repository: MemoryRepository, stored: list[str], deep: Callable[[], Integrity]
) -> None:
    (repository.path / "HEAD").write_text("")
    with pytest.raises(MemsuiteError) as refused:
        deep()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
