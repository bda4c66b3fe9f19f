"""Memories as an older database left them: columns that no writer of today would store."""

from __future__ import annotations

from memories.contract import canonical_text
from memories.repository import Author, MemoryRepository
from memories.repository.changes import ChangeSet

OLD = Author("import:suite", source="import:suite")


def store_as_it_was(repository: MemoryRepository, memory_id: str, **columns: object) -> None:
    """Replace columns of a memory past every check; the text follows the facts as it always did."""
    with repository._store.transaction(OLD, "import", wait=5.0) as transaction:
        changes = ChangeSet(transaction, 1_000)
        row = changes.load([memory_id])[memory_id] | columns
        row["content"] = canonical_text(row["domain"], row["subject"], row["facts"], row["tier"])
        changes.replace(row, None)
        changes.write()


def break_relations(repository: MemoryRepository, target_id: str) -> None:
    """Take a memory away without its edges, as a database that was mended by hand may show it."""
    with repository._store.transaction(OLD, "import", wait=5.0) as transaction:
        transaction.delete("memories", target_id)
