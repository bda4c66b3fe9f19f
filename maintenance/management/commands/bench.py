"""`bench`: measures the suite on data made for it, in a directory of its own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from maintenance.bench.benchmark import Benchmark, Run, discovered
from maintenance.bench.report import lines
from maintenance.bench.results import Result
from maintenance.bench.workspace import workspace
from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

# Said after the name of the benchmark; Django's own names are no part of a command to repeat.
_COMMON = ("json", "output", "directory", "hermes_home")


class Command(SuiteCommand):
    help = (
        "Measure the suite on generated data, never on your database: the work is done in a temporary "
        "directory, which is removed. Exit code 0 when the bars are met, 1 when they are not."
    )
    touches_database = False

    def arguments(self, parser: CommandParser) -> None:
        found = parser.add_subparsers(dest="benchmark", metavar="BENCHMARK", required=True)
        for benchmark in discovered().values():
            of_its_own = found.add_parser(
                benchmark.name, help=benchmark.summary, description=benchmark.summary.capitalize() + "."
            )
            _take_common(of_its_own)
            benchmark.arguments(of_its_own)

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        benchmark = discovered()[options["benchmark"]]
        output = _writable(options.get("output"))
        with workspace(options.get("directory")) as directory:
            result = self._run(benchmark, options, directory)
        if output is not None:
            result.write(output)
        if self.json:
            self.answer(result.as_document())
        self.say(*lines(result))
        return Exit.DONE if result.passed else Exit.FAILED

    def _run(self, benchmark: Benchmark, options: Mapping[str, Any], directory: Path) -> Result:
        return benchmark.run(Run(options, directory, self.progress, _as_typed(benchmark, options)))


def _take_common(parser: argparse.ArgumentParser) -> None:
    """The options of every benchmark. They may also stand before its name, hence no defaults here."""
    common = parser.add_argument_group("common options")
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print the result as JSON"
    )
    common.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON to this file")
    common.add_argument(
        "--directory",
        type=Path,
        metavar="DIR",
        help="where the temporary directory is made (the system's place for such)",
    )


def _writable(output: Path | None) -> Path | None:
    """Known before an hour of measuring rather than after it."""
    if output is not None and not output.resolve().parent.is_dir():
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "output",
            "The directory of this file does not exist.",
            received=str(output),
        )
    return output


def _as_typed(benchmark: Benchmark, options: Mapping[str, Any]) -> str:
    """The command with every option of the benchmark, defaults included, so that it can be repeated."""
    parser = argparse.ArgumentParser(add_help=False)
    benchmark.arguments(parser)
    given = []
    for action in parser._actions:
        value = options.get(action.dest)
        if value in (None, False) or action.dest in _COMMON:
            continue
        name = max(action.option_strings, key=len, default="")
        given += [name] if value is True else [name, _shown(value)]
    return " ".join(["manage.py bench", benchmark.name, *filter(None, given)])


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
