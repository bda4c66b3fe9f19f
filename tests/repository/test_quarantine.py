"""Rows that could not be placed, until a person is done with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange import System, import_from
from memories.repository import Author, MemoryRepository
from memories.repository.quarantine import ACCEPTED, DISCARDED


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "m.jsonl"
    beyond = {"domain": "A", "subject": "b", "facts": ["c"], "tier": 9, "category": "fact"}
    path.write_text(json.dumps(beyond) + '\n{"x": 1}', encoding="utf-8")
    return path


def test_a_row_waits_with_what_was_read(repository: MemoryRepository, source: Path) -> None:
    import_from(repository, source, System.JSONL)
    waiting, rows = repository.quarantine.page()
    assert waiting == 2
    found = {row.reason: row for row in rows}["invalid_tier"]
    assert (found.kind, found.place, found.field, found.row["tier"]) == ("memory", "line 1", "tier", 9)


@pytest.mark.parametrize("reason", [ACCEPTED, DISCARDED])
def test_a_row_a_person_is_done_with_stays_away(
    repository: MemoryRepository, source: Path, person: Author, reason: str
) -> None:
    import_from(repository, source, System.JSONL)
    settled = repository.quarantine.page()[1][0].id
    repository.quarantine.settle(settled, person, reason)
    import_from(repository, source, System.JSONL)
    waiting, rows = repository.quarantine.page()
    assert waiting == 1
    assert settled not in {row.id for row in rows}
    assert repository.quarantine.get(settled).row == {}


def test_an_undo_of_the_import_keeps_what_a_person_settled(
    repository: MemoryRepository, source: Path, person: Author
) -> None:
    report = import_from(repository, source, System.JSONL)
    settled = repository.quarantine.page()[1][0].id
    repository.quarantine.settle(settled, person, DISCARDED)
    repository.undo(report.operation_id, person)
    assert repository.quarantine.page()[0] == 0
    assert repository.quarantine.get(settled).reason == DISCARDED


def test_an_unknown_row_is_not_found(repository: MemoryRepository) -> None:
    with pytest.raises(MemsuiteError) as refused:
        repository.quarantine.get("nowhere")
    assert refused.value.code is ErrorCode.NOT_FOUND
