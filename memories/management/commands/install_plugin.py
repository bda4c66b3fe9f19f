"""`install_plugin`: put the Hermes plugin folders in place, select the provider, or compare versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from hermes_plugin.provider.installer import Options, Report, Step, check, install
from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.repository.foreign import is_older_suite
from memories.settings import Settings


class Command(SuiteCommand):
    help = "Install the Hermes plugin folders; a second run changes nothing."
    touches_database = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--provider", action="store_true", help="the memory provider")
        parser.add_argument("--recall", action="store_true", help="the keyword recall tool (neither: both)")
        parser.add_argument(
            "--select", action="store_true", help="set memory.provider in Hermes' config.yaml"
        )
        parser.add_argument(
            "--replace", action="store_true", help="move folders this command did not write aside (kept)"
        )
        parser.add_argument("--check", action="store_true", help="only compare what is installed")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        chosen = Options(
            hermes_home=settings.hermes_home,
            provider=options["provider"],
            recall=options["recall"],
            select=options["select"],
            replace=options["replace"],
            dry_run=options["dry_run"],
        )
        report = check(chosen) if options["check"] else install(chosen)
        if self.json:
            self.answer(report.as_answer())
        else:
            self.say(*self._lines(report, checking=options["check"]))
            if is_older_suite(settings.db_path):
                self.say(f"Next: manage.py adopt, since {settings.db_path} is the older suite's database")
        if report.success:
            return Exit.DONE
        return Exit.FAILED if options["check"] else Exit.REFUSED

    def _lines(self, report: Report, *, checking: bool) -> list[str]:
        lines = [f"Hermes home: {report.home}"]
        if report.dry_run and not checking:
            lines.append("Dry run: nothing is written.")
        lines.extend(self._step_line(step, "good") for step in report.steps)
        lines.extend(self._step_line(step, "bad") for step in report.refused)
        lines.extend(f"Next: {step}" for step in report.next_steps)
        return lines

    def _step_line(self, step: Step, style: str) -> str:
        detail = f"  ({step.detail})" if step.detail else ""
        return f"{self.screen.style(step.action.replace('_', ' '), style)}  {step.path}{detail}"
