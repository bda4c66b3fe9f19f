"""Opening what is there, whatever is there; and a writer that died half-way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import lancedb
import pyarrow as pa
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, Snapshot, schema
from memories.repository.engine import quoted
from memories.repository.tables import MOST_FRAGMENTS
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

Reopen = Callable[[], MemoryRepository]


def _beside(repository: MemoryRepository, table: str) -> lancedb.table.Table:
    """The table as a process of its own would open it."""
    return lancedb.connect(str(repository.path)).open_table(table)


def test_what_a_dead_writer_left_beyond_head_is_seen_by_nobody(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    stored = repository.add(payload(), agent)
    table = _beside(repository, schema.MEMORIES)
    row = table.search().limit(1).to_arrow().to_pylist()[0] | {"id": "left-over"}
    table.add(pa.Table.from_pylist([row], schema=table.schema))
    assert [memory.id for memory in reopened().list_memories().rows] == [stored.memory_id]


def test_the_next_writer_brings_the_tables_back_to_head_first(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    repository.add(payload("One"), agent)
    _beside(repository, schema.MEMORIES).delete("true")
    reopened().add(payload("Two"), agent)
    assert {memory.subject for memory in reopened().list_memories().rows} == {"One", "Two"}


def test_a_failure_between_the_tables_and_head_changes_nothing(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.add(payload("One"), agent)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("memories.repository.store.write_head", full)
        with pytest.raises(MemsuiteError) as refused:
            repository.add(payload("Two"), agent)
    assert refused.value.code is ErrorCode.DISK_FULL
    assert repository.count() == 1
    assert _beside(repository, schema.MEMORIES).count_rows() == 1
    repository.add(payload("Two"), agent)
    assert repository.count() == 2


def test_a_damaged_head_is_named_and_left_alone(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    repository.add(payload(), agent)
    head = repository.path / "HEAD"
    head.write_text("{not json")
    with pytest.raises(MemsuiteError) as refused:
        reopened()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert str(head) in refused.value.message
    assert head.read_text() == "{not json"


def test_a_missing_head_over_rows_is_not_taken_for_an_empty_database(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    repository.add(payload(), agent)
    (repository.path / "HEAD").unlink()
    with pytest.raises(MemsuiteError) as refused:
        reopened()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert "HEAD" in refused.value.message


def test_a_missing_table_is_named_and_not_recreated(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    repository.add(payload(), agent)
    shutil.rmtree(repository.path / "memory_edges.lance")
    with pytest.raises(MemsuiteError) as refused:
        reopened()
    assert "memory_edges.lance" in refused.value.message
    assert not (repository.path / "memory_edges.lance").exists()


@pytest.mark.parametrize(("field", "verb"), [("min_reader", "read"), ("min_writer", "written")])
def test_a_newer_schema_is_refused_for_what_it_forbids(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    reopened: Reopen,
    field: str,
    verb: str,
) -> None:
    repository.add(payload("One"), agent)
    head = repository.path / "HEAD"
    head.write_text(json.dumps(json.loads(head.read_text()) | {field: 99}))
    with pytest.raises(MemsuiteError) as refused:
        reopened().add(payload("Two"), agent)
    assert refused.value.code is ErrorCode.SCHEMA_TOO_NEW
    assert verb in refused.value.message
    if field == "min_writer":
        assert reopened().count() == 1


def test_an_older_suites_database_is_recognised_and_not_touched(
    settings: Settings, fast_embedder: Embedder
) -> None:
    settings.db_path.mkdir(parents=True)
    older = {"id": ["a1"], "content": ["x"], "links": ["[]"], "access_count": [0]}
    lancedb.connect(str(settings.db_path)).create_table("memories", pa.table(older))
    before = sorted(path.name for path in settings.db_path.rglob("*"))
    with pytest.raises(MemsuiteError) as refused:
        MemoryRepository.open(settings, fast_embedder)
    assert "adopt" in refused.value.message
    assert sorted(path.name for path in settings.db_path.rglob("*")) == before


def test_an_interrupted_creation_is_taken_up(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, reopened: Reopen
) -> None:
    repository.add(payload(), agent)
    shutil.rmtree(repository.path)
    repository.path.mkdir()
    lancedb.connect(str(repository.path)).create_table("memories", schema=schema.memories(8))
    again = reopened()
    assert again.count() == 0
    again.add(payload(), agent)
    assert reopened().count() == 1


def test_a_writer_compacts_past_the_bound_and_prunes_nothing(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    for number in range(MOST_FRAGMENTS + 2):
        repository.add(payload(f"Subject_{number}"), agent)
    table = _beside(repository, schema.MEMORIES)
    assert table.stats()["fragment_stats"]["num_fragments"] <= MOST_FRAGMENTS
    versions = [entry["version"] for entry in table.list_versions()]
    assert versions == list(range(1, max(versions) + 1))
    assert repository.count() == MOST_FRAGMENTS + 2


@pytest.mark.filterwarnings("ignore:optimize")
def test_a_reader_whose_version_was_pruned_reads_the_newest_one(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload("One"), agent)
    repository.add(payload("Two"), agent)
    seen: list[Snapshot] = []

    def work(snapshot: Snapshot) -> int:
        if not seen:
            _reclaim(repository)
        seen.append(snapshot)
        return len(snapshot.memories_where(""))

    assert repository.read(work) == 2
    assert len(seen) == 2


def _reclaim(repository: MemoryRepository) -> None:
    """Prune every older version at once, as reclaim does, and move HEAD to what is left."""
    table = _beside(repository, schema.MEMORIES)
    table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    head = repository.path / "HEAD"
    state = json.loads(head.read_text())
    state["tables"]["memories"] = table.version
    head.write_text(json.dumps(state))


def test_a_copied_directory_opens_at_its_head(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, fast_embedder: Embedder
) -> None:
    from memories.settings import load_settings

    repository.add(payload(), agent)
    copy = repository.path.with_name("copy")
    shutil.copytree(repository.path, copy)
    opened = MemoryRepository.open(load_settings(db_path=copy), fast_embedder)
    assert opened.count() == 1


@pytest.mark.parametrize("text", ["x' OR 1=1", "'", "''", 'a"b', "; drop", "\\'", "漢'字", "\n'"])
def test_text_in_a_filter_is_only_text(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, text: str
) -> None:
    repository.add(payload(), agent)
    assert repository.snapshot().memories_where(f"subject_key = {quoted(text)}") == []
    assert repository.list_memories(tag=text).total == 0
    assert repository.snapshot().memories([text]) == {}
