"""JSON lines with the fields of the contract, and what holds for every import."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, import_from
from memories.interchange.systems import AUTO, system_named
from memories.repository import Author, MemoryRepository
from memories.settings import load_settings
from tests.interchange.conftest import Made

Maker = Callable[..., dict[str, Any]]


def lines(path: Path, *values: object) -> Path:
    path.write_text("\n".join(v if isinstance(v, str) else json.dumps(v) for v in values), encoding="utf-8")
    return path


def test_auto_tells_what_it_is(tmp_path: Path, payload: Maker) -> None:
    assert system_named(AUTO, lines(tmp_path / "m.jsonl", payload("gateway"))) is System.JSONL


def test_what_stands_beside_the_contract_is_taken(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    extra = {"id": "own-1", "created_at": "2024-02-29T12:00:00+01:00", "session_id": "s", "user_id": "u"}
    import_from(store, lines(tmp_path / "m.jsonl", payload("gateway") | extra), System.JSONL)
    (memory,) = store.list_memories().rows
    assert (memory.id, memory.session_id, memory.user_id) == ("own-1", "s", "u")
    assert memory.created_at == datetime(2024, 2, 29, 11, tzinfo=UTC)
    assert memory.source == "import:jsonl"


def test_relations_become_edges(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    relations = [{"type": "uses", "target": "Orchard:gateway"}, {"type": "extends", "target_id": "g-1"}]
    source = lines(
        tmp_path / "m.jsonl",
        payload("proxy", relations=relations) | {"id": "p-1"},
        payload("gateway") | {"id": "g-1"},
    )
    import_from(store, source, System.JSONL)
    assert {(e.relation_type, e.target_id) for e in store.snapshot().edges_of(["p-1"])} == {
        ("uses", "g-1"),
        ("extends", "g-1"),
    }


def test_a_relation_to_nowhere_is_set_aside(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    source = lines(tmp_path / "m.jsonl", payload("proxy", relations=[{"type": "uses", "target_id": "gone"}]))
    report = import_from(store, source, System.JSONL)
    assert (store.count(), report.quarantined) == (1, {"invalid_relation_target": 1})
    assert store.quarantine.page()[1][0].kind == "edge"


def test_a_bad_line_is_named_and_the_others_count(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    source = lines(
        tmp_path / "m.jsonl",
        payload("a"),
        "{broken",
        "",
        "[]",
        payload("b", tier=9),
        payload("c", extra=1),
        payload("d"),
    )
    report = import_from(store, source, System.JSONL)
    assert store.count() == 2
    assert [(misfit["place"], misfit["reason"]) for misfit in report.misfits] == [
        ("line 2", "invalid_type"),
        ("line 4", "invalid_type"),
        ("line 5", "invalid_tier"),
        ("line 6", "unknown_field"),
    ]


def test_the_same_line_twice_is_one_memory(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    report = import_from(store, lines(tmp_path / "m.jsonl", payload("a"), payload("a")), System.JSONL)
    assert (store.count(), report.duplicates) == (1, 1)


def test_words_that_are_stored_already_are_not_stored_again(
    made: Made, tmp_path: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    store.add(payload("a"), author)
    report = import_from(store, lines(tmp_path / "m.jsonl", payload("a")), System.JSONL)
    assert (store.count(), report.duplicates) == (1, 1)


def test_memories_that_disagree_are_both_stored_with_a_conflict(
    made: Made, tmp_path: Path, payload: Maker
) -> None:
    store = made("target")
    import_from(store, lines(tmp_path / "m.jsonl", payload("a", "x=1"), payload("a", "x=2")), System.JSONL)
    assert store.count() == 2
    assert [row.claim_key for row in store.conflicts(status="open")] == ["x"]


def test_an_imported_memory_is_found_by_its_words(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    import_from(store, lines(tmp_path / "m.jsonl", payload("gateway")), System.JSONL)
    (memory,) = store.list_memories().rows
    assert [name for name, _ in store.snapshot().lexical("gateway", limit=5)] == [memory.id]


def test_a_model_other_than_the_databases_is_refused(
    made: Made, tmp_path: Path, payload: Maker, author: Author, real_embedder: Any
) -> None:
    made("target").add(payload("a"), author)
    settings = load_settings(hermes_home=tmp_path / "target")
    store = MemoryRepository.open(settings, real_embedder)
    with pytest.raises(MemsuiteError) as refused:
        import_from(store, lines(tmp_path / "m.jsonl", payload("b")), System.JSONL)
    assert refused.value.code is ErrorCode.EMBEDDING_MODEL_MISMATCH


def test_a_failing_model_writes_nothing_and_keeps_what_was_gathered(
    made: Made, tmp_path: Path, payload: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.interchange.importing.ITEMS_AT_ONCE", 2)
    store = made("target")
    source = lines(tmp_path / "m.jsonl", *(payload(f"s{number}") for number in range(6)))
    working, calls = store.embedder.embed_documents, []

    def fails_the_second_time(texts: Any, progress: Any = None) -> Any:
        calls.append(len(texts))
        if len(calls) == 2:
            raise MemsuiteError(ErrorCode.EMBEDDING_FAILED, "embed_model", "gone")
        return working(texts)

    with monkeypatch.context() as broken, pytest.raises(MemsuiteError):
        broken.setattr(store.embedder, "embed_documents", fails_the_second_time)
        import_from(store, source, System.JSONL)
    assert store.count() == 0
    report = import_from(store, source, System.JSONL)
    assert (report.resumed_from, store.count()) == (2, 6)


CHILD = """
import sys
from pathlib import Path
from memories.embedding.static import static_embedder
from memories.interchange import System, import_from
from memories.repository import MemoryRepository
from memories.settings import load_settings

