"""Blanking what the audit history quotes of memories: the one change it allows, itself recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from django.db import connection, transaction
from django.db.models import Q

from memories.console import audit_chain
from memories.console.audit import recorded_as
from memories.console.audit_check import BLANK_ACTION
from memories.console.audit_models import AuditEvent, AuditPayload
from memories.repository import Author
from memories.repository.records import now


def events_naming(memory_id: str) -> Q:
    """The condition on events that one of the memories they concern is this one."""
    quoted = json.dumps(memory_id)
    whole = AuditPayload.objects.filter(part="ids", body__contains=quoted).values("event_id")
    return Q(ids__contains=quoted) | Q(position__in=whole)


def blank_texts(memory_ids: Iterable[str], author: Author) -> int:
    """Blank notes, parameters and quoted text of every event that names one of the memories.

    The chain stays whole, since it runs over a salted hash of the text, and the salt goes with it. What
    SQLite leaves in free pages is gone only after ``secure_delete`` or VACUUM, which the purge does.
    Returns how many payloads were blanked.
    """
    positions = sorted({found for memory_id in memory_ids for found in _positions(memory_id)})
    if not positions:
        return 0
    with recorded_as(author, BLANK_ACTION, parameters={"positions": positions}) as event:
        event.complete(changed=_blank(positions), operation_id="")
    return len(positions)


def _positions(memory_id: str) -> Sequence[int]:
    kept = AuditPayload.objects.filter(part="text", blanked_at=None).values("event_id")
    named = AuditEvent.objects.filter(events_naming(memory_id), position__in=kept)
    return list(named.values_list("position", flat=True))


def _blank(positions: Sequence[int]) -> int:
    statement = (
        f"UPDATE {audit_chain.PAYLOADS} SET salt = '', body = '', blanked_at = %s "
        "WHERE event_id = %s AND part = 'text' AND blanked_at IS NULL"
    )
    moment = audit_chain.stamp(now())
    with transaction.atomic(), connection.cursor() as cursor:
        for position in positions:
            cursor.execute(statement, (moment, position))
    return len(positions)
