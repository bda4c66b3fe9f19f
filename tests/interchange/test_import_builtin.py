"""MEMORY.md and USER.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from memories.contract import validate_add
from memories.interchange import System, import_from
from memories.interchange.systems import AUTO, system_named
from memories.repository import Author
from tests.interchange.conftest import Made, Print

MEMORY = """The backup runs at 03:00. Ask first.
§
- prefers tabs
- never rebases
§
Orchard:gateway port=1 [Tier=1]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(MEMORY, encoding="utf-8")
    (folder / "USER.md").write_text(
        "Name is Ada\n§\n   \n§\nKey is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", "utf-8"
    )
    return folder.parent


def test_auto_finds_the_files_in_a_hermes_home(home: Path) -> None:
    assert system_named(AUTO, home) is System.HERMES_BUILTIN


def test_entries_become_lessons_that_wait(made: Made, home: Path) -> None:
    store = made("target")
    import_from(store, home, System.HERMES_BUILTIN)
    lessons = {lesson.rule: lesson for lesson in store.lessons.all()}
    assert {lesson.status for lesson in lessons.values()} == {"waiting"}
    assert lessons["The backup runs at 03:00. Ask first."].proposed["facts"] == [
        "The backup runs at 03:00.",
        "Ask first.",
    ]
    assert lessons["- prefers tabs - never rebases"].proposed["facts"] == ["prefers tabs", "never rebases"]
    assert lessons["Orchard:gateway port=1 [Tier=1]"].proposed["subject"] == "gateway"
    assert lessons["Name is Ada"].category == "user_pref"


def test_what_is_proposed_may_be_written_as_it_stands(made: Made, home: Path) -> None:
    store = made("target")
    import_from(store, home, System.HERMES_BUILTIN)
    for lesson in store.lessons.all():
        validate_add(lesson.proposed)


def test_an_entry_with_a_secret_is_set_aside(made: Made, home: Path) -> None:
    report = import_from(made("target"), home, System.HERMES_BUILTIN)
    assert [misfit["reason"] for misfit in report.misfits] == ["secret_detected"]


def test_dry_run_import_again_undo_and_the_source_stays(
    made: Made, home: Path, fingerprint: Print, author: Author
) -> None:
    before, store = fingerprint(home), made("target")
    import_from(store, home, System.HERMES_BUILTIN, dry_run=True)
    assert not store.path.exists()
    report = import_from(store, home, System.HERMES_BUILTIN)
    assert import_from(store, home, System.HERMES_BUILTIN).added == {}
    store.undo(report.operation_id, author)
    assert store.lessons.all() == ()
    assert fingerprint(home) == before


def test_a_lesson_decided_since_survives_the_undo(made: Made, home: Path, author: Author) -> None:
    store = made("target")
    report = import_from(store, home, System.HERMES_BUILTIN)
    decided = store.lessons.all()[0]
    store.lessons.decide(decided.id, "rejected", author)
    store.undo(report.operation_id, author)
    assert [lesson.id for lesson in store.lessons.all()] == [decided.id]
