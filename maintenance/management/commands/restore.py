"""`restore`: brings a backup back in place of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Bring a backup back in place of the database, whatever state that is in. The backup is verified "
        "before and after; the replaced state is kept aside among the backups. Refused while anybody writes."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="a backup as `backups` lists it")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository.restoring import BackupRestorer

        result = BackupRestorer(settings).restore(options["name"])
        if self.json:
            self.answer(result.as_answer())
        self.say(f"{result.backup.name} is the database now.")
        if result.aside is not None:
            self.say(f"What it replaced is kept at {result.aside}")
        return Exit.DONE
