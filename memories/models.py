"""Where Django looks for models. Memories live in LanceDB; here are the permissions on them."""

from __future__ import annotations

from memories.console.api.token_models import ApiToken
from memories.console.audit_models import AuditCompletion, AuditEvent, AuditPayload
from memories.console.curation_models import ConflictResolution, Dismissal, NotDuplicates
from memories.console.job_models import Job
from memories.console.models import Memory
from memories.console.saved_filter_models import SavedFilter
from memories.console.selection_models import Selection

__all__ = [
    "ApiToken",
    "AuditCompletion",
    "AuditEvent",
    "AuditPayload",
    "ConflictResolution",
    "Dismissal",
    "Job",
    "Memory",
    "NotDuplicates",
    "SavedFilter",
    "Selection",
]
