"""Moving memories in and out: the export file, and readers of other systems' stores.

Nothing here writes to a database by itself: rows are handed to ``MemoryRepository.imports``. No Django.
"""

from __future__ import annotations

from memories.interchange.exporting import ExportResult, export_jsonl
from memories.interchange.importing import ImportReport, import_from
from memories.interchange.systems import System

__all__ = ["ExportResult", "ImportReport", "System", "export_jsonl", "import_from"]
