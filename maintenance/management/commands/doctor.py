"""`doctor`: looks at everything a user can get wrong, and says how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from maintenance.doctor import Mended, Report, State, examine, mend
from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.settings import Settings

_MARKS = {State.GOOD: ("ok", "good"), State.NOTE: ("note", "accent"), State.PROBLEM: ("mend", "bad")}


class Command(SuiteCommand):
    help = (
        "Look at paths, permissions, settings, Hermes, the embedding model and the database, and say how to "
        "mend what is wrong. Changes nothing without --fix. Exit code 0 when all is well, 1 when there are "
        "problems."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fix",
            action="store_true",
            help="mend what is safe: rights, damaged indexes, unreadable counts of use, leftovers",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        report = examine(settings)
        mended: list[Mended] = []
        if options["fix"]:
            mended = mend(settings, report)
            report = examine(settings) if mended else report
        if self.json:
            done = {"mended": [one.as_dict() for one in mended]} if options["fix"] else {}
            self.answer(report.as_answer() | done)
        self.say(*self._mended_lines(mended), *self._lines(report))
        return Exit.FAILED if report.problems else Exit.DONE

    def _mended_lines(self, mended: list[Mended]) -> list[str]:
        lines: list[str] = []
        for one in mended:
            word, style = ("done", "good") if one.done else ("left", "warn")
            first, *rest = self.screen.wrap(one.message, " " * 6)
            lines += [f"{self.screen.style(word, style)}  {first.strip()}", *rest]
        return [*lines, ""] if lines else []

    def _lines(self, report: Report) -> list[str]:
        lines: list[str] = []
        for finding in report.findings:
            word, style = _MARKS[finding.state]
            first, *rest = self.screen.wrap(finding.message, " " * 6)
            lines.append(f"{self.screen.style(f'{word:<4}', style)}  {first.strip()}")
            lines.extend(rest)
            if finding.mend:
                lines.extend(self.screen.wrap(f"→ {finding.mend}", " " * 6, " " * 8))
        return [*lines, "", _verdict(len(report.problems))]


def _verdict(problems: int) -> str:
    if not problems:
        return "All is well."
    return f"{problems} {'problem' if problems == 1 else 'problems'} to mend."
