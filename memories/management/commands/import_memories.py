"""`import_memories`: bring in what another store holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.import_lines import import_lines
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Import what a file or directory of this suite, of the older suite, of MemPalace, Mnemosyne, Nexus "
        "or of Hermes' built-in memory holds. The source is only read. Rows that do not fit are set aside "
        "with their reasons. Run again it adds nothing; killed and run again it goes on."
    )

    def arguments(self, parser: CommandParser) -> None:
        from memories.interchange.systems import AUTO, System

        parser.add_argument("source", metavar="PATH", help="the file or directory to read")
        parser.add_argument(
            "--from",
            dest="system",
            default=AUTO,
            choices=[AUTO, *System],
            metavar="SYSTEM",
            help=f"what it is: {', '.join([AUTO, *System])}",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")
        parser.add_argument("--report", metavar="FILE", help="write the whole report there, as JSON")
        parser.add_argument(
            "--user-id",
            default="",
            metavar="ID",
            help="whose turns and lessons these are, where they do not say",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.interchange.archives import unpacked
        from memories.interchange.importing import import_from
        from memories.interchange.sources import source_at
        from memories.interchange.systems import system_named

        with unpacked(source_at(options["source"])) as path:
            system = system_named(options["system"], path)
            with self.repository(settings, create=True) as repository, self.progress("Importing", 1) as line:
                report = import_from(
                    repository,
                    path,
                    system,
                    user_id=options["user_id"],
                    dry_run=options["dry_run"],
                    progress=line.of,
                )
        answer = report.as_answer() | {"source": options["source"]}
        if options["report"]:
            _write(Path(options["report"]), answer)
        if self.json:
            self.answer(answer)
        self.say(*import_lines(answer, self.screen))
        return Exit.DONE


def _write(path: Path, answer: Mapping[str, Any]) -> None:
    try:
        path.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "report", f"The report cannot be written: {error.strerror}."
        ) from error
