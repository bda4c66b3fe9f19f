"""`consolidate`: lessons out of the corrections in captured turns and in Hermes' history."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.capture.consolidate import Consolidated

_DAYS = re.compile(r"(\d{1,5})d")


class Command(SuiteCommand):
    help = (
        "Find corrections in captured turns and in Hermes' own history (read only), group those that say "
        "the same, and put them forward as lessons. A lesson becomes a memory only when a person approves "
        "it in the console. Running this twice adds nothing."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since", metavar="WHEN", help="read from then on: a date, an ISO time, or days back as in 30d"
        )
        source = parser.add_mutually_exclusive_group()
        source.add_argument(
            "--state-db", metavar="PATH", type=Path, help="Hermes' history ($HERMES_HOME/state.db)"
        )
        source.add_argument("--no-state-db", action="store_true", help="leave Hermes' history out")
        parser.add_argument("--dry-run", action="store_true", help="say what would be put forward, and stop")
        parser.add_argument(
            "--prune",
            action="store_true",
            help="also move turns to the trash that nobody has seen for 180 days and that had little trust",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        since = _moment(options["since"])
        state_db = _history(settings, options)
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.capture.consolidate import consolidate
        from memories.capture.state_db import count_messages
        from memories.repository import Author

        with self.repository(settings, create=True) as repository:
            total = repository.turns.count() + (count_messages(state_db) if state_db is not None else 0)
            with self.progress("Reading", total) as line:
                result = consolidate(
                    repository,
                    Author("command", source="command"),
                    state_db=state_db,
                    since=since,
                    dry_run=options["dry_run"],
                    prune=options["prune"],
                    progress=line.show,
                )
        if self.json:
            self.answer(result.as_answer())
        self.say(*_lines(result))
        return Exit.DONE


def _history(settings: Settings, options: Mapping[str, Any]) -> Path | None:
    """The file to read; one that was not asked for by name need not be there."""
    if options["no_state_db"]:
        return None
    named: Path | None = options["state_db"]
    path = named if named is not None else settings.hermes_home / "state.db"
    return path if named is not None or path.is_file() else None


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    if days := _DAYS.fullmatch(text):
        return datetime.now(UTC) - timedelta(days=int(days[1]))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "since",
            "A date, a time or a number of days is expected.",
            received=text,
            expected="2026-11-30, 2026-11-30T08:00 or 30d",
        ) from None
    return moment.astimezone(UTC)


def _lines(result: Consolidated) -> list[str]:
    answer = result.as_answer()
    lines = [f"{result.read:,} messages read, {result.corrections:,} corrections with a rule in them."]
    if result.dry_run:
        lines.append(f"{len(result.found):,} lessons would be put forward or get more evidence:")
    else:
        lines.append(
            f"{len(result.created):,} new lessons, {len(result.extended):,} with more evidence; "
            f"{result.known:,} corrections were known."
        )
    for lesson in answer["lessons"]:
        lines.append(f"  {lesson['count']:>3} × {lesson['rule']}")
        lines += [f"        {lesson['note']}"] if lesson["note"] else []
    if result.pruned:
        lines.append(f"{result.pruned:,} turns moved to the trash.")
    elif result.prunable:
        lines.append(f"{result.prunable:,} turns could be pruned (--prune).")
    return lines
