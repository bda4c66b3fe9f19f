"""`adopt`: make the older suite's database one of this suite, in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.import_lines import import_lines
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Move a database of the older suite aside, whole and unaltered, and put one of this suite in its "
        "place that was made from it and held against it row by row. Killed at any moment, one of the two "
        "is in place, and running it again finishes. --back swaps them again."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--back", action="store_true", help="put the old directory back and the adopted one beside it"
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.embedding.factory import create_embedder
        from memories.interchange.adopting import Adopting

        embedder = create_embedder(settings)
        try:
            adopting = Adopting(settings, embedder)
            if options["back"]:
                answer = adopting.back().as_answer()
            else:
                with self.progress("Adopting", 1) as line:
                    answer = adopting.run(line.of).as_answer()
        finally:
            embedder.close()
        if self.json:
            self.answer(answer)
        self.say(*(self._back(answer) if options["back"] else self._adopted(answer)))
        return Exit.DONE

    def _adopted(self, answer: Mapping[str, Any]) -> list[str]:
        lines = list(import_lines(answer["import"], self.screen)) if "import" in answer else []
        if "verified" in answer:
            checked = ", ".join(f"{count:,} {kind}" for kind, count in answer["verified"].items())
            lines.append(f"Held against the old database row by row: {checked or 'no rows'}.")
        lines.append(f"{answer['path']} has {answer['memories']:,} memories now.")
        lines.append(
            f"The old directory is at {answer['older']}, as it was. `adopt --back` swaps them again."
        )
        return lines

    def _back(self, answer: Mapping[str, Any]) -> list[str]:
        lines = [f"{answer['path']} is the older suite's database again."]
        written = answer["written_since"]
        since = f" {written:,} of its memories were written after the adoption." if written else ""
        return [*lines, f"The adopted one is at {answer['adopted']}.{since}"]
