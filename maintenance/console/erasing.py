"""The console's own side of a purge: what its SQLite quotes of memories, and the pages that was on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.db import connection
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from memories.console.audit_blanking import blank_texts
from memories.console.audit_models import AuditEvent
from memories.console.curation_models import ConflictResolution
from memories.repository import Author


def has_history() -> bool:
    """Whether there is a console database with the tables of the audit: one that has never run has none."""
    name = str(connection.settings_dict["NAME"])
    if ":memory:" not in name and "mode=memory" not in name and not Path(name).is_file():
        return False
    return AuditEvent._meta.db_table in connection.introspection.table_names()


def erase_from_console(ids: Sequence[str], author: Author) -> int:
    """Blank notes, parameters, quoted text and claims of every event and decision that names one of the
    memories, and write the file anew. Returns how many were blanked.

    Deleted text stays in free pages and in the journal unless SQLite is told otherwise: hence
    ``secure_delete``, VACUUM and the cut journal.
    """
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA secure_delete = ON")
    blanked = blank_texts(ids, author) + _blank_resolutions(ids)
    with connection.cursor() as cursor:
        # VACUUM does not run inside a transaction; a test's own is left alone.
        if not connection.in_atomic_block:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return blanked


def _blank_resolutions(ids: Sequence[str]) -> int:
    named = Q()
    for memory_id in ids:
        named |= Q(text__contains=memory_id)
    found = ConflictResolution.objects.annotate(text=Cast("claims", TextField())).filter(named)
    return found.update(claims={}, subject="", claim_key="", note="") if ids else 0
