"""`backup`: a copy of the database that has proved to be whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.sizes import size
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Copy the present state of the database aside, and check every row of the copy in a process of its "
        "own. The two newest such backups are kept."
    )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository.upkeep import Maintenance

        backup = Maintenance(settings).back_up()
        if self.json:
            self.answer(backup.as_answer())
        self.say(f"{backup.name}: {backup.memories:,} memories, {size(backup.size)}, verified.")
        self.say(f"It lies at {backup.path}")
        return Exit.DONE
