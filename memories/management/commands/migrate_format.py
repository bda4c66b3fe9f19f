"""`migrate_format`: what an import would make of each memory. A dry run only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.commands.exits import Exit
from memories.commands.format_plan import FormatCommand
from memories.interchange.formats import Plan
from memories.settings import Settings


class Command(FormatCommand):
    help = (
        "Say for each memory of this suite's or an older suite's database whether it is canonical, would be "
        "rewritten (and how), would be set aside, or is only worth a warning. Changes nothing; adopt and "
        "import_memories do it."
    )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        rows = self.rows(settings)
        counts = self.counted(rows)
        for row in (row for row in rows if row.plan is not Plan.CANONICAL):
            if self.json:
                self.answer(row.as_answer())
            text = f"{row.plan}  {row.id}  {row.code}: {row.message}"
            self.say(*self.screen.wrap(text, "", "    "))
            if row.plan is Plan.AUTO_FIX:
                self.say(*self.screen.wrap(f"→ {row.after}", "    ", "      "))
        if self.json:
            self.answer({"success": True, "status": "dry_run", "counts": counts})
        self.say(self.headline(counts))
        return Exit.DONE
