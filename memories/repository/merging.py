"""Merging memories that say the same: one keeps its place with the facts a person has chosen, the others
go to the trash, and what pointed at them points at it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from memories.contract import ErrorCode, MemsuiteError
from memories.contract.limits import RELATIONS_MAX, TAGS_MAX
from memories.repository.changes import ChangeSet
from memories.repository.edges import Edge
from memories.repository.planning import (
    PlannedUpdate,
    gather_update,
    plan_update,
    refuse_duplicate,
    version_conflict,
)
from memories.repository.records import Author, StoredMemory
from memories.repository.relations import declare, pointed_at_keeper, united_edges
from memories.repository.results import MergeResult
from memories.repository.snapshot import Snapshot
from memories.repository.write_context import (
    UnembeddedError,
    WriteContext,
    not_found,
    open_conflicts_of,
    retagged,
    tags_by_hand,
)


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """``payload`` is a patch of the keeper: the chosen facts, and whatever else of it changes. Tags and
    relations it leaves out are those of all the memories together. ``revisions`` are those a person saw,
    by id; where given, a memory changed since refuses the merge."""

    keeper_id: str
    other_ids: tuple[str, ...]
    payload: Mapping[str, object]
    revisions: Mapping[str, int]

    @property
    def group(self) -> tuple[str, ...]:
        return (self.keeper_id, *self.other_ids)


class Merger:
    """The merges of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def merge(self, request: MergeRequest, author: Author, note: str) -> MergeResult:
        """One operation. Raises ``memory_not_found``, ``version_conflict``, ``too_many_tags``,
        ``too_many_relations``, ``duplicate_memory`` and what the contract refuses of the facts."""
        others = tuple(name for name in dict.fromkeys(request.other_ids) if name != request.keeper_id)
        if not others:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER, "other_ids", "A merge needs at least two different memories."
            )
        distinct = replace(request, other_ids=others)
        return self._context.again(lambda: self._merge(distinct, author, note))

    def _merge(self, request: MergeRequest, author: Author, note: str) -> MergeResult:
        context = self._context
        seen = context.store.snapshot()
        planned = context.store.read(
            lambda snapshot: _planned(snapshot, request, author, context.allowed_secrets)
        )
        embedded = planned.words if planned.needs_vector else None
        vector = context.embed([planned.form])[0] if planned.needs_vector else None
        with context.store.transaction(author, "merge", wait=context.lock_wait, note=note) as transaction:
            if vector is not None:
                context.require_identity(transaction.snapshot)
            if transaction.snapshot is not seen:
                planned = _planned(transaction.snapshot, request, author, context.allowed_secrets)
            if planned.needs_vector and planned.words != embedded:
                raise UnembeddedError
            changes = ChangeSet(transaction, context.conflict_limit)
            gather_update(context, changes, planned, vector if planned.needs_vector else None, author)
            if "relations" not in request.payload:
                _take_edges(changes, request)
            moved = _leave(changes, request)
            ledger = changes.write()
        return MergeResult(
            memory_id=request.keeper_id,
            canonical_content=planned.form.content,
            revision=planned.stored.revision + 1,
            operation_id=transaction.stamp.operation_id,
            merged=request.other_ids,
            repointed=moved,
            conflicts_closed=len(ledger.closed),
            conflicts=open_conflicts_of(ledger, request.keeper_id),
        )


def _planned(
    snapshot: Snapshot, request: MergeRequest, author: Author, allowed_secrets: Collection[str]
) -> PlannedUpdate:
    """The keeper as it will be."""
    stored = snapshot.memories(request.group)
    for name in request.group:
        if name not in stored:
            raise not_found(name)
        if name in request.revisions and request.revisions[name] != stored[name].revision:
            raise version_conflict(f"revisions.{name}", request.revisions[name], stored[name].revision)
    payload = request.payload or {"facts": list(stored[request.keeper_id].facts)}
    planned = plan_update(snapshot, request.keeper_id, payload, allowed_secrets=allowed_secrets)
    planned = _united(planned, [stored[name] for name in request.group], snapshot, author)
    refuse_duplicate(snapshot, planned, leaving=request.other_ids)
    return planned


def _united(
    planned: PlannedUpdate, memories: Sequence[StoredMemory], snapshot: Snapshot, author: Author
) -> PlannedUpdate:
    """The keeper's update with the tags and relations of all, where it names none of its own."""
    asked, group = planned.request, {memory.id for memory in memories}
    by_hand = tags_by_hand(asked.given, author) or any(memory.tags_manual for memory in memories)
    tags = asked.tags if asked.tags is not None else _tags_of_all(memories, by_hand)
    relations = asked.relations
    if relations is None:
        edges = united_edges(snapshot.edges_of(group), group, planned.stored.id)
        relations = tuple(edge.relation for edge in edges)
    elif any(relation.target_id in group for relation in relations):
        raise MemsuiteError(
            ErrorCode.INVALID_RELATION_TARGET, "relations", "A relation leads to one of the merged memories."
        )
    if len(relations) > RELATIONS_MAX:
        raise _too_many(ErrorCode.TOO_MANY_RELATIONS, "relations", len(relations), RELATIONS_MAX)
    return planned.with_united(relations, tags, by_hand=by_hand)


def _tags_of_all(memories: Sequence[StoredMemory], by_hand: bool) -> tuple[str, ...]:
    """Every tag once, whatever its case; without those that were found in words which are gone."""
    given = (retagged(memory.form(), memory.form(), by_hand).tags for memory in memories)
    kept: dict[str, str] = {}
    for tag in chain.from_iterable(given):
        kept.setdefault(tag.casefold(), tag)
    if len(kept) > TAGS_MAX:
        raise _too_many(ErrorCode.TOO_MANY_TAGS, "tags", len(kept), TAGS_MAX)
    return tuple(kept.values())


def _too_many(code: ErrorCode, field: str, received: int, expected: int) -> MemsuiteError:
    return MemsuiteError(
        code,
        field,
        f"Together they have {received} {field}. Choose which of them to keep.",
        received=received,
        expected=expected,
    )


def _take_edges(changes: ChangeSet, request: MergeRequest) -> None:
    """Give the keeper the outgoing edges of all, labels as resolved as they are."""
    edges = united_edges(changes.snapshot.edges_of(request.group), request.group, request.keeper_id)
    changes.replace(changes.current(request.keeper_id), edges)


def _leave(changes: ChangeSet, request: MergeRequest) -> tuple[str, ...]:
    """Take the others away and lead what pointed at them to the keeper; returns the ids of the
    memories whose relations that changes."""
    rows = changes.load(request.group)
    edges = changes.snapshot.edges_of(request.other_ids)
    sources = {
        edge.source_id
        for edge in edges
        if edge.target_id in request.other_ids and edge.source_id not in request.group
    }
    for name in request.other_ids:
        changes.remove(rows[name])
    _repoint(changes, request, sorted(sources))
    return tuple(sorted(sources))


def _repoint(changes: ChangeSet, request: MergeRequest, sources: Sequence[str]) -> None:
    rows = changes.load(sources)
    outgoing: dict[str, list[Edge]] = {name: [] for name in sources}
    for edge in changes.snapshot.edges_of(sources):
        if edge.source_id in outgoing:
            outgoing[edge.source_id].append(edge)
    for name, edges in outgoing.items():
        declare(changes, rows[name], pointed_at_keeper(edges, request.other_ids, request.keeper_id))
