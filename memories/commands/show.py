"""Answers of the suite as calm lines for a terminal. Each function takes an answer's dict and gives lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memories.commands.terminal import Screen

Answer = Mapping[str, Any]

# Enough of an id to tell two memories of one screen apart; `--json` gives it whole. It is the tail that is
# shown, since ids made in one minute share their beginning.
_ID_TAIL = 8
_INDENT = "     "
# Relation types that do not read as a verb by themselves.
_VERBS = {"part_of": "is part of", "depends": "depends on"}


def search_lines(answer: Answer, screen: Screen) -> list[str]:
    """The ranked results, or the abstention with its reason."""
    if answer.get("abstained"):
        return _abstention_lines(answer, screen)
    names = {str(result["id"]): _name(result) for result in answer["results"]}
    lines = [screen.style(_count(len(answer["results"]), "memory", "memories"), "faint")]
    for position, result in enumerate(answer["results"], start=1):
        lines.append("")
        lines.extend(_result_lines(position, result, names, screen))
    lines.append("")
    lines.append(screen.style(_timing(answer), "faint"))
    return lines


def diagnostics_lines(answer: Answer, screen: Screen) -> list[str]:
    """The numbers behind an answer, as indented names and values."""
    lines = ["", screen.style("Diagnostics", "strong")]
    lines.extend(_nested(answer.get("diagnostics") or {}, screen, 1))
    return lines


def add_lines(answer: Answer, screen: Screen) -> list[str]:
    """One stored, repeated or refused memory."""
    if "error" in answer:
        return error_lines(answer, screen)
    status = str(answer["status"])
    style = "good" if answer.get("success") else "warn"
    identifier = str(answer.get("memory_id", ""))
    text = str(answer.get("canonical_content", ""))
    lines = [f"{screen.style(status, style)}  {screen.style(identifier, 'faint')}"]
    lines.extend(screen.wrap(text, "  "))
    if status == "update_suggested":
        existing = answer.get("existing_content", "")
        lines.extend(screen.wrap(f"This subject is already stored: {existing}", "  "))
        lines.extend(screen.wrap("To replace it, add again with --write-mode upsert_subject.", "  "))
    lines.extend(_warning_lines(answer, screen))
    return lines


def error_lines(answer: Answer, screen: Screen) -> list[str]:
    """An error of the one shape: code and place, the message, what was expected."""
    error = answer["error"]
    place = f" ({error['field']})" if error.get("field") else ""
    lines = [f"{screen.style(str(error['code']), 'bad')}{place}"]
    lines.extend(screen.wrap(str(error["message"]), "  "))
    for name in ("received", "expected"):
        if error.get(name) not in (None, "", [], {}):
            lines.extend(_value_lines(name, error[name], screen, 1))
    if answer.get("retryable"):
        lines.append("  Trying again may help.")
    return lines


def conflict_lines(conflict: Answer, contents: Mapping[str, str], screen: Screen) -> list[str]:
    """Two memories, one claim, two values; `contents` holds their texts by id."""
    key = str(conflict["claim_key"])
    head = screen.across(str(conflict["subject"]), str(conflict["status"]))
    lines = [*head.splitlines(), *screen.wrap(f"2 memories disagree about {key}", "  ")]
    for side in ("a", "b"):
        identifier = str(conflict[f"memory_{side}_id"])
        claim = f"  {key}={conflict[f'value_{side}']}"
        lines.extend(screen.across(claim, f"…{identifier[-_ID_TAIL:]}", "accent").splitlines())
        lines.extend(screen.wrap(contents.get(identifier, ""), "    "))
    return lines


def age(moment: datetime | str | None, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that fits: `today`, `12 days ago`, `3 months ago`, `2 years ago`."""
    if not moment:
        return ""
    then = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    days = ((now or datetime.now(UTC)) - then).days
    if days < 1:
        return "today"
    for size, singular, plural in ((365, "year", "years"), (30, "month", "months"), (1, "day", "days")):
        if days >= size:
            return f"{_count(days // size, singular, plural)} ago"
    return ""


