"""Export, import into an empty database, export: the same bytes."""

from __future__ import annotations

import json
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.contract import MemsuiteError
from memories.embedding.base import Embedder
from memories.interchange import System, export_jsonl, import_from
from memories.interchange.parquet import export_parquet
from memories.repository import Author, BulkChange, MemoryRepository
from memories.repository.lessons import Evidence, NewLesson
from memories.repository.turn_records import NewTurn, TurnKind
from memories.settings import load_settings
from tests.interchange.conftest import Made

Maker = Callable[..., dict[str, Any]]

WORDS = st.sampled_from(["port=1", "port=2", "naïve é 漢", "runs Redis", 'said "no"', "back\\slash", "ends;"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "update", "tag", "trash", "restore", "undo", "recall", "turn", "lesson"]),
        st.integers(0, 5),
        st.lists(WORDS, min_size=1, max_size=3, unique=True),
    ),
    min_size=1,
    max_size=12,
)


def perform(store: MemoryRepository, author: Author, step: tuple[str, int, list[str]], at: Any) -> None:
    """One thing that happens to a store; what cannot be done now is left undone."""
    kind, number, facts = step
    ids = sorted(store.catalogue().table["id"].to_pylist())
    name = ids[number % len(ids)] if ids else ""
    relations = [{"type": "uses", "target": f"Orchard:s{number}"}]
    try:
        if kind == "add":
            made = {
                "domain": "Orchard",
                "subject": f"s{number % 3}",
                "facts": facts,
                "tier": 2,
                "category": "tech",
            }
            store.add(made | {"relations": relations, "quality": number / 7}, author)
        elif kind == "update":
            store.update(name, {"facts": facts}, author, patch=True)
        elif kind == "tag":
            store.apply(BulkChange.of("add_tags", ["kept"]), ids, author)
        elif kind == "trash":
            store.delete(name, author)
        elif kind == "restore":
            store.restore(store.trash()[1][0].memory_id, author)
        elif kind == "undo":
            store.undo(store.read(lambda s: s.memories([name]))[name].operation_id, author)
        elif kind == "recall":
            store.usage.record_recall(ids)
        elif kind == "turn":
            said = NewTurn(
                f"t{number}", TurnKind.EXCHANGE, facts[0], "yes", at, "general", "conversations", "s"
            )
            store.turns.file([said], store.turns.embed([said]), author, threshold=0.99)
        elif kind == "lesson":
            proposed = {"domain": "A", "subject": "b", "facts": facts, "tier": 1, "category": "correction"}
            store.lessons.propose([NewLesson(facts[0], (Evidence("turn", f"t{number}"),), proposed)], author)
    except (MemsuiteError, IndexError, KeyError):
        return


@given(steps=STEPS, vectors=st.booleans())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_export_that_was_imported_exports_to_the_same_bytes(
    steps: list[tuple[str, int, list[str]]], vectors: bool, fast_embedder: Embedder, author: Author
) -> None:
    from datetime import UTC, datetime

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        options = {"MEMSUITE_FSYNC": "off"}
        one = MemoryRepository.open(load_settings(hermes_home=home / "a", environ=options), fast_embedder)
        for step in steps:
            perform(one, author, step, datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC))
        export_jsonl(one, home / "1.jsonl", vectors=vectors)
        other = MemoryRepository.open(load_settings(hermes_home=home / "b", environ=options), fast_embedder)
        report = import_from(other, home / "1.jsonl", System.MEMSUITE)
        assert not report.quarantined
        export_jsonl(other, home / "2.jsonl", vectors=vectors)
        if report.operation_id:
            assert (home / "1.jsonl").read_bytes() == (home / "2.jsonl").read_bytes()


def test_a_file_is_readable_by_its_owner_alone(
    made: Made, payload: Maker, author: Author, tmp_path: Path
) -> None:
    store = made("a")
    store.add(payload("gateway"), author)
    result = export_jsonl(store, tmp_path / "out.jsonl")
    assert stat.S_IMODE(result.path.stat().st_mode) == 0o600


def test_the_header_counts_every_table(made: Made, payload: Maker, author: Author, tmp_path: Path) -> None:
    store = made("a")
    store.add(payload("gateway"), author)
    export_jsonl(store, tmp_path / "out.jsonl")
    header, *lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    counted = {name: table["rows"] for name, table in json.loads(header)["tables"].items()}
    assert counted["memories"] == 1
    assert sum(counted.values()) == len(lines)


def test_a_place_that_cannot_be_written_leaves_nothing(made: Made, tmp_path: Path) -> None:
    with pytest.raises(MemsuiteError):
        export_jsonl(made("a"), tmp_path / "missing" / "out.jsonl")
    assert not list(tmp_path.glob("**/*.tmp"))


def test_parquet_has_a_place_on_a_plane_for_each_memory(
    made: Made, payload: Maker, author: Author, tmp_path: Path
) -> None:
    store = made("a")
    for subject in ("gateway", "printer", "database"):
        store.add(payload(subject), author)
    export_parquet(store, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    places = set(zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True))
    assert len(places) == 3
    assert table["category"].to_pylist() == ["tech"] * 3


def test_parquet_into_a_directory_has_a_file_a_table(
    made: Made, payload: Maker, author: Author, tmp_path: Path
) -> None:
    store = made("a")
    store.add(payload("gateway"), author)
    export_parquet(store, tmp_path / "out", vectors=True)
    names = {file.stem for file in (tmp_path / "out").iterdir()}
    assert {"memories", "memory_edges", "turns", "usage"} <= names
    assert len(pq.read_table(tmp_path / "out" / "memories.parquet")["vector"][0].as_py()) == 256
