"""Memories that exist in no database, for what must not depend on one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memories.contract import validate_add
from memories.repository.records import derived_columns, memory_of
from memories.retrieval.document import Document

_BLANK = dict.fromkeys(("source", "session_id", "user_id", "platform", "operation_id"), "")
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def document(
    name: str, *facts: str, memory_id: str = "m1", approved_by: str = "", tier: int = 2, **more: Any
) -> Document:
    """``document("Domain:subject", "fact", …)`` as the table would hold it."""
    domain, _, subject = name.partition(":")
    payload = {"domain": domain, "subject": subject, "facts": list(facts), "tier": tier, "category": "tech"}
    form = validate_add(payload | more).form
    row = derived_columns(form, tags_manual=False) | _BLANK
    row |= {"id": memory_id, "created_at": _MOMENT, "updated_at": _MOMENT, "reviewed_at": None}
    return Document.of(
        memory_of(row | {"approved_by": approved_by, "revision": 1, "generation": 1, "embedding_id": ""})
    )