store = MemoryRepository.open(load_settings(hermes_home=sys.argv[1]), static_embedder())
import_from(store, Path(sys.argv[2]), System.JSONL, progress=lambda what, *_: print(what, flush=True))
"""


@pytest.mark.parametrize("word", ["Reading", "Writing"])
def test_a_killed_import_has_written_nothing_and_is_resumed(
    word: str, made: Made, tmp_path: Path, payload: Maker
) -> None:
    source = lines(tmp_path / "m.jsonl", *(payload(f"s{number}") for number in range(1_100)))
    arguments = [sys.executable, "-c", CHILD, str(tmp_path / "target"), str(source)]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert child.stdout is not None
    for said in child.stdout:
        if said.startswith(word):
            break
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    store = made("target")
    assert store.count() == 0
    report = import_from(store, source, System.JSONL)
    assert report.resumed_from >= 512
    assert store.count() == 1_100
    assert not list(store.imports.folder.iterdir())


def test_others_may_write_while_an_import_makes_ready(
    made: Made, tmp_path: Path, payload: Maker, author: Author
) -> None:
    store, other = made("target"), made("target")
    source = lines(tmp_path / "m.jsonl", *(payload(f"s{number}") for number in range(5)))
    written = iter(range(9))

    def write(what: str, done: int, total: int) -> None:
        if what == "Writing":
            other.add(payload(f"beside-{next(written)}"), author)

    report = import_from(store, source, System.JSONL, progress=write)
    assert store.count() == 5 + next(written)
    assert report.added["memories"] == 5


def test_running_it_again_embeds_nothing(made: Made, tmp_path: Path, payload: Maker) -> None:
    store = made("target")
    source = lines(tmp_path / "m.jsonl", payload("a"), payload("b"))
    import_from(store, source, System.JSONL)
    assert import_from(store, source, System.JSONL).vectors == {}


def test_a_memory_deleted_while_it_is_read_again_gets_its_vector(
    made: Made, tmp_path: Path, payload: Maker, author: Author
) -> None:
    store = made("target")
    source = lines(tmp_path / "m.jsonl", payload("a"), payload("b"))
    import_from(store, source, System.JSONL)
    kept = store.list_memories().rows[0].id

    def delete(what: str, done: int, total: int) -> None:
        if what == "Reading":
            store.delete(kept, author)

    import_from(store, source, System.JSONL, progress=delete)
    assert store.count() == 2
    assert abs(float((store.snapshot().vectors_of([kept]).matrix ** 2).sum()) - 1) < 1e-3
