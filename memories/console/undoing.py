"""Taking an operation back: recorded like any change, and naming what has changed since."""

from __future__ import annotations

from collections.abc import Sequence

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository, Snapshot, UndoResult, schema
from memories.repository.engine import quoted
from memories.repository.import_undo import import_of

NAMED = 3
"""Memories a message names before it counts the rest."""


def touched_by(repository: MemoryRepository, operation_id: str) -> list[str]:
    """The memories an operation wrote or took away. Raises ``not_found`` for an operation that the store
    does not know."""
    found = repository.read(lambda snapshot: _touched(snapshot, operation_id))
    if not found and repository.read(lambda snapshot: import_of(snapshot, operation_id)) is None:
        raise MemsuiteError(
            ErrorCode.NOT_FOUND, "operation_id", "No operation has this id.", received=operation_id
        )
    return found


def told(repository: MemoryRepository, result: UndoResult) -> str:
    """What an undo did, in a sentence; what it left alone by name."""
    undone, skipped = len(result.undone), len(result.skipped)
    if not undone and not skipped:
        return "Undone" if result.operation_id else "Nothing to undo"
    if not skipped:
        return f"Undone, {undone:,} {'memory' if undone == 1 else 'memories'} as before"
    whole = f"Undone for {undone:,} of {undone + skipped:,}" if undone else "Not undone"
    return f"{whole}. {_listed(subjects_of(repository, result.skipped), skipped)} changed since"


def subjects_of(repository: MemoryRepository, ids: Sequence[str], most: int = NAMED) -> list[str]:
    """``Domain:Subject`` of the first of these memories, stored or not."""
    wanted = list(ids[:most])
    found = repository.read(lambda snapshot: snapshot.memories(wanted))
    names = []
    for memory_id in wanted:
        if memory_id in found:
            names.append(f"{found[memory_id].domain}:{found[memory_id].subject}")
            continue
        kept = [revision.memory() for revision in repository.revisions(memory_id, limit=1)]
        names += [f"{row['domain']}:{row['subject']}" for row in kept if row is not None]
    return names


def _touched(snapshot: Snapshot, operation_id: str) -> list[str]:
    mine, replaced = f"operation_id = {quoted(operation_id)}", f"before_operation_id = {quoted(operation_id)}"
    imported = import_of(snapshot, operation_id)
    if imported is not None and imported["whole"]:
        # The tables were taken with the operations in them; what has changed since has a later generation.
        mine = f"generation <= {int(imported['generation'])}"
        return sorted(row["id"] for row in snapshot.rows(schema.MEMORIES, mine, ["id"]))
    written = snapshot.rows(schema.MEMORIES, mine, ["id"])
    revised = snapshot.rows(schema.REVISIONS, f"{mine} OR {replaced}", ["memory_id"])
    return sorted({row["id"] for row in written} | {row["memory_id"] for row in revised})


def _listed(names: Sequence[str], total: int) -> str:
    more = total - len(names)
    verb = "has" if total == 1 else "have"
    return f"{', '.join(names)}{f' and {more:,} more' if more else ''} {verb}"
