"""The audit history as CSV, a line at a time, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from memories.console.audit_history import Operation

COLUMNS = (
    "at",
    "operation_id",
    "actor",
    "user_id",
    "session_id",
    "address",
    "action",
    "result",
    "code",
    "memories",
    "changed",
    "unchanged",
    "refused",
    "note",
    "parameters",
    "undoes",
)

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that starts so is run by a spreadsheet, whatever quotes it stands in."""


def csv_lines(operations: Iterable[Operation]) -> Iterator[str]:
    """The header and a line for each operation. Times are UTC in ISO form."""
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    for operation in operations:
        yield writer.writerow([guarded(_cell(operation, name)) for name in COLUMNS])


def guarded(cell: str) -> str:
    """The cell as text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def _cell(operation: Operation, name: str) -> str:
    value = getattr(operation, name)
    if name == "at":
        return str(value.isoformat(timespec="milliseconds"))
    if name == "parameters":
        return "; ".join(f"{key}={shown(given)}" for key, given in value.items())
    return "" if value is None else str(value)


def shown(value: object) -> str:
    """A parameter as a person reads it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class _Echo:
    """Takes the place of a file, so that the writer hands each line back."""

    def write(self, line: str) -> str:
        return line
