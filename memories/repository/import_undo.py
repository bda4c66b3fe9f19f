"""Taking an import back. Its memories go the way of every undo, to the trash; what it wrote beside them
goes with them, as far as nobody has changed it since."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.engine import is_in, quoted
from memories.repository.quarantine import SETTLED
from memories.repository.records import Author, Row
from memories.repository.results import UndoResult
from memories.repository.snapshot import Snapshot, batches
from memories.repository.transaction import Transaction
from memories.repository.usage_transfer import forget_usage
from memories.repository.write_context import WriteContext


def import_of(snapshot: Snapshot, operation_id: str) -> Row | None:
    """The row of ``imports`` that an operation wrote; None for any other operation."""
    rows = snapshot.rows(schema.IMPORTS, f"operation_id = {quoted(operation_id)}")
    return rows[0] if rows else None


def take_back_rows(transaction: Transaction, record: Row, undone: Collection[str]) -> None:
    """Delete the turns, lessons, ledger rows, history and quarantine an import wrote. Called when the
    operation has gathered everything else."""
    snapshot = transaction.snapshot
    by_table: dict[str, list[str]] = {}
    for row in record["rows"]:
        by_table.setdefault(row["table"], []).append(row["key"])
    for table, keys in by_table.items():
        for key in _untouched(snapshot, table, keys, record, undone):
            change = transaction.changes.get(table)
            if change is not None:
                change.replaced.pop(key, None)
            transaction.delete(table, key)
    transaction.delete(schema.IMPORTS, record["operation_id"])


def _untouched(
    snapshot: Snapshot, table: str, keys: Sequence[str], record: Row, undone: Collection[str]
) -> list[str]:
    """Which of the rows are as the import left them. History and ledger rows go with their memories."""
    found: list[Row] = []
    for batch in batches(keys):
        found += snapshot.rows(table, is_in(schema.KEYS[table], batch), _COLUMNS[table])
    keeps = _KEEPS[table]
    return [row[schema.KEYS[table]] for row in found if not keeps(row, record, frozenset(undone))]


def _changed_since(row: Row, record: Row, undone: frozenset[str]) -> bool:
    return bool(row["generation"] != record["generation"])


def _tells_of_a_memory(row: Row, record: Row, undone: frozenset[str]) -> bool:
    # What was brought along of memories only in the source's trash goes; the history of one that is in
    # the trash here from now on stays with it.
    return row["memory_id"] in undone or row["operation_id"] == record["operation_id"]


def _pair_stays(row: Row, record: Row, undone: frozenset[str]) -> bool:
    return not {row["memory_a_id"], row["memory_b_id"]} & undone


def _settled_since(row: Row, record: Row, undone: frozenset[str]) -> bool:
    return row["reason"] in SETTLED


_COLUMNS = {
    schema.TURNS: ["id", "generation"],
    schema.LESSONS: ["id", "generation"],
    schema.REVISIONS: ["revision_key", "memory_id", "operation_id"],
    schema.CONFLICTS: ["conflict_key", "memory_a_id", "memory_b_id"],
    schema.ARCHIVE: ["conflict_key", "memory_a_id", "memory_b_id"],
    schema.QUARANTINE: ["id", "reason"],
}
_KEEPS = {
    schema.TURNS: _changed_since,
    schema.LESSONS: _changed_since,
    schema.REVISIONS: _tells_of_a_memory,
    schema.CONFLICTS: _pair_stays,
    schema.ARCHIVE: _pair_stays,
    schema.QUARANTINE: _settled_since,
}


def undo_whole(context: WriteContext, record: Row, author: Author) -> UndoResult:
    """Take back an import whose tables were taken as they are. Where nothing has been written since, the
    database is empty again; else what has not changed since goes to the trash."""
    operation, note = str(record["operation_id"]), f"undo of {record['operation_id']}"
    with context.store.transaction(author, "undo", wait=context.lock_wait, note=note) as transaction:
        snapshot = transaction.snapshot
        stored = snapshot.rows(schema.MEMORIES, columns=["id", "generation"])
        undone = tuple(row["id"] for row in stored if row["generation"] <= record["generation"])
        untouched = snapshot.generation == record["generation"]
        if untouched:
            for table in snapshot.head.tables:
                transaction.empty(table)
            transaction.another_history = True
        else:
            _trash(transaction, context.conflict_limit, undone)
            _delete_older(transaction, record)
    if untouched:
        forget_usage(context.store.files.usage)
    skipped = tuple(row["id"] for row in stored if row["id"] not in set(undone))
    return UndoResult(operation, transaction.stamp.operation_id, undone, skipped)


def _trash(transaction: Transaction, limit: int, ids: Sequence[str]) -> None:
    changes = ChangeSet(transaction, limit)
    for row in changes.load(ids).values():
        changes.remove(row)
    changes.write()


def _delete_older(transaction: Transaction, record: Row) -> None:
    for table in (schema.TURNS, schema.LESSONS):
        written = f"generation <= {int(record['generation'])}"
        for row in transaction.snapshot.rows(table, written, ["id"]):
            transaction.delete(table, row["id"])
    transaction.delete(schema.IMPORTS, record["operation_id"])
