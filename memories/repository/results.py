"""What the repository answers, as values and as the one object every door prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.contract import CONTRACT_VERSION, MemsuiteError
from memories.repository.ledger import Conflict
from memories.repository.preflight import AddStatus
from memories.repository.records import StoredMemory
from memories.repository.revisions import Revision
from memories.repository.usage import Usage
from memories.screening import safe_answer

Answer = dict[str, Any]

MOST_CONFLICTS_SHOWN = 20
"""Open conflicts listed with a write; the rest are a call to ``lancedb_conflicts`` away."""


@dataclass(frozen=True, slots=True)
class AddResult:
    """What became of one add. ``existing_content`` and ``candidates`` are those of a suggested
    update, ``replaced_content`` that of an update."""

    status: AddStatus
    memory_id: str
    canonical_content: str
    operation_id: str = ""
    existing_content: str = ""
    replaced_content: str = ""
    candidates: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    normalized_fields: tuple[str, ...] = ()
    warnings: tuple[Mapping[str, str], ...] = ()

    def as_answer(self) -> Answer:
        answer = _answer(
            self.status.success,
            status=str(self.status),
            memory_id=self.memory_id,
            canonical_content=self.canonical_content,
            normalized_fields=list(self.normalized_fields),
            conflicts=conflict_answers(self.conflicts),
            warnings=[dict(warning) for warning in self.warnings],
        )
        optional = {
            "operation_id": self.operation_id,
            "existing_content": self.existing_content,
            "replaced_content": self.replaced_content,
        }
        answer |= {name: value for name, value in optional.items() if value}
        if self.status is AddStatus.UPDATE_SUGGESTED:
            answer["candidates"] = list(self.candidates)
            answer["message"] = (
                "This subject is already stored. Update that memory, or choose another subject."
            )
        return answer


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """What became of an update; ``updated_fields`` are those whose value differs now."""

    status: AddStatus
    memory_id: str
    canonical_content: str
    replaced_content: str
    revision: int
    operation_id: str = ""
    updated_fields: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    normalized_fields: tuple[str, ...] = ()
    warnings: tuple[Mapping[str, str], ...] = ()

    def as_answer(self) -> Answer:
        answer = _answer(
            True,
            status=str(self.status),
            memory_id=self.memory_id,
            canonical_content=self.canonical_content,
            replaced_content=self.replaced_content,
            updated_fields=list(self.updated_fields),
            revision=self.revision,
            normalized_fields=list(self.normalized_fields),
            conflicts=conflict_answers(self.conflicts),
            warnings=[dict(warning) for warning in self.warnings],
        )
        if self.operation_id:
            answer["operation_id"] = self.operation_id
        return answer


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """A memory moved to the trash."""

    memory_id: str
    content: str
    operation_id: str
    edges_removed: int
    conflicts_closed: int

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="deleted",
            memory_id=self.memory_id,
            content=self.content,
            restorable=True,
            edges_removed=self.edges_removed,
            conflicts_closed=self.conflicts_closed,
            operation_id=self.operation_id,
        )


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """A memory brought back from the trash, or to an earlier state."""

    memory_id: str
    canonical_content: str
    revision: int
    operation_id: str
    conflicts: tuple[Conflict, ...] = ()

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="restored",
            memory_id=self.memory_id,
            canonical_content=self.canonical_content,
            revision=self.revision,
            conflicts=conflict_answers(self.conflicts),
            operation_id=self.operation_id,
        )


@dataclass(frozen=True, slots=True)
class BulkResult:
    """One change of many. ``unchanged`` were so already; ``refused`` says why each was left."""

    operation_id: str
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    refused: Mapping[str, MemsuiteError]
    conflicts: tuple[Conflict, ...] = ()

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="changed" if self.changed else "unchanged",
            operation_id=self.operation_id,
            changed=list(self.changed),
            unchanged=list(self.unchanged),
            refused={name: safe_answer(error)["error"] for name, error in self.refused.items()},
            conflicts=conflict_answers(self.conflicts),
        )


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Memories merged into one, the keeper. ``merged`` are in the trash; ``repointed`` are the memories
    whose relations lead to the keeper now."""

    memory_id: str
    canonical_content: str
    revision: int
    operation_id: str
    merged: tuple[str, ...]
    repointed: tuple[str, ...]
    conflicts_closed: int
    conflicts: tuple[Conflict, ...] = ()

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="merged",
            memory_id=self.memory_id,
            canonical_content=self.canonical_content,
            revision=self.revision,
            merged=list(self.merged),
            repointed=list(self.repointed),
            conflicts_closed=self.conflicts_closed,
            conflicts=conflict_answers(self.conflicts),
            operation_id=self.operation_id,
        )


