"""`graph_retention`: edges that lead nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Find edges whose memories are gone, that lead from a memory to itself, or that say what another "
        "one says. With --apply they are removed as one operation, which can be undone; an older suite's "
        "database is only read."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="remove them")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.interchange.older_edges import older_plan
        from memories.repository import Author
        from memories.repository.foreign import is_older_suite

        operation = ""
        if is_older_suite(settings.db_path):
            if options["apply"]:
                raise _only_read()
            plan = older_plan(settings.db_path)
        else:
            with self.repository(settings, create=False) as repository:
                if options["apply"]:
                    plan, operation = repository.retention.apply(Author("command", source="command"))
                else:
                    plan = repository.retention.plan()
        counts = plan.counts
        if self.json:
            listed = [edge.as_row() | {"fault": str(fault)} for edge, fault in plan.faulty]
            rows = [row | {"created_at": row["created_at"].isoformat()} for row in listed]
            self.answer(
                {
                    "success": True,
                    "status": "applied" if operation else "dry_run",
                    "operation_id": operation,
                    "edges": plan.total,
                    "unresolved": plan.unresolved,
                    "faults": counts,
                    "rows": rows,
                }
            )
        self.say(f"{plan.total:,} edges, {plan.unresolved:,} of them by a label that matches no memory yet.")
        listed_counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        self.say(f"{'Removed' if operation else 'To remove'}: {listed_counts}.")
        for edge, fault in plan.faulty[:20]:
            target = edge.target_id or edge.target_label
            self.say(f"  {fault}: {edge.source_id} {edge.relation_type} {target}")
        if operation:
            self.say(self.screen.style(f"operation {operation}", "faint"))
        return Exit.DONE


def _only_read() -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        "apply",
        "A database of the older suite is never changed: adopt it, which leaves such edges out.",
    )
