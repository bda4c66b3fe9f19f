"""`audit_format`: which memories are not in the form this suite writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.exits import Exit
from memories.commands.format_plan import FormatCommand
from memories.settings import Settings

ROWS_SHOWN = 20


class Command(FormatCommand):
    help = (
        "Look at the text of every memory of this suite's or an older suite's database, and name those that "
        "are not in the canonical form. Changes nothing."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fail-on-drift", action="store_true", help="exit with 1 where any memory is in another form"
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        rows = self.rows(settings)
        counts = self.counted(rows)
        drifting = [row for row in rows if row.plan.drifts]
        if self.json:
            shown = [row.as_answer() for row in rows if row.message]
            self.answer({"success": True, "drift": len(drifting), "counts": counts, "rows": shown})
        self.say(self.headline(counts))
        for row in drifting[:ROWS_SHOWN]:
            self.say(*self.screen.wrap(f"{row.id}  {row.code}: {row.message}", "  ", "    "))
        if len(drifting) > ROWS_SHOWN:
            self.say(f"  and {len(drifting) - ROWS_SHOWN:,} more; --json names them all")
        return Exit.FAILED if drifting and options["fail_on_drift"] else Exit.DONE
