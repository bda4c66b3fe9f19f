"""`export_memories`: write everything into one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Write memories, edges, conflicts, history, turns, lessons, quarantine and usage into one file, or "
        "as parquet for other tools. Importing the file into an empty database and exporting that gives "
        "the same bytes."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH", help="the file; for parquet a file or a directory")
        parser.add_argument("--format", choices=["jsonl", "parquet"], default="jsonl")
        parser.add_argument(
            "--with-vectors", action="store_true", help="vectors too, so that an import needs no model"
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.interchange.exporting import export_jsonl
        from memories.interchange.parquet import export_parquet

        export = export_jsonl if options["format"] == "jsonl" else export_parquet
        with (
            self.repository(settings, create=False) as repository,
            self.progress("Exporting", 1) as line,
        ):
            result = export(
                repository,
                Path(options["path"]),
                vectors=options["with_vectors"],
                progress=lambda done, total: line.of("Exporting", done, total),
            )
        if self.json:
            self.answer(result.as_answer())
        kept = ", ".join(f"{count:,} {name}" for name, count in result.rows.items() if count)
        self.say(f"{result.path}  {result.size:,} bytes", f"  {kept or 'nothing is stored'}")
        return Exit.DONE
