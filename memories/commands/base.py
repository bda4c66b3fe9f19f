"""The one base class of the suite's management commands.

A command says which arguments it takes and does its work; this class adds `--json`, `--db-path` and
`--hermes-home`, turns errors into the one error shape, and ends with the exit code of spec 00.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandParser

from memories.commands.exits import Exit, exit_for
from memories.commands.show import error_lines
from memories.commands.terminal import ProgressLine, Screen
from memories.contract import ErrorCode, MemsuiteError
from memories.screening import safe_answer
from memories.settings import Settings, load_settings

if TYPE_CHECKING:
    from memories.repository import MemoryRepository

# Kept working, but left out of `--help`, where they would bury a command's own options.
_DJANGO_OPTIONS = {
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
}


class SuiteCommand(BaseCommand, ABC):
    """Subclasses set `help`, and override `arguments` and `work`."""

    # The checks are Django's own and about the console; a command over the memories needs none of it.
    requires_system_checks = ()
    suppressed_base_arguments = _DJANGO_OPTIONS
    touches_database = True

    def arguments(self, parser: CommandParser) -> None:
        """Add what this command takes beside the common options."""

    @abstractmethod
    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        """Do the work and print its outcome; raise `MemsuiteError` for what cannot be done."""

    def add_arguments(self, parser: CommandParser) -> None:
        self.arguments(parser)
        common = parser.add_argument_group("common options")
        common.add_argument("--json", action="store_true", help="print JSON, one answer a line")
        common.add_argument(
            "--hermes-home", metavar="DIR", help="the Hermes home to work on (HERMES_HOME, else ~/.hermes)"
        )
        if self.touches_database:
            common.add_argument(
                "--db-path",
                metavar="DIR",
                help="the database directory (MEMSUITE_DB_PATH, else as configured)",
            )

    def handle(self, *args: object, **options: Any) -> None:
        self.json = bool(options["json"])
        self.screen = Screen.of(self.stdout)
        _survive_narrow_encoding()
        try:
            settings = load_settings(hermes_home=options["hermes_home"], db_path=options.get("db_path"))
            outcome = self.work(settings, options)
        except MemsuiteError as error:
            self.tell(error)
            outcome = exit_for(error)
        if outcome is not Exit.DONE:
            sys.exit(int(outcome))

    @contextmanager
    def repository(self, settings: Settings, *, create: bool) -> Iterator[MemoryRepository]:
        """The repository of these settings, closed at the end.

        Without `create`, a place that holds no database is an error rather than an empty one: a mistyped path
        must not look like a memory that has forgotten everything.
        """
        # Imported here because the engine and the model take over a second, which `--help` need not wait for.
        from memories.embedding.factory import create_embedder
        from memories.repository.repository import COMMAND_WAIT, MemoryRepository

        if not create:
            _require_database(settings)
        embedder = create_embedder(settings)
        try:
            with MemoryRepository.open(settings, embedder, lock_wait=COMMAND_WAIT) as repository:
                yield repository
        finally:
            embedder.close()

    def say(self, *lines: str) -> None:
        """Lines for a person; with `--json` they are left out, so that standard output is only JSON."""
        if not self.json:
            for line in lines:
                self.stdout.write(line)

    def answer(self, answer: Mapping[str, Any]) -> None:
        """One answer as one line of JSON."""
        encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
        self.stdout.write(json.dumps(answer, ensure_ascii=encoding != "utf8", allow_nan=False))
        # Whoever feeds a pipe line by line waits for the answer to each.
        self.stdout.flush()

    def tell(self, error: MemsuiteError) -> None:
        """An error: JSON on standard output with `--json`, else lines on standard error."""
        if self.json:
            self.answer(safe_answer(error))
            return
        for line in error_lines(safe_answer(error), Screen.of(self.stderr)):
            self.stderr.write(line, style_func=str)

    def progress(self, what: str, total: int) -> ProgressLine:
        """A progress line on standard error, where that is a terminal."""
        # The raw stream: Django's wrapper ends each write with a new line.
        return ProgressLine(sys.stderr, what, total)


def _require_database(settings: Settings) -> None:
    path = settings.db_path
    if path.is_dir() and any(path.iterdir()):
        return
    raise MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"There is no database at {path}. Check the path, or store a first memory with add_memory.",
        received=str(path),
    )


def _survive_narrow_encoding() -> None:
    # On a terminal that cannot show a character, a replacement mark is better than an exception half way.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
