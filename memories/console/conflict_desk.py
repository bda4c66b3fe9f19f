"""Deciding about conflicts: recorded in the audit, in the ledger, and with both claims as they stood."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from memories.console.audit import recorded
from memories.console.curation_models import ConflictResolution
from memories.console.repository_access import author
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Conflict, Decision, MemoryRepository, ResolutionResult, StoredMemory, schema
from memories.repository.engine import quoted
from memories.repository.ledger import conflict_of
from memories.repository.snapshot import Snapshot

REOPENED = "reopened"
"""What a record says instead of a resolution where a decision was taken back."""


def conflict_with(store: MemoryRepository, conflict_id: str) -> Conflict:
    """A conflict of whatever status. Raises ``conflict_not_found``."""

    def found(snapshot: Snapshot) -> Conflict | None:
        for table in (schema.CONFLICTS, schema.ARCHIVE):
            for row in snapshot.rows(table, f"id = {quoted(conflict_id)}"):
                return conflict_of(row)
        return None

    conflict = store.read(found)
    if conflict is None:
        raise MemsuiteError(
            ErrorCode.CONFLICT_NOT_FOUND, "conflict_id", "No conflict has this id.", received=conflict_id
        )
    return conflict


def resolve(
    request: HttpRequest, store: MemoryRepository, conflict_id: str, decision: Decision
) -> ResolutionResult:
    """Decide about an open conflict. Raises what ``resolve_conflict`` of the repository raises; then nothing
    is kept but the attempt in the audit."""
    conflict = conflict_with(store, conflict_id)
    stood = claims_now(store, conflict)
    parameters = {"conflict": conflict_id, "key": conflict.claim_key, "resolution": str(decision.resolution)}
    if decision.kept:
        parameters["loser"] = str(decision.loser)
    sides = [conflict.memory_a_id, conflict.memory_b_id]
    with recorded(
        request, "resolve_conflict", ids=sides, parameters=parameters, note=decision.note, texts=_texts(stood)
    ) as event:
        result = store.resolve_conflict(conflict_id, decision, event.author)
        event.complete(changed=len(result.changed), operation_id=result.operation_id)
    loser = str(decision.loser) if decision.kept else ""
    _keep(request, conflict, str(decision.resolution), loser, decision.note, result.operation_id, stood)
    return result


def reopen(request: HttpRequest, store: MemoryRepository, conflict_id: str, note: str) -> ResolutionResult:
    """Take a decision back. Raises what ``reopen_conflict`` of the repository raises."""
    conflict = conflict_with(store, conflict_id)
    stood = claims_now(store, conflict)
    sides = [conflict.memory_a_id, conflict.memory_b_id]
    parameters = {"conflict": conflict_id, "key": conflict.claim_key}
    with recorded(request, "reopen_conflict", ids=sides, parameters=parameters, note=note) as event:
        result = store.reopen_conflict(conflict_id, event.author, note=note)
        event.complete(changed=len(result.changed), operation_id=result.operation_id)
    _keep(request, conflict, REOPENED, "", note, result.operation_id, stood)
    return result


def decisions_about(conflict_id: str) -> list[ConflictResolution]:
    """What people have decided about a conflict, newest first."""
    return list(ConflictResolution.objects.filter(conflict_id=conflict_id))


def claims_now(store: MemoryRepository, conflict: Conflict) -> dict[str, Any]:
    """Both claims as they stand, by side; of a memory that is gone only what the ledger knows."""
    ids = (conflict.memory_a_id, conflict.memory_b_id)
    memories = store.read(lambda snapshot: snapshot.memories(ids))
    values = (conflict.value_a, conflict.value_b)
    return {
        side: {"memory_id": name, "value": value} | _said(memories.get(name), conflict.claim_key)
        for side, name, value in zip("ab", ids, values, strict=True)
    }


def _said(memory: StoredMemory | None, key: str) -> dict[str, Any]:
    if memory is None:
        return {}
    return {
        "content": memory.content,
        "values": [claim.value for claim in memory.claims if claim.key == key],
        "source": memory.source,
        "session_id": memory.session_id,
        "revision": memory.revision,
        "created_at": memory.created_at.isoformat(timespec="seconds"),
        "updated_at": memory.updated_at.isoformat(timespec="seconds"),
    }


def _texts(stood: dict[str, Any]) -> dict[str, object]:
    return {side: claims["value"] for side, claims in stood.items()}


def _keep(
    request: HttpRequest,
    conflict: Conflict,
    resolution: str,
    loser: str,
    note: str,
    operation_id: str,
    stood: dict[str, Any],
) -> None:
    ConflictResolution.objects.create(
        conflict_id=conflict.id,
        subject=conflict.subject,
        claim_key=conflict.claim_key,
        resolution=resolution,
        loser=loser,
        note=note,
        actor=author(request.user).actor,
        at=timezone.now(),
        operation_id=operation_id,
        claims=stood,
    )
