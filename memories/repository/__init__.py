"""The LanceDB tables behind one door: ``MemoryRepository``.

Nothing outside this package touches a LanceDB object, and nothing in it imports Django.
"""

from __future__ import annotations

from memories.repository.bulk import Action, BulkChange
from memories.repository.catalogue import Catalogue
from memories.repository.edges import Edge
from memories.repository.graph import GraphSummary, GraphView
from memories.repository.ledger import Conflict
from memories.repository.recalls import Recalls
from memories.repository.records import Author, StoredMemory
from memories.repository.repository import MemoryRepository
from memories.repository.resolving import Decision, Loser, Resolution
from memories.repository.results import (
    AddResult,
    BulkResult,
    DeleteResult,
    MemoryDetail,
    MemoryPage,
    MergeResult,
    ResolutionResult,
    RestoreResult,
    UndoResult,
    UpdateResult,
)
from memories.repository.snapshot import Filter, Snapshot
from memories.repository.usage import Usage, UsageStore

__all__ = [
    "Action",
    "AddResult",
    "Author",
    "BulkChange",
    "BulkResult",
    "Catalogue",
    "Conflict",
    "Decision",
    "DeleteResult",
    "Edge",
    "Filter",
    "GraphSummary",
    "GraphView",
    "Loser",
    "MemoryDetail",
    "MemoryPage",
    "MemoryRepository",
    "MergeResult",
    "Recalls",
    "Resolution",
    "ResolutionResult",
    "RestoreResult",
    "Snapshot",
    "StoredMemory",
    "UndoResult",
    "UpdateResult",
    "Usage",
    "UsageStore",
]
