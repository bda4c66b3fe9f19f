"""Mnemosyne's database, made by the real package."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, import_from
from memories.interchange.systems import AUTO, system_named
from memories.repository import Author
from tests.interchange.conftest import Made, Print
from tests.support.mnemosyne import Mnemosyne


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five rows of the package's own; of one it is said that another took its place, of one that it has
    expired, and a fact is added, as its later versions do."""
    with Mnemosyne(tmp_path_factory.mktemp("home")) as memory:
        plain = memory.remember("Deploys happen on Thursday", source="document", importance=0.7)
        memory.remember("Orchard:gateway Runs on nas. port=7777 [Tier=1]", importance=0.9)
        old = memory.remember("The terminal runs bash", source="conversation")
        ended = memory.remember("The sale ends today", source="conversation")
        memory.remember("Kåre bor i Å", source="user")
    with closing(sqlite3.connect(memory.database)) as connection, connection:
        connection.execute("UPDATE working_memory SET superseded_by = ? WHERE id = ?", (plain, old))
        connection.execute(
            "UPDATE working_memory SET valid_until = '2020-01-01T00:00:00' WHERE id = ?", (ended,)
        )
        fact = ("f1", "s", "Ada", "lives in", "Bergen", "2025-01-01T00:00:00", 0.8)
        columns = "fact_id, session_id, subject, predicate, object, timestamp, confidence"
        connection.execute(f"INSERT INTO facts ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", fact)
    with closing(sqlite3.connect(memory.database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return memory.database


@pytest.fixture
def database(written: Path) -> Iterator[Path]:
    yield written


def test_auto_tells_what_it_is(database: Path) -> None:
    assert system_named(AUTO, database) is System.MNEMOSYNE


def test_rows_become_turns_and_a_canonical_one_a_memory(made: Made, database: Path) -> None:
    store = made("target")
    import_from(store, database, System.MNEMOSYNE)
    texts = {turn.text for turn in store.turns.page().rows}
    assert texts == {"Deploys happen on Thursday", "Kåre bor i Å", "Ada lives in Bergen"}
    (memory,) = store.list_memories().rows
    assert (memory.facts, memory.tier, memory.quality) == (("Runs on nas.", "port=7777"), 1, 0.9)


def test_superseded_and_expired_rows_keep_that_state(made: Made, database: Path) -> None:
    store = made("target")
    import_from(store, database, System.MNEMOSYNE)
    rows = store.read(lambda s: s.rows("turns", "trashed_at IS NOT NULL", ["text"]))
    assert {row["text"] for row in rows} == {"The terminal runs bash", "The sale ends today"}


def test_dry_run_import_again_undo_and_the_source_stays(
    made: Made, database: Path, fingerprint: Print, author: Author
) -> None:
    before, store = fingerprint(database.parent), made("target")
    import_from(store, database, System.MNEMOSYNE, dry_run=True)
    assert not store.path.exists()
    report = import_from(store, database, System.MNEMOSYNE)
    assert import_from(store, database, System.MNEMOSYNE).added == {}
    store.undo(report.operation_id, author)
    assert (store.count(), store.turns.count()) == (0, 0)
    assert fingerprint(database.parent) == before


def test_another_database_is_refused(made: Made, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE notes (id)")
    with pytest.raises(MemsuiteError) as refused:
        import_from(made("target"), tmp_path / "other.db", System.MNEMOSYNE)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER
