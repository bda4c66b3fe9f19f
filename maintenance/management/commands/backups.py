"""`backups`: the managed backups there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.sizes import size
from memories.contract import CONTRACT_VERSION
from memories.settings import Settings


class Command(SuiteCommand):
    help = "List the managed backups, newest first. Changes nothing."

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository.backup import Backups
        from memories.repository.files import DatabaseFiles

        found = Backups(DatabaseFiles(settings.db_path), settings.backups_dir).list()
        if self.json:
            answer = {"success": True, "backups": [backup.as_dict() for backup in found]}
            self.answer(answer | {"contract_version": CONTRACT_VERSION})
        for backup in found:
            state = "verified" if backup.verified else "put aside by a restore"
            self.say(
                f"{backup.name:<42}{backup.created_at:%Y-%m-%d %H:%M} UTC  {backup.memories:>8,} memories"
                f"{size(backup.size):>11}  {state}"
            )
        if not found:
            self.say(f"There are no backups in {settings.backups_dir}.")
        return Exit.DONE
