"""`purge`: erases memories for good."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser
from django.db import connection

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository.purging import PurgeResult


class Command(SuiteCommand):
    help = (
        "Erase memories for good, stored or in the trash: from the tables and their history, from every file "
        "that held them, from the counts of use, the console's history and the managed backups. Nothing "
        "brings them back."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", nargs="*", metavar="ID", help="the memories; none finishes a killed purge")
        parser.add_argument("--yes", action="store_true", help="confirm; without it nothing is done")
        parser.add_argument(
            "--backups",
            choices=("rewrite", "drop"),
            default="rewrite",
            help="take the memories out of the managed backups (the default), or delete those",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        if not options["yes"]:
            raise MemsuiteError(
                ErrorCode.CONFIRMATION_REQUIRED, "yes", "A purge cannot be taken back. Say --yes with it."
            )
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository.purging import Copies, Purger

        _require_own_console(settings)
        console = _Console()
        with console.recorded(options["ids"]):
            result = Purger(settings).purge(
                options["ids"], Copies(options["backups"]), elsewhere=console.erase
            )
        blanked = console.blanked
        if self.json:
            self.answer(result.as_answer() | {"console_texts": blanked})
        self.say(*_lines(result, blanked))
        return Exit.DONE


def _require_own_console(settings: Settings) -> None:
    """Raises ``invalid_parameter`` where the console's history of another Hermes home would be left out."""
    own = connection.settings_dict["NAME"]
    if settings.console_db.is_file() and Path(str(own)) != settings.console_db:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "hermes_home",
            "The console of another Hermes home quotes memories too. Set HERMES_HOME to it instead.",
            received=str(settings.hermes_home),
        )


class _Console:
    """The console's history, where there is one: it records the purge, and forgets what it quotes."""

    def __init__(self) -> None:
        from maintenance.console.erasing import has_history
        from memories.repository import Author

        self._there = has_history()
        self._author = Author("command", source="command")
        self.blanked = 0

    @contextmanager
    def recorded(self, ids: Sequence[str]) -> Iterator[None]:
        if not self._there:
            yield
            return
        from memories.console.audit import recorded_as

        with recorded_as(self._author, "purge", ids=ids) as event:
            yield
            event.complete(changed=len(ids), operation_id="")

    def erase(self, ids: Collection[str]) -> None:
        from maintenance.console.erasing import erase_from_console

        if self._there:
            self.blanked = erase_from_console(sorted(ids), self._author)


def _lines(result: PurgeResult, blanked: int) -> Iterator[str]:
    yield f"Purged: {', '.join(result.memory_ids)}"
    rows = ", ".join(f"{name} {count:,}" for name, count in result.rows.items() if count)
    yield f"  rows erased: {rows or 'none were left'}"
    if result.spool_lines:
        yield f"  turns waiting to be filed: {result.spool_lines:,}"
    if blanked:
        yield f"  texts of the console's history blanked: {blanked:,}"
    for name, what in result.backups.items():
        yield f"  backup {name}: {what}"
