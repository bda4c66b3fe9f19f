"""`demo_data`: fill a sample database with invented memories, and show what the suite makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.demo import DemoOutcome, demo_memories, load_demo
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository import MemoryRepository


class Command(SuiteCommand):
    help = (
        "Fill a sample database with invented memories of three projects in English, French and Norwegian. "
        "Running it again adds nothing. A database that holds other memories is left alone."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--walk", action="store_true", help="then walk through a few searches")
        parser.add_argument(
            "--among-others", action="store_true", help="add them even where other memories are stored"
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        from memories.demo.tour import tour

        with self.repository(settings, create=True) as repository:
            if not options["among_others"]:
                _require_sample(repository)
            outcome = self._load(repository)
            if self.json:
                self.answer(_answer(outcome, repository))
            self.say(*self.screen.wrap(_sentence(outcome, settings)))
            if options["walk"] and not self.json:
                for lines in tour(repository, self.screen):
                    self.say(*lines)
        return Exit.DONE

    def _load(self, repository: MemoryRepository) -> DemoOutcome:
        with self.progress("Storing invented memories", len(demo_memories())) as line:
            return load_demo(repository, datetime.now(UTC), line.show)


def _require_sample(repository: MemoryRepository) -> None:
    from memories.demo.loader import is_somebodys

    if not is_somebodys(repository):
        return
    raise MemsuiteError(
        ErrorCode.CONFIRMATION_REQUIRED,
        "among_others",
        f"{repository.path} holds {repository.count():,} other memories, and invented ones would turn up in "
        "your agent's searches. Name another place with --hermes-home or --db-path, or say --among-others.",
        received=str(repository.path),
    )


def _answer(outcome: DemoOutcome, repository: MemoryRepository) -> dict[str, object]:
    return {
        "success": True,
        "added": outcome.added,
        "kept": outcome.kept,
        "count": repository.count(),
        "open_conflicts": len(repository.conflicts(status="open")),
        "db_path": str(repository.path),
    }


def _sentence(outcome: DemoOutcome, settings: Settings) -> str:
    if not outcome.added:
        return f"All {outcome.kept} invented memories are in {settings.db_path} already; nothing was added."
    return f"{outcome.added} invented memories stored in {settings.db_path}, {outcome.kept} were there."
