"""`search_memories`: what the agent's search tool answers, for a person or a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.show import diagnostics_lines, search_lines
from memories.settings import Settings

# The options as retrieval calls them. Those left out stay out, so that defaults live in one place.
_ARGUMENTS = ("query", "top_k", "mode", "category", "tier", "tag", "relation_depth", "neighbor_budget")


class Command(SuiteCommand):
    help = (
        "Search the memories as the agent does: ranked results, or a plain word that nothing is stored "
        "about it. With --json the answer is exactly the agent's. Exit code 0, also when nothing was found; "
        "1 when the search could not be made in full."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "query", metavar="QUERY", help="a question, its distinctive words, or a memory's id"
        )
        parser.add_argument("--top-k", type=int, metavar="N", help="how many results at most (10)")
        parser.add_argument("--mode", metavar="MODE", help="auto, hybrid, lexical or graph (auto)")
        parser.add_argument("--category", help="only memories of this category")
        parser.add_argument("--tier", type=int, help="only memories of this tier")
        parser.add_argument("--tag", help="only memories with this tag")
        parser.add_argument("--relation-depth", type=int, metavar="0|1", help="1 adds declared relations (1)")
        parser.add_argument("--neighbor-budget", type=int, metavar="N", help="related memories at most (5)")
        parser.add_argument("--diagnostics", action="store_true", help="add the numbers behind the answer")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because it brings the engine along, which `--help` need not wait for.
        from memories.retrieval import SearchRequest, search

        arguments: dict[str, object] = {
            name: options[name] for name in _ARGUMENTS if options.get(name) is not None
        }
        request = SearchRequest.from_arguments({**arguments, "diagnostics": options["diagnostics"]})
        with self.repository(settings, create=False) as repository:
            answer = search(repository, request).as_answer()
        if self.json:
            self.answer(answer)
        self.say(*search_lines(answer, self.screen))
        if options["diagnostics"]:
            self.say(*diagnostics_lines(answer, self.screen))
        return Exit.FAILED if answer["degraded"] else Exit.DONE
