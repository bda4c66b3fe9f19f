"""Checks of the upkeep: does maintenance succeed, is there a backup, was a purge or a copy cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from maintenance.doctor.findings import Finding, good, note, problem
from memories.settings import Settings


def examine_upkeep(settings: Settings) -> Iterator[Finding]:
    """Nothing where there is no database."""
    # Imported here: the engine takes over a second, and the plugin imports this module lightly.
    from memories.repository.files import DatabaseFiles
    from memories.repository.purging import unfinished_purge
    from memories.repository.upkeep import Maintenance

    files = DatabaseFiles(settings.db_path)
    if not files.tables_present():
        return
    if ids := unfinished_purge(files):
        yield problem(
            "purge",
            f"A purge of {len(ids)} memories was cut off before its end; files may still hold their words.",
            "Run 'purge --yes' without an id, which finishes it.",
            ids=list(ids),
        )
    maintenance = Maintenance(settings)
    journal = maintenance.journal()
    if journal.alarm:
        step = journal.last.get("failed_step", "")
        yield problem(
            "maintenance",
            f"Maintenance has failed {journal.failures} times in a row, last at the step {step}.",
            "Run 'compact' and read what it says.",
            failures=journal.failures,
            failed_step=step,
        )
    newest = next((backup for backup in maintenance.backups.list() if backup.verified), None)
    if newest is None:
        yield note("backups", "There is no verified backup yet.", "Run 'backup'.")
    else:
        yield good("backups", f"The newest verified backup is {newest.name}.", name=newest.name)
    yield from _leftovers(settings)


def _leftovers(settings: Settings) -> Iterator[Finding]:
    for path in leftovers(settings):
        yield note(
            "leftovers",
            f"{path} was left by a run that was killed; nothing uses it.",
            "Run 'doctor --fix', which removes it.",
            path=str(path),
        )


def leftovers(settings: Settings) -> list[Path]:
    """Unfinished copies that no run is working on: whoever works on one holds the maintenance lock."""
    from memories.repository.backup import PREFIX, UNFINISHED
    from memories.repository.locks import held_elsewhere

    root = settings.db_path.resolve()
    if held_elsewhere(root / ".memsuite" / "maintenance.lock"):
        return []
    found = [root.with_name(f"{root.name}.restoring")]
    found += sorted(settings.backups_dir.glob(f"{PREFIX}*{UNFINISHED}"))
    return [path for path in found if path.is_dir()]
