"""What an import did, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memories.commands.terminal import Screen

MISFITS_SHOWN = 20


def import_lines(answer: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """The counts first, then what needs a person."""
    yield screen.style(_headline(answer), "strong")
    yield f"  read: {_counts(answer['read'])}"
    added = "would be added" if answer["status"] == "dry_run" else "added"
    yield f"  {added}: {_counts(answer['added'])}"
    if answer["already"] or answer["duplicates"]:
        same = f"the same words as a stored memory: {answer['duplicates']:,}"
        yield f"  there already: {answer['already']:,}, {same}"
    if answer["renamed"]:
        yield f"  under another id, since theirs is taken: {len(answer['renamed']):,}"
    for note, count in answer["notes"].items():
        yield f"  note: {note} ({count:,})"
    if answer["vectors"]:
        yield f"  vectors: {_counts(answer['vectors'])}"
    yield from _misfits(answer, screen)
    if answer["operation_id"]:
        yield screen.style(f"  operation {answer['operation_id']}, which undo takes back whole", "faint")


def _headline(answer: Mapping[str, Any]) -> str:
    if answer["status"] == "dry_run":
        return f"Dry run of {answer['system']}: nothing was written"
    if answer["status"] == "nothing_to_add":
        return f"Nothing to add from {answer['system']}"
    return f"Imported from {answer['system']} in {answer['seconds']:g} s"


def _misfits(answer: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    if not answer["quarantined"]:
        return
    yield screen.style(f"  set aside: {_counts(answer['quarantined'])}", "warn")
    for misfit in answer["misfits"][:MISFITS_SHOWN]:
        text = f"{misfit['place']}  {misfit['reason']} ({misfit['field']}): {misfit['message']}"
        yield from screen.wrap(text, "    ", "      ")
    left = sum(answer["quarantined"].values()) - MISFITS_SHOWN
    if left > 0:
        yield f"    and {left:,} more; --report writes them to a file"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()) or "nothing"
