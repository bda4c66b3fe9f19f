"""`reembed`: give every memory a vector of the configured model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Give every memory a vector of the configured embedding model. The old vectors answer until the "
        "last new one is there; a run that was stopped is resumed where it stopped. Nothing to do where "
        "the stored vectors are of that model already."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--model",
            metavar="NAME",
            help="this model instead of the configured one; set embed_model to it afterwards",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.repository import Author

        if options["model"] is not None:
            settings = replace(settings, embed_model=options["model"])
        with self.repository(settings, create=False) as repository:
            reembedding = repository.reembedding()
            plan = reembedding.plan()
            if options["dry_run"] or not plan.needed:
                if self.json:
                    self.answer(plan.as_answer())
                self.say(_planned(plan.as_answer()))
                return Exit.DONE
            with self.progress("Re-embedding", plan.texts) as line:
                result = reembedding.run(
                    Author("command", source="command"), lambda done, total: line.show(done)
                )
        if self.json:
            self.answer(result.as_answer())
        what = _counted(result.memories, result.turns)
        self.say(f"{what} now have vectors of {result.to_identity}.")
        if options["model"] is not None:
            self.say(f'Set embed_model to "{options["model"]}" in config.json, or they cannot be searched.')
        return Exit.DONE


def _planned(plan: Mapping[str, Any]) -> str:
    what = _counted(plan["memories"], plan["turns"])
    if plan["status"] == "not_needed":
        return f"Nothing to do: the {what} have vectors of {plan['to']}."
    staged = f" {plan['staged']:,} of them are staged already." if plan["staged"] else ""
    return f"{what} would move from {plan['from']} to {plan['to']}.{staged}"


def _counted(memories: int, turns: int) -> str:
    captured = f" and {turns:,} captured turns" if turns else ""
    return f"{memories:,} memories{captured}"
