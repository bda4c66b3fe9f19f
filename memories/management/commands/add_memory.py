"""`add_memory`: store memories given as options, or as JSON from a file or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from memories.commands import payloads
from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit, exit_for, worst
from memories.commands.show import add_lines
from memories.contract import Category, ErrorCode, MemsuiteError, RelationType, Tier, WriteMode
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository import MemoryRepository


class Command(SuiteCommand):
    help = (
        "Store a memory given as options, or many as JSON or JSON lines from a file or standard input (-). "
        "One answer for each. Exit code 0 when all were stored or already there, 1 when storing failed, "
        "2 when any was refused."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", nargs="?", metavar="FILE", help="JSON or JSON lines; - is standard input"
        )
        memory = parser.add_argument_group("a memory")
        memory.add_argument("--domain", help="project or area, such as Tidewater")
        memory.add_argument("--subject", help="what the facts are about, such as gateway")
        memory.add_argument("--fact", action="append", metavar="TEXT", help="one statement; may be repeated")
        memory.add_argument("--tier", help=_choices(str(int(tier)) for tier in Tier))
        memory.add_argument("--category", help=_choices(Category))
        memory.add_argument(
            "--relation",
            action="append",
            metavar="TYPE:TARGET",
            help="TARGET is Domain:Subject, or id=<memory id>; may be repeated. TYPE is "
            + _choices(RelationType),
        )
        memory.add_argument("--tag", action="append", metavar="TEXT", help="may be repeated")
        memory.add_argument("--quality", help="from 0 to 1, 0.5 unless given")
        memory.add_argument("--type", help="a label of your own; the category unless given")
        memory.add_argument("--write-mode", help=_choices(WriteMode))

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        self._require_one_source(options)
        with self._payloads(options) as found, self.repository(settings, create=True) as repository:
            exits = [self._add(repository, payload) for payload in found]
        if not exits:
            raise MemsuiteError(
                ErrorCode.REQUIRED_FIELD,
                "source",
                "There is no memory in the input.",
                expected="JSON or JSON lines",
            )
        return worst(exits)

    def _require_one_source(self, options: Mapping[str, Any]) -> None:
        if (options["source"] is not None) != payloads.given(options):
            return
        raise MemsuiteError(
            ErrorCode.REQUIRED_FIELD if options["source"] is None else ErrorCode.INVALID_PARAMETER,
            "source",
            "Give a memory either as options (--domain, --subject, --fact, --tier, --category) or as JSON "
            "from a file or -.",
        )

    @contextmanager
    def _payloads(self, options: Mapping[str, Any]) -> Iterator[Iterable[object]]:
        source = options["source"]
        if source is None:
            yield [payloads.from_options(options)]
        elif source == "-":
            yield payloads.from_json(sys.stdin)
        else:
            with _opened(Path(source)) as lines:
                yield payloads.from_json(lines)

    def _add(self, repository: MemoryRepository, payload: object) -> Exit:
        from memories.repository import Author

        try:
            if isinstance(payload, MemsuiteError):
                raise payload
            answer = repository.add(payload, Author(actor="command", source="command")).as_answer()
        except MemsuiteError as error:
            self.tell(error)
            return exit_for(error)
        if self.json:
            self.answer(answer)
        self.say(*add_lines(answer, self.screen))
        # A suggestion to update is no error of the contract, but nothing was stored either.
        return Exit.DONE if answer["success"] else Exit.REFUSED


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[str]]:
    try:
        # utf-8-sig: files written on Windows may begin with a byte order mark.
        with path.open(encoding="utf-8-sig") as lines:
            yield lines
    except (OSError, UnicodeDecodeError) as problem:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "source", f"{path} cannot be read as UTF-8 text: {problem}."
        ) from problem


def _choices(values: Iterable[object]) -> str:
    *first, last = (str(value) for value in values)
    return f"{', '.join(first)} or {last}"
