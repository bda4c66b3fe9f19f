"""A result as calm lines: what was run, its single figures, its table, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maintenance.bench.results import Result, machine, versions

Row = Mapping[str, Any]


def lines(result: Result) -> list[str]:
    """The report without colour, so that it can be pasted anywhere."""
    parts = [_head(result)]
    if result.figures:
        parts.append(_figures(result.figures))
    if result.rows:
        parts.append(table(result.rows))
    parts.append(_verdict(result))
    return [line for part in parts for line in (*part, "")][:-1]


def table(rows: Sequence[Row]) -> list[str]:
    """Rows as aligned columns, numbers to the right, a column for every name that any row has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[shown(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[place]) for line in cells)) for place, name in enumerate(names)]
    right = [all(not isinstance(row.get(name), str) for row in rows) for name in names]
    laid_out = [
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [names, *cells]
    ]
    return [laid_out[0], "  ".join("-" * width for width in widths), *laid_out[1:]]


def shown(value: object) -> str:
    """A value as a person reads it: thousands apart, no more than three significant decimals."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(each)}" for name, each in value.items()) or "none"
    return str(value)


def _head(result: Result) -> list[str]:
    found = machine()
    engine = ", ".join(f"{name} {version}" for name, version in versions().items())
    return [
        result.command,
        f"{found['cpus']} CPUs, load {found['load']}, Python {found['python']}, {engine}",
    ]


def _figures(figures: Mapping[str, Any]) -> list[str]:
    width = max(len(name) for name in figures)
    return [f"{name.replace('_', ' '):<{width}}  {shown(value)}" for name, value in figures.items()]


def _verdict(result: Result) -> list[str]:
    if result.passed:
        return ["Passed."]
    return ["Fell short:", *(f"  {failure}" for failure in result.failures)]
