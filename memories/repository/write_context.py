"""What every write shares: whose vectors these are, and starting again when a state has moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memories.contract import ErrorCode, MemoryForm, MemsuiteError, Relation
from memories.embedding import Embedder
from memories.repository import schema
from memories.repository.engine import is_in
from memories.repository.ledger import Conflict, LedgerChanges
from memories.repository.records import Author, Row, embedding_text, embedding_text_of
from memories.repository.snapshot import Snapshot
from memories.repository.store import Store
from memories.repository.usage import UsageStore
from memories.repository.vectors import Vector
from memories.text.entities import tags as all_tags

T = TypeVar("T")

PERSONS = ("console", "command")
"""Sources whose tags count as set by a person, and are then left as they are."""

ATTEMPTS = 3
"""How often a write starts again because the state it had embedded for is another one now."""


class UnembeddedError(Exception):
    """Under the lock a memory turned out to need a vector that the preflight saw no need for."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What a write works with."""

    store: Store
    embedder: Embedder
    usage: UsageStore
    lock_wait: float
    conflict_limit: int
    allowed_secrets: tuple[str, ...] = ()

    def require_identity(self, snapshot: Snapshot) -> None:
        """Raises ``embedding_model_mismatch`` when the stored vectors are another model's."""
        configured = str(self.embedder.identity)
        if snapshot.embedding_id and snapshot.embedding_id != configured:
            raise MemsuiteError(
                ErrorCode.EMBEDDING_MODEL_MISMATCH,
                "embed_model",
                f"The stored vectors were made by {snapshot.embedding_id}, the configured model is "
                f"{configured}. Vectors of two models cannot be compared: set embed_model back, or run "
                "`manage.py reembed`.",
                received=configured,
                expected=snapshot.embedding_id,
            )

    def embed(self, forms: Sequence[MemoryForm]) -> Sequence[Vector]:
        """Unit vectors of the forms, in their order. Never called with the lock held."""
        self.store.read(self.require_identity)
        return list(self.embedder.embed_documents([embedding_text(form) for form in forms]))

    def current_vectors(self, rows: Iterable[Row]) -> dict[str, Vector]:
        """New vectors, by the text they belong to, for earlier states that another model embedded.

        Usually none: a re-embedding since is the one case. Never called with the lock held.
        """
        embedding_id = self.store.snapshot().embedding_id
        foreign = sorted({_words(row) for row in rows if row["embedding_id"] != embedding_id})
        if not foreign:
            return {}
        self.store.read(self.require_identity)
        return dict(zip(foreign, self.embedder.embed_documents(foreign), strict=True))

    def again(self, work: Callable[[], T]) -> T:
        """Run a write; once more when the database changed between embedding and locking."""
        for _ in range(ATTEMPTS):
            try:
                return work()
            except UnembeddedError:
                continue
        raise MemsuiteError(
            ErrorCode.STORE_BUSY, "db_path", "The database kept changing meanwhile. Try again."
        )


def with_current_vector(row: Row, snapshot: Snapshot, vectors: Mapping[str, Vector]) -> Row:
    """An earlier state as it can be stored now."""
    if row["embedding_id"] == snapshot.embedding_id:
        return row
    if _words(row) not in vectors:
        raise UnembeddedError
    return row | {"vector": vectors[_words(row)], "embedding_id": snapshot.embedding_id}


def _words(row: Row) -> str:
    return embedding_text_of(row["domain"], row["subject"], row["facts"])


def not_found(memory_id: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.MEMORY_NOT_FOUND, "memory_id", "No memory has this id.", received=memory_id
    )


def relations_of(snapshot: Snapshot, memory_id: str) -> list[Relation]:
    """What a memory declares, in the order of its edges."""
    return [edge.relation for edge in snapshot.edges_of([memory_id]) if edge.source_id == memory_id]


def retagged(form: MemoryForm, before: MemoryForm, manual: bool) -> MemoryForm:
    """The form with the tags that were given once, without those found in the older words."""
    if manual or form.tags != before.tags:
        return form
    automatic = set(all_tags(replace(before, tags=())))
    return replace(form, tags=tuple(tag for tag in before.tags if tag not in automatic))


def tags_by_hand(given: frozenset[str], author: Author) -> bool:
    """Whether this write's tags are a person's."""
    return "tags" in given and author.source in PERSONS


def stored_targets(snapshot: Snapshot, forms: Sequence[MemoryForm]) -> frozenset[str]:
    """Which of the ids that some forms point at are stored."""
    wanted = {relation.target_id for form in forms for relation in form.relations if relation.target_id}
    if not wanted:
        return frozenset()
    rows = snapshot.rows(schema.MEMORIES, is_in("id", sorted(wanted)), ["id"])
    return frozenset(row["id"] for row in rows)


def refuse_unknown_targets(form: MemoryForm, stored: frozenset[str], own_id: str) -> None:
    """Raises ``invalid_relation_target``: an id nobody has would be an edge that points nowhere."""
    for number, relation in enumerate(form.relations):
        if relation.target_id and (relation.target_id not in stored or relation.target_id == own_id):
            raise MemsuiteError(
                ErrorCode.INVALID_RELATION_TARGET,
                f"relations[{number}].target_id",
                "A relation points at the id of another stored memory, or names it by `target`.",
                received=relation.target_id,
            )


def open_conflicts_of(ledger: LedgerChanges, memory_id: str) -> tuple[Conflict, ...]:
    return tuple(
        row for row in ledger.written if row.is_open and memory_id in (row.memory_a_id, row.memory_b_id)
    )
