"""Histories written by a real process, then tampered with in a copy of their file."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from console.audit_processes import run

from memories.console.audit_anchor import anchor_file, read_anchor
from memories.console.audit_chain import CHAINED, HEAD, Link, chain_key, mac_of, seal_of
from memories.console.audit_check import Checked, Wrong, check
from memories.settings import load_settings
from tests.support.commands import Run

GUARDS = ("event", "completion", "payload", "head")

WRITES = """
from memories.console.audit_blanking import blank_texts
for number in range(5):
    with recorded_as(WHO, "add_tags", ids=[f"m-{number}"], note=f"note {number}") as event:
        event.complete(unchanged=1)
blank_texts(["m-1"], WHO)
connection.close()
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a history of twelve rows: five operations and a purge's blanking."""
    home = tmp_path_factory.mktemp("audit") / "home"
    run(WRITES, home)
    return home


@pytest.fixture
def home(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


@pytest.fixture
def tampering(home: Path) -> Iterator[sqlite3.Connection]:
    """The copied file in the hands of someone who may write it, triggers or not."""
    with closing(sqlite3.connect(file_of(home), isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection


def file_of(home: Path) -> Path:
    return load_settings(hermes_home=home).console_db


def key_of(home: Path) -> bytes:
    return chain_key(load_settings(hermes_home=home).secret_file.read_text().strip())


def checked(home: Path, *anchors: Link) -> Checked:
    return check(file_of(home), key_of(home), anchors)


def faults(home: Path, *anchors: Link) -> list[tuple[Wrong, int]]:
    found = checked(home, *anchors).faults
    return [(fault.kind, fault.position) for fault in found if fault.kind is not Wrong.UNGUARDED]


def noted(home: Path) -> Link:
    link = read_anchor(anchor_file(load_settings(hermes_home=home)))
    assert link is not None
    return link


def test_a_history_as_it_was_written_is_sound(home: Path) -> None:
    found = checked(home, noted(home))

    assert (found.rows, found.blanked, found.faults) == (12, 1, [])
    assert found.end == noted(home)


def test_a_changed_byte_is_found(home: Path) -> None:
    file = file_of(home)
    raw = file.read_bytes()
    at = raw.index(b"console:ingrid")
    file.write_bytes(raw[:at] + b"konsole:ingrid" + raw[at + 14 :])

    assert [kind for kind, _ in faults(home)] == [Wrong.CHANGED]


def test_a_byte_that_is_no_text_any_more_is_found(home: Path, tampering: sqlite3.Connection) -> None:
    tampering.execute("UPDATE memories_audit_event SET actor = CAST(x'ff00fe' AS TEXT) WHERE position = 1")

    assert faults(home) == [(Wrong.CHANGED, 1)]


@pytest.mark.parametrize(("column", "value"), [("changed", 7), ("unchanged", "1"), ("result", "done")])
def test_a_changed_value_is_found(
    home: Path, tampering: sqlite3.Connection, column: str, value: object
) -> None:
    tampering.execute("PRAGMA ignore_check_constraints = 1")
    tampering.execute(
        f"UPDATE memories_audit_completion SET {column} = CAST(? AS BLOB) WHERE position = 4", [value]
    )

    assert (Wrong.CHANGED, 4) in faults(home)


def test_a_removed_row_is_found(home: Path, tampering: sqlite3.Connection) -> None:
    tampering.execute("DELETE FROM memories_audit_completion WHERE position = 4")

    assert faults(home) == [(Wrong.MISSING, 4)]


def test_a_removed_last_row_is_found(home: Path, tampering: sqlite3.Connection) -> None:
    tampering.execute("DELETE FROM memories_audit_completion WHERE position = 12")

    assert faults(home) == [(Wrong.MISSING, 12)]


def test_a_removed_last_row_is_found_where_the_end_was_moved_back_as_well(
    home: Path, tampering: sqlite3.Connection
) -> None:
    tampering.execute("DELETE FROM memories_audit_completion WHERE position = 12")
    tampering.execute(
        f"UPDATE {HEAD} SET position = 11, mac = (SELECT mac FROM memories_audit_event WHERE position = 11)"
    )

    assert faults(home) == [(Wrong.UNSEALED, 0)]


def test_swapped_rows_are_found(home: Path, tampering: sqlite3.Connection) -> None:
    for old, new in ((1, 99), (3, 1), (99, 3)):
        tampering.execute("UPDATE memories_audit_event SET position = ? WHERE position = ?", [new, old])

    assert {(Wrong.CHANGED, 1), (Wrong.CHANGED, 3)} <= set(faults(home))


def test_a_row_added_at_the_end_without_the_key_is_found(home: Path, tampering: sqlite3.Connection) -> None:
    row = (13, 1, "2026-03-14 09:00:00.000000", "done", "", 1, 0, 0, 1, 0)
    mac = mac_of(b"guessed", checked(home).end.mac, CHAINED[1], row)
    tampering.execute("DELETE FROM memories_audit_completion WHERE event_id = 1")
    tampering.execute(CHAINED[1].insertion.replace("%s", "?"), (*row, mac))
    forged = Link(13, mac)
    seal = seal_of(b"guessed", forged)
    tampering.execute(f"UPDATE {HEAD} SET position = ?, mac = ?, seal = ?", [13, mac, seal])

    assert {(Wrong.CHANGED, 13), (Wrong.UNSEALED, 0)} <= set(faults(home))


def test_writing_on_does_not_cover_up_what_was_cut(home: Path, tampering: sqlite3.Connection) -> None:
    tampering.execute("DELETE FROM memories_audit_completion WHERE position = 12")
    tampering.execute(f"DELETE FROM {HEAD}")
    tampering.close()

    run('with recorded_as(WHO, "trash") as event: event.complete()', home)

    assert (Wrong.CHANGED, 12) in faults(home)


def test_an_emptied_history_is_missed_by_the_note_beside_it(
    home: Path, tampering: sqlite3.Connection
) -> None:
    for table in ("completion", "payload", "event", "head"):
        tampering.execute(f"DELETE FROM memories_audit_{table}")

    assert faults(home) == []
    assert faults(home, noted(home)) == [(Wrong.CUT, 12)]


def test_an_older_copy_is_missed_by_the_end_that_was_kept_elsewhere(home: Path, tmp_path: Path) -> None:
    older = Path(shutil.copytree(home, tmp_path / "older"))
    run('with recorded_as(WHO, "trash") as event: event.complete()', home)
    kept = checked(home).end

    assert faults(older, noted(older)) == []
    assert faults(older, kept) == [(Wrong.CUT, 14)]
    assert faults(home, kept, noted(older)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories_audit_payload SET body = 'other' WHERE event_id = 1",
        "DELETE FROM memories_audit_payload WHERE event_id = 1",
        "UPDATE memories_audit_payload SET body = '', salt = '', blanked_at = '2026' WHERE event_id = 1",
    ],
)
def test_a_text_that_was_changed_removed_or_blanked_unrecorded_is_found(
    home: Path, tampering: sqlite3.Connection, statement: str
) -> None:
    tampering.execute(statement)

    assert faults(home) == [(Wrong.PAYLOAD, 1)]


def test_a_trigger_that_is_gone_is_found(home: Path) -> None:
    with closing(sqlite3.connect(file_of(home))) as connection:
        connection.execute("DROP TRIGGER memories_audit_event_delete")

    assert [fault.kind for fault in checked(home).faults] == [Wrong.UNGUARDED]


def test_a_history_under_another_secret_is_not_taken_for_ours(home: Path) -> None:
    found = check(file_of(home), chain_key("another"), [])

    assert {fault.kind for fault in found.faults} == {Wrong.CHANGED, Wrong.UNSEALED}


def test_a_file_that_is_cut_short_is_named_as_damaged(home: Path) -> None:
    file = file_of(home)
    file.write_bytes(file.read_bytes()[:20_000])

    assert Wrong.DAMAGED in {fault.kind for fault in checked(home).faults}


def test_the_command_ends_well_on_a_sound_history(run_command: Run, home: Path) -> None:
    ran = run_command("audit_verify", "--hermes-home", str(home), "--json")

    assert ran.exit == 0
    assert ran.answers == [
        {"success": True, "rows": 12, "end": f"12:{noted(home).mac}", "blanked": 1, "faults": []}
    ]


def test_the_command_fails_on_a_tampered_one(
    run_command: Run, home: Path, tampering: sqlite3.Connection
) -> None:
    tampering.execute("UPDATE memories_audit_event SET actor = 'nobody' WHERE position = 3")

    ran = run_command("audit_verify", "--hermes-home", str(home))

    assert ran.exit == 1
    assert "Row 3" in ran.out


def test_the_command_misses_a_history_that_is_gone(run_command: Run, home: Path) -> None:
    file_of(home).unlink()

    assert run_command("audit_verify", "--hermes-home", str(home)).exit == 1


def test_the_command_has_nothing_against_a_home_without_a_history(run_command: Run, tmp_path: Path) -> None:
    ran = run_command("audit_verify", "--hermes-home", str(tmp_path / "new"))

    assert (ran.exit, ran.out) == (0, "Nothing has been recorded yet.\n")
    assert not (tmp_path / "new").exists()


def test_the_command_takes_an_end_that_was_kept(run_command: Run, home: Path) -> None:
    arguments = ("audit_verify", "--hermes-home", str(home), "--end")

    assert run_command(*arguments, f"12:{noted(home).mac}").exit == 0
    assert run_command(*arguments, f"12:{'0' * 64}").exit == 1
    assert run_command(*arguments, "twelve").exit == 2


@pytest.fixture
def run_command() -> Run:
    import io

    from django.core.management import call_command

    from tests.support.commands import Ran

    def ran(name: str, *arguments: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(name, *arguments, stdout=out, stderr=err)
        except SystemExit as ended:
            return Ran(int(ended.code or 0), out.getvalue(), err.getvalue())
        return Ran(0, out.getvalue(), err.getvalue())

    return ran
