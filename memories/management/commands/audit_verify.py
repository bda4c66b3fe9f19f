"""`audit_verify`: checks that nobody changed the audit history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

SHOWN = 20


class Command(SuiteCommand):
    help = (
        "Check the audit history of the console: every row against the row before it, under this "
        "installation's key. Exit code 1 when a row was changed or is missing."
    )
    touches_database = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--file", type=Path, help="another console database to check, such as a copy, with the same key"
        )
        parser.add_argument(
            "--end",
            metavar="POSITION:HASH",
            help="the end of the history as an earlier check printed it, which must still be in it",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        from memories.console.audit_anchor import anchor_text
        from memories.console.audit_chain import chain_key
        from memories.console.audit_check import check, nothing_at_all

        file: Path = options["file"] or settings.console_db
        anchors = _anchors(settings, options["end"])
        if file.is_file():
            checked = check(file, chain_key(_secret(settings)), anchors)
        elif options["file"]:
            raise _refusal("file", f"There is no file {file}.", str(file))
        else:
            checked = nothing_at_all(anchors)
        end = anchor_text(checked.end) if checked.rows else ""
        if self.json:
            self.answer(_answer(checked, end))
        self._say(checked, end)
        return Exit.FAILED if checked.faults else Exit.DONE

    def _say(self, checked: Any, end: str) -> None:
        for fault in checked.faults[:SHOWN]:
            self.say(self.screen.style(f"{fault.kind}: ", "bad") + fault.says)
        if len(checked.faults) > SHOWN:
            self.say(f"and {len(checked.faults) - SHOWN:,} more")
        if checked.faults:
            self.say("", f"{len(checked.faults):,} faults in {checked.rows:,} rows.")
        elif checked.rows:
            self.say(f"{checked.rows:,} rows, each as it was written. The history ends with", end)
        else:
            self.say("Nothing has been recorded yet.")


def _anchors(settings: Settings, given: str | None) -> list[Any]:
    """What is known of the history from outside it, read before the history grows any further."""
    from memories.console.audit_anchor import anchor_file, parse_anchor, read_anchor

    try:
        noted = read_anchor(anchor_file(settings))
    except ValueError:
        raise _unavailable("audit", f"{anchor_file(settings)} is not as it was written.") from None
    try:
        return [*filter(None, [noted]), *([parse_anchor(given)] if given else [])]
    except ValueError:
        raise _refusal("end", "Give it as it was printed: POSITION:HASH.", given) from None


def _secret(settings: Settings) -> str:
    try:
        return settings.secret_file.read_text(encoding="utf-8").strip()
    except OSError as problem:
        says = (
            f"{settings.secret_file} cannot be read ({problem.strerror}): nothing can be checked without it."
        )
        raise _unavailable("secret_file", says) from None


def _unavailable(field: str, says: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.STORE_UNAVAILABLE, field, says)


def _refusal(field: str, says: str, received: object = None) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, field, says, received=received)


def _answer(checked: Any, end: str) -> dict[str, Any]:
    return {
        "success": not checked.faults,
        "rows": checked.rows,
        "end": end,
        "blanked": checked.blanked,
        "faults": [
            {"kind": str(fault.kind), "position": fault.position, "says": fault.says}
            for fault in checked.faults
        ],
    }
