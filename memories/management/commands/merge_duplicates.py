"""`merge_duplicates`: exact duplicates become one memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit, exit_for, worst
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings


class Command(SuiteCommand):
    help = (
        "Find memories that say the same word for word. With --apply each group becomes one memory: the one "
        "of the best quality is kept, then the most recalled, the longest, the oldest; tags are united and "
        "edges re-pointed. What says it in other words is left for a person, on the console's page of "
        "duplicates."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--threshold",
            type=float,
            default=0.92,
            metavar="NUMBER",
            help="how alike memories must be to be looked at, from 0.5 to 1; 0.92 unless given",
        )
        parser.add_argument("--apply", action="store_true", help="merge them")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.interchange.exact import merge, plan_merges
        from memories.repository import Author

        if not 0.5 <= options["threshold"] <= 1.0:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER,
                "threshold",
                "The threshold lies between 0.5 and 1.",
                received=options["threshold"],
            )
        with self.repository(settings, create=False) as repository:
            plan = plan_merges(repository, options["threshold"])
            if not options["apply"]:
                return self._planned(plan)
            outcomes = merge(repository, plan.exact, Author("command", source="command"))
        exits = []
        for outcome in outcomes:
            if outcome.error is not None:
                self.tell(outcome.error)
                exits.append(exit_for(outcome.error))
                continue
            if self.json:
                answer = {"success": True, "status": "merged", "operation_id": outcome.operation_id}
                self.answer(answer | outcome.group.as_answer())
            self.say(
                f"{outcome.group.keeper.id}  takes in {len(outcome.group.others)}", *self._text(outcome.group)
            )
        self.say(f"{_groups(len(outcomes) - len(exits))} merged, {plan.left:,} left for a person.")
        return worst(exits)

    def _planned(self, plan: Any) -> Exit:
        if self.json:
            groups = [group.as_answer() for group in plan.exact]
            self.answer({"success": True, "status": "dry_run", "groups": groups, "left": plan.left})
        for group in plan.exact:
            self.say(f"{group.keeper.id}  would take in {len(group.others)}", *self._text(group))
        self.say(f"{_groups(len(plan.exact))} of exact duplicates, {plan.left:,} left for a person.")
        return Exit.DONE

    def _text(self, group: Any) -> list[str]:
        return self.screen.wrap(group.keeper.content, "  ")


def _groups(count: int) -> str:
    return f"{count:,} group{'' if count == 1 else 's'}"
