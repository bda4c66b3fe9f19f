"""Importing an export of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, export_jsonl, import_from
from memories.repository import Author, MemoryRepository, schema
from tests.interchange.conftest import Made

Maker = Callable[..., dict[str, Any]]


@pytest.fixture
def source(made: Made, payload: Maker, author: Author) -> MemoryRepository:
    """Two memories that are related, one with an earlier state, and one in the trash."""
    store = made("source")
    store.add(payload("gateway", "port=1"), author)
    related = payload("proxy", "colour=blue", relations=[{"type": "uses", "target": "Orchard:gateway"}])
    made_id = store.add(related, author).memory_id
    store.update(made_id, {"facts": ["colour=green"]}, author, patch=True)
    store.delete(store.add(payload("printer"), author).memory_id, author)
    store.usage.record_recall([made_id])
    return store


@pytest.fixture
def file(source: MemoryRepository, tmp_path: Path) -> Path:
    return export_jsonl(source, tmp_path / "source.jsonl", vectors=True).path


def counts(store: MemoryRepository) -> dict[str, int]:
    names = [name for name in schema.ALL_TABLES if name != schema.IMPORTS]
    return store.read(lambda snapshot: {name: snapshot.row_count(name) for name in names})


def test_a_dry_run_writes_nothing(made: Made, file: Path) -> None:
    store = made("target")
    report = import_from(store, file, System.MEMSUITE, dry_run=True)
    assert report.added["memories"] == 2
    assert not store.path.exists()


def test_an_empty_database_takes_the_tables_as_they_are(
    made: Made, source: MemoryRepository, file: Path
) -> None:
    store = made("target")
    assert import_from(store, file, System.MEMSUITE).whole
    assert counts(store) == counts(source)
    assert store.snapshot().generation == source.snapshot().generation


def test_a_second_import_adds_nothing(made: Made, file: Path) -> None:
    store = made("target")
    import_from(store, file, System.MEMSUITE)
    again = import_from(store, file, System.MEMSUITE)
    assert (again.added, again.already) == ({}, 2)


def test_undoing_a_whole_import_leaves_an_empty_database(made: Made, file: Path, author: Author) -> None:
    store = made("target")
    report = import_from(store, file, System.MEMSUITE)
    store.catalogue()
    store.undo(report.operation_id, author)
    assert set(counts(store).values()) == {0}
    assert len(store.catalogue()) == 0


def test_undoing_a_whole_import_spares_what_was_written_since(
    made: Made, file: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    report = import_from(store, file, System.MEMSUITE)
    later = store.add(payload("later"), author).memory_id
    result = store.undo(report.operation_id, author)
    assert (len(result.undone), result.skipped) == (2, (later,))
    assert [memory.id for memory in store.list_memories().rows] == [later]


def test_history_comes_along(made: Made, file: Path, author: Author) -> None:
    store = made("target")
    import_from(store, file, System.MEMSUITE)
    (name,) = (m.id for m in store.list_memories().rows if m.subject == "proxy")
    assert store.restore(name, author, revision=1).canonical_content == "Orchard:proxy colour=blue. [Tier=2]"
    assert store.restore(store.trash()[1][0].memory_id, author).canonical_content.startswith(
        "Orchard:printer"
    )


def test_history_of_another_database_comes_before_what_happens_here(
    made: Made, file: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    store.add(payload("older"), author)
    import_from(store, file, System.MEMSUITE)
    (name,) = (m.id for m in store.list_memories().rows if m.subject == "proxy")
    store.update(name, {"facts": ["colour=red"]}, author, patch=True)
    assert [revision.revision for revision in store.revisions(name)] == [2, 1]


def test_recalls_come_along_and_are_counted_once(made: Made, file: Path) -> None:
    store = made("target")
    import_from(store, file, System.MEMSUITE)
    import_from(store, file, System.MEMSUITE)
    (name,) = (m.id for m in store.list_memories().rows if m.subject == "proxy")
    assert store.usage.of([name])[name].recalls == 1


def test_vectors_of_the_same_model_are_taken_over(made: Made, file: Path, source: MemoryRepository) -> None:
    store = made("target")
    report = import_from(store, file, System.MEMSUITE)
    ids = [memory.id for memory in store.list_memories().rows]
    assert report.vectors == {"taken over": 2}
    assert (store.snapshot().vectors_of(ids).matrix == source.snapshot().vectors_of(ids).matrix).all()


def test_a_clash_with_what_is_stored_opens_a_conflict(
    made: Made, file: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    store.add(payload("gateway", "port=2"), author)
    import_from(store, file, System.MEMSUITE)
    (conflict,) = store.conflicts()
    assert {conflict.value_a, conflict.value_b} == {"1", "2"}


def test_a_label_that_waits_here_finds_an_imported_memory(
    made: Made, file: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    waiting = store.add(
        payload("lamp", relations=[{"type": "uses", "target": "Orchard:gateway"}]), author
    ).memory_id
    import_from(store, file, System.MEMSUITE)
    (gateway,) = (m.id for m in store.list_memories().rows if m.subject == "gateway")
    assert [edge.target_id for edge in store.snapshot().edges_of([waiting])] == [gateway]


def test_an_id_that_is_taken_is_exchanged_everywhere(
    made: Made, file: Path, source: MemoryRepository, payload: Maker, author: Author, tmp_path: Path
) -> None:
    names = {memory.subject: memory.id for memory in source.list_memories().rows}
    line = payload("intruder") | {"id": names["gateway"]}
    import json

    (tmp_path / "taken.jsonl").write_text(json.dumps(line), encoding="utf-8")
    store = made("target")
    import_from(store, tmp_path / "taken.jsonl", System.JSONL)
    report = import_from(store, file, System.MEMSUITE)
    given = report.renamed[names["gateway"]]
    targets = {edge.target_id for edge in store.snapshot().edges_of([names["proxy"]])}
    assert targets == {given}
    assert import_from(store, file, System.MEMSUITE).added == {}


def test_a_memory_changed_here_since_is_not_brought_in_again(made: Made, file: Path, author: Author) -> None:
    store = made("target")
    import_from(store, file, System.MEMSUITE)
    (name,) = (m.id for m in store.list_memories().rows if m.subject == "gateway")
    store.update(name, {"facts": ["port=9"]}, author, patch=True)
    again = import_from(store, file, System.MEMSUITE)
    assert (again.added, store.count()) == ({}, 2)


def test_a_memory_in_the_trash_can_be_imported_again(made: Made, file: Path, author: Author) -> None:
    store = made("target")
    import_from(store, file, System.MEMSUITE)
    for memory in store.list_memories().rows:
        store.delete(memory.id, author)
    import_from(store, file, System.MEMSUITE)
    assert store.count() == 2
    assert {memory.revision for memory in store.list_memories().rows} == {2, 3}


def test_undoing_a_merging_import_gives_back_what_was_there(
    made: Made, file: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    kept = store.add(payload("gateway", "port=2"), author).memory_id
    report = import_from(store, file, System.MEMSUITE)
    store.undo(report.operation_id, author)
    assert [memory.id for memory in store.list_memories().rows] == [kept]
    assert store.conflicts(status="open") == []
    assert import_from(store, file, System.MEMSUITE).added["memories"] == 2


@pytest.mark.parametrize(
    ("old", "new"), [(b"gateway", b"gatewax"), (b'"tier":2', b'"tier":3'), (b'\n{"table":"usage"', b"\n#")]
)
def test_a_file_that_was_changed_is_refused_whole(made: Made, file: Path, old: bytes, new: bytes) -> None:
    changed = file.read_bytes()
    assert old in changed
    file.write_bytes(changed.replace(old, new, 1))
    store = made("target")
    with pytest.raises(MemsuiteError) as refused:
        import_from(store, file, System.MEMSUITE)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
    assert store.count() == 0


def test_a_file_that_is_cut_short_is_refused_whole(made: Made, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])
    store = made("target")
    with pytest.raises(MemsuiteError):
        import_from(store, file, System.MEMSUITE)
    assert store.count() == 0


def test_a_file_of_a_newer_version_says_so(made: Made, file: Path) -> None:
    header, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(header.replace(b'"version":1', b'"version":2') + b"\n" + rest)
    with pytest.raises(MemsuiteError) as refused:
        import_from(made("target"), file, System.MEMSUITE)
    assert refused.value.code is ErrorCode.SCHEMA_TOO_NEW
