"""`compact`: the upkeep of the database files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.sizes import signed_size, size
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository.upkeep import MaintenanceResult, Plan


class Command(SuiteCommand):
    help = (
        "Compact what has grown and remove old versions, where that is needed, with a verified backup first. "
        "What is stored does not change. Without an option it does what a timer does; see --plan."
    )

    def arguments(self, parser: CommandParser) -> None:
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument("--plan", action="store_true", help="say what would be done and why, and stop")
        mode.add_argument(
            "--routine", action="store_true", help="keep old versions for a day; the default, for timers"
        )
        mode.add_argument(
            "--reclaim",
            action="store_true",
            help="keep no old version at all; waits until nobody reads, and needs --yes",
        )
        parser.add_argument("--yes", action="store_true", help="confirm --reclaim")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository.upkeep import Maintenance, Mode

        if options["reclaim"] and not options["yes"]:
            raise MemsuiteError(
                ErrorCode.CONFIRMATION_REQUIRED,
                "yes",
                "Reclaim removes every earlier version of the tables at once. Say --yes with it.",
            )
        maintenance = Maintenance(settings)
        if options["plan"]:
            plan = maintenance.plan()
            if self.json:
                self.answer(plan.as_answer())
            self.say(*_plan_lines(plan))
            return Exit.DONE
        mode = Mode.RECLAIM if options["reclaim"] else Mode.ROUTINE
        result = maintenance.run(mode, self._tell)
        if self.json:
            self.answer(result.as_answer())
        self.say(*self._result_lines(result))
        return Exit.DONE if result.success else Exit.FAILED

    def _tell(self, step: str) -> None:
        """The step that begins, where a person watches."""
        if self.stderr.isatty() and not self.json:
            self.stderr.write(self.screen.style(f"{step.replace('_', ' ')} …", "faint"), style_func=str)

    def _result_lines(self, result: MaintenanceResult) -> Iterator[str]:
        if not result.success:
            assert result.error is not None
            yield self.screen.style(f"Failed at the step {result.failed_step}", "bad")
            yield from self.screen.wrap(result.error.message, "  ")
        elif not result.tables:
            yield "Nothing to do."
        for name, work in result.tables.items():
            if work.actions:
                done = ", ".join(work.actions)
                removed = f"{work.versions_removed:,} versions and {size(work.bytes_removed)} removed"
                yield f"{name:<26}{done}: {removed}"
        if result.tables:
            yield f"Database {signed_size(result.database_delta_bytes)}, with backups " + signed_size(
                result.footprint_delta_bytes
            )
        if result.backup_created:
            yield f"Backup made before: {result.backup_created}"
        if result.alarm:
            yield self.screen.style("Maintenance has failed several times in a row.", "bad")


def _plan_lines(plan: Plan) -> Iterator[str]:
    if not plan.needed:
        yield "Nothing to do."
    for name, table in plan.tables.items():
        for action, reason in zip(table.actions, table.reasons, strict=True):
            yield f"{name:<26}{action.replace('_', ' ')}: {reason}"
