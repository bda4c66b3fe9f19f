"""A new form of one memory, held against one state: what every write of a stored memory begins with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from memories.contract import ErrorCode, MemoryForm, MemsuiteError, Relation, UpdateRequest, validate_patch
from memories.repository import schema
from memories.repository.changes import ChangeSet
from memories.repository.edges import Edge, edges_of_form
from memories.repository.engine import is_in, quoted
from memories.repository.records import Author, StoredMemory, derived_columns, embedding_text
from memories.repository.snapshot import Snapshot
from memories.repository.vectors import Vector
from memories.repository.write_context import (
    WriteContext,
    not_found,
    refuse_unknown_targets,
    relations_of,
    retagged,
    stored_targets,
    tags_by_hand,
)
from memories.screening import refuse_secrets

COMPARED = ("domain", "subject", "facts", "tier", "category", "relations", "tags", "quality", "type")
"""The fields of a form, in the order in which an answer names those that changed."""


@dataclass(frozen=True)
class PlannedUpdate:
    """An update held against one state."""

    stored: StoredMemory
    before: MemoryForm
    form: MemoryForm
    request: UpdateRequest

    @property
    def words(self) -> str:
        """What would be embedded."""
        return embedding_text(self.form)

    @property
    def needs_vector(self) -> bool:
        return embedding_text(self.before) != self.words

    @property
    def unchanged(self) -> bool:
        return not self.updated_fields

    @property
    def updated_fields(self) -> tuple[str, ...]:
        return tuple(name for name in COMPARED if getattr(self.before, name) != getattr(self.form, name))

    def with_united(
        self, relations: tuple[Relation, ...], tags: tuple[str, ...], *, by_hand: bool
    ) -> PlannedUpdate:
        """The same update with relations and tags that come from elsewhere; ``by_hand`` where a person
        had set any of the tags."""
        given = self.request.given | ({"tags"} if by_hand else frozenset())
        request = replace(self.request, relations=relations, tags=tags, given=given)
        return replace(self, request=request, form=request.form_over(self.before))


def plan_update(
    snapshot: Snapshot,
    memory_id: str,
    payload: object,
    request: UpdateRequest | None = None,
    *,
    allowed_secrets: Collection[str],
) -> PlannedUpdate:
    """``request`` is a whole form that was validated already; without it ``payload`` is a patch.

    Raises ``memory_not_found``, ``version_conflict`` and what the contract and the screening refuse.
    """
    stored = snapshot.memories([memory_id]).get(memory_id)
    if stored is None:
        raise not_found(memory_id)
    before = stored.form(relations_of(snapshot, memory_id))
    asked = request if request is not None else validate_patch(payload, before)
    if asked.base_revision is not None and asked.base_revision != stored.revision:
        raise version_conflict("base_revision", asked.base_revision, stored.revision)
    form = asked.form_over(before)
    refuse_secrets(form, allowed=allowed_secrets)
    return PlannedUpdate(stored, before, form, asked)


def version_conflict(field: str, received: object, expected: object) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.VERSION_CONFLICT,
        field,
        "The memory has changed since it was read. Read it again, then update.",
        received=received,
        expected=expected,
    )


def refuse_duplicate(snapshot: Snapshot, planned: PlannedUpdate, leaving: Collection[str] = ()) -> None:
    """Raises ``duplicate_memory`` when another memory says exactly this; ``leaving`` are those that the
    same operation takes away."""
    fingerprint = planned.form.fingerprint
    if fingerprint == planned.stored.fingerprint:
        return
    others = is_in("id", sorted({planned.stored.id, *leaving}))
    where = f"fingerprint = {quoted(fingerprint)} AND NOT ({others})"
    for row in snapshot.rows(schema.MEMORIES, where, ["id"], 1):
        raise MemsuiteError(
            ErrorCode.DUPLICATE_MEMORY,
            "facts",
            "Another memory says exactly this already.",
            received=row["id"],
        )


def gather_update(
    context: WriteContext, changes: ChangeSet, planned: PlannedUpdate, vector: Vector | None, author: Author
) -> None:
    """Put an update into an operation; ``vector`` is that of its words where they change."""
    stored, form, asked = planned.stored, planned.form, planned.request
    moment = changes.transaction.stamp.at
    by_hand = stored.tags_manual or tags_by_hand(asked.given, author)
    named = form if asked.tags is not None else retagged(form, planned.before, by_hand)
    columns = derived_columns(named, tags_manual=by_hand)
    row = changes.current(stored.id) | columns | {"updated_at": moment}
    if vector is not None:
        row |= {"vector": vector, "embedding_id": str(context.embedder.identity)}
    edges: list[Edge] | None = None
    if asked.relations is not None:
        refuse_unknown_targets(form, stored_targets(changes.snapshot, [form]), stored.id)
        edges = edges_of_form(stored.id, form, moment)
    changes.replace(row, edges)
