"""A database of an older layout is brought to this one, whole or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, migration, schema
from memories.repository.head import READER, SCHEMA, WRITER, write_head
from memories.repository.integrity import verify
from tests.repository.conftest import PayloadMaker
from tests.repository.older_layout import STEP, make_older

ROOT = Path(__file__).parents[2]

OPENED_AND_KILLED = """
import os, sys
from memories.embedding.static import static_embedder
from memories.repository import MemoryRepository, migration, store
from memories.repository.tables import Tables
from memories.settings import load_settings
from tests.repository.older_layout import STEP

migration.STEPS = (STEP,)
overwrite = Tables.overwrite

def overwrite_then_die(*arguments, **more):
    overwrite(*arguments, **more)
    os._exit(9)

if sys.argv[1] == "after the first table":
    Tables.overwrite = overwrite_then_die
else:
    store.write_head = lambda *arguments, **more: os._exit(9)
MemoryRepository.open(load_settings(), static_embedder())
"""


@pytest.fixture
def older(
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    monkeypatch: pytest.MonkeyPatch,
) -> list[str]:
    """Ids of three memories of an older layout; the first has a history."""
    results = repository.add_many([payload(f"Subject_{number}", f"n={number}") for number in range(3)], agent)
    ids = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    repository.update(ids[0], {"facts": ["n=10"]}, agent, patch=True)
    make_older(repository)
    monkeypatch.setattr(migration, "STEPS", (STEP,))
    return ids


Reopened = Callable[[], MemoryRepository]


def _head(repository: MemoryRepository) -> dict[str, object]:
    found: dict[str, object] = json.loads((repository.path / "HEAD").read_text())
    return found


def _sound(repository: MemoryRepository) -> bool:
    return verify(repository.path, lambda done, total: None).sound


def test_an_older_database_is_sound_as_it_is(repository: MemoryRepository, older: list[str]) -> None:
    assert _head(repository)["schema"] == 0
    assert _sound(repository)


def test_opening_brings_the_tables_to_this_layout(reopened: Reopened, older: list[str]) -> None:
    repository = reopened()
    memory = repository.get(older[1]).memory
    assert (memory.facts, memory.approved_by) == (("n=1",), "nobody yet: Subject_1")
    head = _head(repository)
    assert (head["schema"], head["min_reader"], head["min_writer"]) == (SCHEMA, READER, WRITER)
    assert _sound(repository)


def test_search_history_and_writing_go_on(reopened: Reopened, older: list[str], agent: Author) -> None:
    repository = reopened()
    assert repository.snapshot().lexical("subject_2", limit=5)[0][0] == older[2]
    repository.restore(older[0], agent, revision=1)
    assert repository.get(older[0]).memory.facts == ("n=0",)
    repository.delete(older[2], agent)
    assert _sound(repository)


def test_a_handle_that_was_open_before_goes_on_too(repository: MemoryRepository, older: list[str]) -> None:
    assert repository.get(older[1]).memory.approved_by == "nobody yet: Subject_1"


def test_a_row_that_was_damaged_before_still_counts_as_damaged(
    repository: MemoryRepository, older: list[str]
) -> None:
    tables, head = repository._store._tables, json.loads((repository.path / "HEAD").read_text())
    table = tables._table(schema.MEMORIES)
    table.update(where=f"id = '{older[1]}'", values={"content": "other words"})
    line = replace(_parsed(repository), tables=head["tables"] | {schema.MEMORIES: table.version})
    write_head(repository.path / "HEAD", line, fsync=False)
    repository.count()
    assert _head(repository)["schema"] == SCHEMA
    found = verify(repository.path, lambda done, total: None)
    assert found.memories == [older[1]]


def _parsed(repository: MemoryRepository) -> migration.Head:
    from memories.repository.head import parse_head

    path = repository.path / "HEAD"
    return parse_head(path.read_text(), path)


@pytest.mark.parametrize("moment", ["after the first table", "before HEAD"])
def test_a_kill_leaves_the_older_database_and_the_next_one_finishes(
    moment: str, repository: MemoryRepository, reopened: Reopened, older: list[str], hermes_home: Path
) -> None:
    line = (repository.path / "HEAD").read_text()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "HERMES_HOME": str(hermes_home)}
    killed = subprocess.run([sys.executable, "-c", OPENED_AND_KILLED, moment], env=environment, check=False)
    assert killed.returncode == 9
    assert (repository.path / "HEAD").read_text() == line
    assert _sound(repository)
    assert {reopened().get(name).memory.approved_by[:6] for name in older} == {"nobody"}
    assert _sound(repository)


def test_a_failed_verification_leaves_the_older_database(
    reopened: Reopened, repository: MemoryRepository, older: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = (repository.path / "HEAD").read_text()
    monkeypatch.setattr(migration, "_converted", lambda table, columns, to: table.slice(1).select([]))
    with pytest.raises(MemsuiteError) as refused:
        reopened()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert (repository.path / "HEAD").read_text() == line


@pytest.mark.parametrize("needed", ["min_reader", "min_writer"])
def test_a_newer_layout_names_the_side_to_upgrade(
    needed: str, repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload(), agent)
    newer = replace(_parsed(repository), schema=SCHEMA + 1, **{needed: 99})
    write_head(repository.path / "HEAD", newer, fsync=False)
    with pytest.raises(MemsuiteError) as refused:
        repository.add(payload("Another"), agent)
    assert refused.value.code is ErrorCode.SCHEMA_TOO_NEW
    assert sys.prefix in refused.value.message
    assert (refused.value.received, refused.value.expected) == (99, 1)


def test_what_a_newer_writer_left_readable_is_still_read(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    stored = repository.add(payload(), agent)
    write_head(repository.path / "HEAD", replace(_parsed(repository), min_writer=99), fsync=False)
    assert repository.get(stored.memory_id).memory.content == stored.canonical_content