def _abstention_lines(answer: Answer, screen: Screen) -> list[str]:
    reason = str(answer.get("abstention_reason", ""))
    lines = [screen.style("Nothing to show", "strong")]
    lines.extend(screen.wrap(str(answer.get("message", "")), "  "))
    if answer.get("degraded"):
        lines.extend(screen.wrap(f"Degraded: {answer.get('degraded_reason', '')}", "  "))
    lines.append(screen.style(f"  {reason}", "faint"))
    return lines


def _result_lines(position: int, result: Answer, names: Mapping[str, str], screen: Screen) -> list[str]:
    head = screen.across(f"{position:>3}  {_name(result)}", f"{result['category']} · tier {result['tier']}")
    lines = head.splitlines()
    lines.extend(screen.wrap(_statement(result), _INDENT))
    lines.extend(screen.style(f"{_INDENT}{note}", "warn") for note in _notes(result, names))
    lines.append(screen.style(f"{_INDENT}{_signals(result, names)}", "faint"))
    return lines


def _name(result: Answer) -> str:
    return f"{result['domain']}:{result['subject']}"


def _statement(result: Answer) -> str:
    """The text without what the line above it says already."""
    return str(result["content"]).removeprefix(f"{_name(result)} ").removesuffix(f" [Tier={result['tier']}]")


def _notes(result: Answer, names: Mapping[str, str]) -> Iterator[str]:
    superseded_by = result.get("superseded_by")
    if superseded_by:
        yield f"replaced by {_called(superseded_by, names)}"
    open_conflicts = int(result.get("conflicts_open") or 0)
    if open_conflicts:
        yield _count(open_conflicts, "open conflict", "open conflicts")


def _signals(result: Answer, names: Mapping[str, str]) -> str:
    parts = [_why(result, names)]
    for name in ("score", "evidence"):
        if result.get(name) is not None:
            parts.append(f"{name} {float(result[name]):.2f}")
    parts.append(age(result.get("created_at")))
    parts.append(f"…{str(result['id'])[-_ID_TAIL:]}")
    return " · ".join(part for part in parts if part)


def _why(result: Answer, names: Mapping[str, str]) -> str:
    """How it was found; a neighbour says what is declared, as a sentence about it."""
    if result.get("match_type") != "declared_relation":
        return str(result.get("match_type", "")).replace("_", " ")
    relation = str(result["relation_type"])
    verb = _VERBS.get(relation, relation.replace("_", " "))
    other = _called(result["seed_id"], names)
    return f"{other} {verb} this" if result.get("direction") == "out" else f"{verb} {other}"


def _called(memory_id: object, names: Mapping[str, str]) -> str:
    """A memory by its name where it is among the results, else by the tail of its id."""
    return names.get(str(memory_id), f"…{str(memory_id)[-_ID_TAIL:]}")


def _warning_lines(answer: Answer, screen: Screen) -> Iterator[str]:
    for warning in answer.get("warnings") or ():
        message = warning.get("message", warning.get("code", "")) if isinstance(warning, Mapping) else warning
        yield from screen.wrap(f"note: {message}", "  ", "        ")


def _timing(answer: Answer) -> str:
    timings = answer.get("timings") or {}
    engine = answer.get("engine") or {}
    parts = [f"route {answer.get('route', '')}"]
    parts.extend(f"{name.removesuffix('_ms')} {float(value):.0f} ms" for name, value in timings.items())
    if not engine.get("calibrated", True):
        parts.append("uncalibrated")
    return " · ".join(parts)


def _nested(values: Mapping[str, Any], screen: Screen, depth: int) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield f"{'  ' * depth}{name}"
            yield from _nested(value, screen, depth + 1)
        else:
            yield from _value_lines(name, value, screen, depth)


def _value_lines(name: str, value: object, screen: Screen, depth: int) -> Iterator[str]:
    """A value on the line of its name; a list of rows one row a line below it."""
    indent = "  " * depth
    if isinstance(value, list | tuple) and any(isinstance(row, Mapping | list | tuple) for row in value):
        yield f"{indent}{name}:"
        for row in value:
            yield from screen.wrap(_plain(row), f"{indent}  ", f"{indent}    ")
    else:
        yield from screen.wrap(f"{name}: {_plain(value)}", indent, f"{indent}  ")


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_plain(inner) for inner in value)
    return str(value)


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"
