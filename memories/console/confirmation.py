"""The sheet that shows a change of many before it is made: how many, a few of them, what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils import timezone

from memories.console import bulk_actions, times, undoing
from memories.console.bulk_actions import Asked
from memories.console.bulk_flow import AT_ONCE
from memories.console.forecast import Forecast, forecast
from memories.console.parts import ConfirmSheet, FactChange, Sample
from memories.console.selection_models import Selection
from memories.console.trash_contents import in_trash
from memories.contract import ErrorCode
from memories.contract.limits import RELATIONS_MAX
from memories.repository import Action, Author, BulkChange, MemoryRepository, schema
from memories.repository.engine import is_in
from memories.repository.records import LIGHT, Row

SAMPLES = 5
FACTS_SHOWN = 3
"""Facts of a sample that stay as they are; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A change of a selection before it is made. ``sheet`` is None where nothing would change."""

    title: str
    forecast: Forecast
    sheet: ConfirmSheet | None
    why_not: str = ""


def preview(repository: MemoryRepository, selection: Selection, asked: Asked, url: str) -> Preview:
    """What the person is asked to confirm. ``url`` takes the confirmation."""
    change = asked.change()
    expected = forecast(repository, change, selection.memory_ids)
    title = bulk_actions.title(change, len(expected.changed))
    if not expected.changed:
        return Preview(title, expected, None, " ".join(_left_alone(repository, expected)))
    sheet = ConfirmSheet(
        title=title,
        lead=_lead(selection),
        confirm=bulk_actions.button(change, len(expected.changed)),
        back_url=selection.back,
        url=url,
        figures=_figures(selection, expected),
        warnings=[*_left_alone(repository, expected), *_about(repository, change)],
        samples=_samples(repository, change, expected.changed[:SAMPLES]),
        samples_of=len(expected.changed),
        irreversible=_irreversible(change),
        hidden=asked.pairs(),
        danger=change.action is Action.TRASH,
        foot=f"Selected {times.ago_in_full(selection.made_at, timezone.now())}. Recounted when applied.",
    )
    return Preview(title, expected, sheet)


def _lead(selection: Selection) -> str:
    if selection.count > AT_ONCE:
        return (
            f"Above {AT_ONCE} memories this runs as a job. You can leave the page; it can be cancelled "
            "until it is written, which happens in one step."
        )
    return "Nothing is applied until you confirm."


def _figures(selection: Selection, expected: Forecast) -> list[tuple[str, str]]:
    numbers = {
        "Selected": selection.count,
        "Will change": len(expected.changed),
        "Already so": len(expected.unchanged),
        "Left alone": len(expected.refused),
    }
    return [(label, f"{number:,}") for label, number in numbers.items()]


_REASONS = {
    ErrorCode.TOO_MANY_TAGS: "would have more than 20 tags",
    ErrorCode.MEMORY_NOT_FOUND: "gone since the selection",
    ErrorCode.INVALID_RELATION_TARGET: "the superseding memory itself, or one that supersedes it",
    ErrorCode.TOO_MANY_RELATIONS: f"a memory declares {RELATIONS_MAX} relations at most",
}


def _left_alone(repository: MemoryRepository, expected: Forecast) -> list[str]:
    """Who is refused and why, by name as far as a sentence bears."""
    said = []
    for code in dict.fromkeys(expected.refused.values()):
        ids = [name for name, why in expected.refused.items() if why is code]
        names = undoing.subjects_of(repository, ids)
        more = len(ids) - len(names)
        listed = ", ".join(names) + (f" and {more:,} more" if more and names else "")
        them = f": {listed}" if listed else ""
        said.append(f"{bulk_actions.memories(len(ids))} left alone, {_REASONS[code]}{them}.")
    return said


def _about(repository: MemoryRepository, change: BulkChange) -> list[str]:
    """What merging into a tag that exists means, and what superseding does."""
    if change.action is Action.SUPERSEDE:
        names = undoing.subjects_of(repository, [change.by])
        return [f"{' '.join(names)} supersedes them: a search that finds one of them names it first."]
    if change.action is not Action.MERGE_TAGS or change.target in change.tags:
        return []
    held = repository.catalogue().counts("tags").get(change.target, 0)
    if not held:
        return []
    carry = "carries" if held == 1 else "carry"
    return [
        f"{bulk_actions.memories(held)} {carry} “{change.target}” already; afterwards the two are one tag."
    ]


def _irreversible(change: BulkChange) -> tuple[str, ...]:
    if change.action is Action.TRASH:
        return ("Nothing. They stay in the trash, and Undo brings them back with their relations.",)
    if change.action is Action.RESTORE:
        return ("Nothing. Undo moves them back to the trash.",)
    return ("Nothing. Undo brings everything back that has not changed since.",)


# --- samples -------------------------------------------------------------------------


def _samples(repository: MemoryRepository, change: BulkChange, ids: Sequence[str]) -> list[Sample]:
    if change.action is Action.RESTORE:
        kept = {trashed.id: trashed for trashed in in_trash(repository)}
        return [
            Sample(
                name,
                kept[name].domain,
                kept[name].subject,
                [FactChange("add", fact) for fact in kept[name].facts],
                f"in the trash for {times.ago(kept[name].at, datetime.now(UTC))}",
            )
            for name in ids
        ]
    rows = repository.read(lambda snapshot: snapshot.rows(schema.MEMORIES, is_in("id", ids), LIGHT))
    found = {row["id"]: row for row in rows}
    return [_sample(change, found[name]) for name in ids if name in found]


def _sample(change: BulkChange, row: Row) -> Sample:
    if change.action is Action.TRASH:
        changes = [FactChange("gone", fact) for fact in row["facts"]]
        return Sample(row["id"], row["domain"], row["subject"], changes)
    if change.action is Action.SUPERSEDE:
        kept = [FactChange("same", fact) for fact in row["facts"][:FACTS_SHOWN]]
        return Sample(row["id"], row["domain"], row["subject"], [*kept, FactChange("add", "superseded")])
    columns = change.columns(row, (), Author("preview"), datetime.now(UTC))
    same = [FactChange("same", fact) for fact in row["facts"][:FACTS_SHOWN]]
    number = len(row["facts"])
    note = f"{number} fact{'' if number == 1 else 's'} unchanged"
    return Sample(row["id"], row["domain"], row["subject"], [*same, *_differences(row, columns)], note)


def _differences(row: Row, columns: Row) -> list[FactChange]:
    changes = []
    if "tags" in columns:
        before, after = list(row["tags"] or ()), list(columns["tags"])
        changes += [FactChange("gone", f"tag {tag}") for tag in before if tag not in after]
        changes += [FactChange("add", f"tag {tag}") for tag in after if tag not in before]
    for name in ("category", "type", "tier", "quality"):
        if name in columns:
            words = (("", f"{name} "), ("del", _shown(row[name])), ("", " "), ("ins", _shown(columns[name])))
            changes.append(FactChange("edit", name, words))
    if "reviewed_at" in columns:
        changes.append(FactChange("add", "reviewed by you, now"))
    return changes


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