@dataclass(frozen=True, slots=True)
class ResolutionResult:
    """A conflict as a person has left it. ``changed`` are the memories of the operation, which both
    have it in their history; ``conflicts`` are others that are open between them."""

    conflict: Conflict
    operation_id: str
    changed: tuple[str, ...]
    conflicts: tuple[Conflict, ...] = ()

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="reopened" if self.conflict.is_open else "resolved",
            conflict=conflict_answer(self.conflict),
            changed=list(self.changed),
            conflicts=conflict_answers(self.conflicts),
            operation_id=self.operation_id,
        )


@dataclass(frozen=True, slots=True)
class UndoResult:
    """An operation taken back. ``skipped`` are the memories that have changed since, left alone."""

    undone_operation_id: str
    operation_id: str
    undone: tuple[str, ...]
    skipped: tuple[str, ...]

    def as_answer(self) -> Answer:
        return _answer(
            True,
            status="undone" if self.operation_id else "nothing_to_undo",
            undone_operation_id=self.undone_operation_id,
            operation_id=self.operation_id,
            undone=list(self.undone),
            skipped=list(self.skipped),
        )


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of an edge: its id and the first line of what it says, "" where unresolved."""

    relation_type: str
    memory_id: str
    label: str
    content: str

    def as_answer(self) -> Answer:
        named = {"label": self.label} if self.label else {}
        return {"type": self.relation_type, "memory_id": self.memory_id, "content": self.content} | named


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """One memory with all that surrounds it."""

    memory: StoredMemory
    usage: Usage
    edges_out: tuple[Neighbour, ...]
    edges_in: tuple[Neighbour, ...]
    conflicts: tuple[Conflict, ...]
    revisions: tuple[Revision, ...]

    def as_answer(self) -> Answer:
        return _answer(
            True,
            memory=decorated(self.memory, self.usage)
            | {"facts": list(self.memory.facts), "entities": list(self.memory.entities)},
            edges_out=[edge.as_answer() for edge in self.edges_out],
            edges_in=[edge.as_answer() for edge in self.edges_in],
            conflicts=conflict_answers(self.conflicts),
            revisions=[revision_answer(revision) for revision in self.revisions],
        )


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of a list with the exact total."""

    total: int
    offset: int
    rows: tuple[StoredMemory, ...]
    usage: Mapping[str, Usage]

    def as_answer(self, content_characters: int = 300) -> Answer:
        rows = [decorated(memory, self.usage.get(memory.id, Usage())) for memory in self.rows]
        for row in rows:
            if len(row["content"]) > content_characters:
                row["content"] = row["content"][: content_characters - 1] + "…"
        return _answer(True, total=self.total, count=len(rows), offset=self.offset, rows=rows)


def decorated(memory: StoredMemory, usage: Usage) -> Answer:
    """A memory's columns worth showing, with the read-time signals (never stored)."""
    signals = usage.signals(memory)
    return {
        "id": memory.id,
        "content": memory.content,
        "domain": memory.domain,
        "subject": memory.subject,
        "tier": memory.tier,
        "category": memory.category,
        "type": memory.type,
        "tags": list(memory.tags),
        "source": memory.source,
        "created_at": memory.created_at.isoformat(timespec="seconds"),
        "updated_at": memory.updated_at.isoformat(timespec="seconds"),
        "revision": memory.revision,
    } | signals.as_answer()


def conflict_answers(conflicts: Sequence[Conflict]) -> list[Answer]:
    return [conflict_answer(conflict) for conflict in conflicts[:MOST_CONFLICTS_SHOWN]]


def conflict_answer(conflict: Conflict) -> Answer:
    answer = {
        "conflict_id": conflict.id,
        "memory_a_id": conflict.memory_a_id,
        "memory_b_id": conflict.memory_b_id,
        "subject": conflict.subject,
        "claim_key": conflict.claim_key,
        "value_a": conflict.value_a,
        "value_b": conflict.value_b,
        "status": "archived" if conflict.archived_at else conflict.status,
        "created_at": conflict.created_at.isoformat(timespec="seconds"),
    }
    if not conflict.is_open and conflict.resolved_at is not None:
        answer |= {
            "resolution_type": conflict.resolution_type,
            "resolution": conflict.resolution,
            "resolution_note": conflict.resolution_note,
            "resolved_by": conflict.resolved_by,
            "resolved_at": conflict.resolved_at.isoformat(timespec="seconds"),
        }
    return answer


def revision_answer(revision: Revision) -> Answer:
    before = revision.memory()
    return {
        "revision": revision.revision,
        "operation": revision.operation,
        "operation_id": revision.operation_id,
        "actor": revision.actor,
        "at": revision.at.isoformat(timespec="seconds"),
        "note": revision.note,
        "content": before["content"] if before else "",
    }


def _answer(success: bool, **values: Any) -> Answer:
    return {"success": success} | values | {"contract_version": CONTRACT_VERSION}
