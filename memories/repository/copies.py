"""A directory copied while a writer was at work: which of its states did the copy get whole?

A backup copies file after file, and HEAD may come last: it then names versions whose files were
not there yet when their folder was copied. The last lines of HEAD are kept beside it, and a copy
opens at the newest of those states that it holds whole. The original never does: a file that is
missing there is damage, and is named.
"""

from __future__ import annotations

from pathlib import Path

from memories.contract import MemsuiteError
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head, parse_head
from memories.repository.manifest import damaged_files

KEPT = 64
"""States remembered: more than a writer makes while a directory of the usual size is copied."""

_LONGEST = 1_000_000
"""Bytes after which the file of states is cut back to the newest ones."""


def remember(files: DatabaseFiles, head: Head) -> None:
    """Note a state that HEAD names. Only a copy needs it, so failing to fails no writer."""
    try:
        with files.heads.open("a", encoding="utf-8") as kept:
            kept.write(head.as_line() + "\n")
            long = kept.tell() > _LONGEST
        if long:
            _cut_back(files.heads)
    except OSError:
        return


def state_named(files: DatabaseFiles, line: str) -> Head:
    """The state that a line of HEAD stands for: the one it names, or in a copy that does not hold
    that one whole the newest it does. Raises as ``parse_head`` does."""
    head = parse_head(line, files.head)
    if head.place == files.place or not _damaged(files, head):
        return head
    return next((older for older in _older(files, head) if not _damaged(files, older)), head)


def _damaged(files: DatabaseFiles, head: Head) -> bool:
    return bool(damaged_files({files.table(name): version for name, version in head.tables.items()}))


def _older(files: DatabaseFiles, head: Head) -> list[Head]:
    """Earlier states of the same history, newest first."""
    try:
        lines = files.heads.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for line in reversed(lines[-KEPT:]):
        try:
            state = parse_head(line, files.heads)
        except MemsuiteError:
            continue  # the line being written while it was copied
        if state.lineage == head.lineage and state.generation <= head.generation:
            found.append(state)
    return found


def _cut_back(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text("".join(lines[-KEPT:]), encoding="utf-8")
    temporary.replace(path)
