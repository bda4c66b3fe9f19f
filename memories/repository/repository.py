"""``MemoryRepository``: the one door to what is stored, for the plugin, the console and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from memories.contract import MemsuiteError
from memories.embedding import Embedder
from memories.repository import schema
from memories.repository.adding import Adder
from memories.repository.bulk import BulkChange, BulkWriter, Progress
from memories.repository.catalogue import Catalogue, CatalogueCache
from memories.repository.engine import quoted
from memories.repository.graph import GraphSummary, GraphView, first_line, graph_around, graph_summary
from memories.repository.history import History, revisions_of, trashed
from memories.repository.importing import Importer
from memories.repository.ledger import Conflict, conflict_of
from memories.repository.lessons import Lessons
from memories.repository.merging import Merger, MergeRequest
from memories.repository.purging import Copies, Elsewhere, Purger, PurgeResult
from memories.repository.quarantine import Quarantine
from memories.repository.records import Author, StoredMemory
from memories.repository.reembed import Reembedding
from memories.repository.resolving import Decision, Resolver
from memories.repository.results import (
    AddResult,
    BulkResult,
    DeleteResult,
    MemoryDetail,
    MemoryPage,
    MergeResult,
    Neighbour,
    ResolutionResult,
    RestoreResult,
    UndoResult,
    UpdateResult,
)
from memories.repository.retention import Retention
from memories.repository.revisions import Revision
from memories.repository.snapshot import Snapshot
from memories.repository.store import Store
from memories.repository.turns import Turns
from memories.repository.updating import Updater
from memories.repository.upkeep import Maintenance
from memories.repository.usage import Usage, UsageStore
from memories.repository.write_context import WriteContext, not_found
from memories.settings import Settings

T = TypeVar("T")

PLUGIN_WAIT, CONSOLE_WAIT, COMMAND_WAIT = 2.0, 5.0, 10.0
"""Seconds each door waits for the write lock before it says ``store_busy``."""

REVISIONS_SHOWN = 5


class MemoryRepository:
    """One database and the model its vectors come from. Thread safe; share one a process.

    Everything raised is a ``MemsuiteError``.
    """

    def __init__(self, settings: Settings, embedder: Embedder, *, lock_wait: float = COMMAND_WAIT) -> None:
        self.settings = settings
        self.embedder = embedder
        self._store = Store(settings.db_path, fsync=settings.fsync)
        self.usage = UsageStore(self._store.files.usage)
        self._catalogue = CatalogueCache()
        self._context = WriteContext(
            self._store,
            embedder,
            self.usage,
            lock_wait,
            settings.conflict_resolved_limit,
            settings.allowed_secret_patterns,
        )
        self._adder = Adder(self._context)
        self._updater = Updater(self._context)
        self._bulk = BulkWriter(self._context)
        self._merger = Merger(self._context)
        self._resolver = Resolver(self._context)
        self._history = History(self._context)
        self.turns = Turns(self._context)
        self.imports = Importer(self._context)
        self.quarantine = Quarantine(self._context)
        self.retention = Retention(self._context)
        self.lessons = Lessons(self._context)

    @classmethod
    def open(
        cls, settings: Settings, embedder: Embedder, *, lock_wait: float = COMMAND_WAIT
    ) -> MemoryRepository:
        """Open what is there. Nothing is created: the first memory makes the database.

        Raises ``store_unavailable`` (naming the file) and ``schema_too_new``.
        """
        repository = cls(settings, embedder, lock_wait=lock_wait)
        repository.snapshot()
        return repository

    def __enter__(self) -> MemoryRepository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the model go. Table handles close with the last reference to them."""
        self.embedder.close()

    @property
    def path(self) -> Path:
        return self._store.files.root

    # -- writing ----------------------------------------------------------------------

    def add(self, payload: object, author: Author, *, at: datetime | None = None) -> AddResult:
        """Add one memory. ``at`` dates it, for imports; it is the present moment otherwise."""
        result = self._adder.add_many([payload], author, at=[at])[0]
        if isinstance(result, MemsuiteError):
            raise result
        return result

    def add_many(
        self, payloads: Sequence[object], author: Author, *, at: Sequence[datetime | None] | None = None
    ) -> list[AddResult | MemsuiteError]:
        """Add many in one commit; each gets its result or the error that refused it."""
        return self._adder.add_many(payloads, author, at=at)

    def update(self, memory_id: str, payload: object, author: Author, *, patch: bool = False) -> UpdateResult:
        """Replace a memory's form; with ``patch`` only the fields that are given."""
        return self._updater.update(memory_id, payload, author, patch=patch)

    def delete(self, memory_id: str, author: Author, *, note: str = "") -> DeleteResult:
        """Move a memory to the trash."""
        return self._updater.delete(memory_id, author, note)

    def apply(
        self,
        change: BulkChange,
        ids: Sequence[str],
        author: Author,
        *,
        note: str = "",
        progress: Progress | None = None,
    ) -> BulkResult:
        """One change of many memories: one operation, one commit a table, one undo."""
        return self._bulk.apply(change, ids, author, note=note, progress=progress)

    def merge(
        self,
        keeper_id: str,
        other_ids: Sequence[str],
        payload: Mapping[str, object],
        author: Author,
        *,
        note: str = "",
        revisions: Mapping[str, int] | None = None,
    ) -> MergeResult:
        """Make one memory of several: one operation, one undo. ``payload`` is a patch of the keeper with
        the facts chosen (empty keeps its own); tags and relations it leaves out are united."""
        request = MergeRequest(keeper_id, tuple(other_ids), payload, revisions or {})
        return self._merger.merge(request, author, note)

    def resolve_conflict(self, conflict_id: str, decision: Decision, author: Author) -> ResolutionResult:
        """Decide an open conflict; what that does to its memories is part of the same operation."""
        return self._resolver.resolve(conflict_id, decision, author)

    def reopen_conflict(self, conflict_id: str, author: Author, *, note: str) -> ResolutionResult:
        """Take the decision about a conflict back."""
        return self._resolver.reopen(conflict_id, author, note)

    def restore(self, memory_id: str, author: Author, *, revision: int | None = None) -> RestoreResult:
        """Bring a memory back from the trash, or to an earlier revision."""
        return self._history.restore(memory_id, author, revision)

    def undo(self, operation_id: str, author: Author) -> UndoResult:
        """Take an operation back where nothing has changed since."""
        return self._history.undo(operation_id, author)

    def purge(
        self,
        ids: Sequence[str],
        copies: Copies = Copies.REWRITE,
        *,
        elsewhere: Elsewhere | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> PurgeResult:
        """Erase memories for good: from every table, file, count of use and managed backup."""
        return Purger(self.settings).purge(ids, copies, elsewhere=elsewhere, progress=progress)

    def maintenance(self) -> Maintenance:
        """The upkeep of the files, and the backups."""
        return Maintenance(self.settings)

    def reembedding(self) -> Reembedding:
        """The step from the stored vectors' model to the configured one."""
        return Reembedding(self._store, self.embedder, lock_wait=self._context.lock_wait)

    # -- reading ----------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The newest state of all tables. For several reads of one state use ``read``."""
        return self._store.snapshot()

    def read(self, work: Callable[[Snapshot], T]) -> T:
        """Run ``work`` on one state; once more on a newer one if maintenance pruned it meanwhile."""
        return self._store.read(work)

    def require_identity(self) -> None:
        """Raises ``embedding_model_mismatch`` when the stored vectors are another model's."""
        self._store.read(self._context.require_identity)

    def count(self) -> int:
        return self.read(lambda snapshot: snapshot.count)

    def catalogue(self) -> Catalogue:
        """The light columns of all memories."""
        return self.read(self._catalogue.at)

    def get(self, memory_id: str) -> MemoryDetail:
        """One memory with its edges, open conflicts and last five revisions."""
        return self.read(lambda snapshot: self._detail(snapshot, memory_id))

    def list_memories(
        self,
        *,
        category: str | None = None,
        tier: int | None = None,
        tag: str | None = None,
        quality_min: float | None = None,
        order: str = "newest",
        limit: int = 50,
        offset: int = 0,
    ) -> MemoryPage:
        """A page of the memories for which everything asked holds."""

        def page(snapshot: Snapshot) -> MemoryPage:
            chosen = self._catalogue.at(snapshot).select(
                category=category, tier=tier, tag=tag, quality_min=quality_min
            )
            ids = chosen.page(order, limit, offset)
            found = snapshot.memories(ids)
            rows = tuple(found[name] for name in ids)
            return MemoryPage(len(chosen), offset, rows, self.usage.of(ids))

        return self.read(page)

    def conflicts(self, *, status: str = "", memory_id: str = "", limit: int = 100) -> list[Conflict]:
        """Ledger rows, newest first; ``status`` open, resolved, archived, or "" for open and resolved."""
        where = [f"status = {quoted(status)}"] if status in ("open", "resolved") else []
        if memory_id:
            where.append(f"(memory_a_id = {quoted(memory_id)} OR memory_b_id = {quoted(memory_id)})")
        table = schema.ARCHIVE if status == "archived" else schema.CONFLICTS

        def listed(snapshot: Snapshot) -> list[Conflict]:
            found = [conflict_of(row) for row in snapshot.rows(table, " AND ".join(where))]
            return sorted(found, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]

        return self.read(listed)

    def graph(self, memory_id: str, *, depth: int = 1, limit: int = 50) -> GraphView:
        return self.read(lambda snapshot: graph_around(snapshot, memory_id, depth, limit))

    def graph_summary(self) -> GraphSummary:
        return self.read(graph_summary)

    def trash(self, *, limit: int = 50, offset: int = 0) -> tuple[int, list[Revision]]:
        """How many memories are in the trash, and a page of them, last deleted first."""
        found = self.read(trashed)
        return len(found), found[offset : offset + limit]

    def revisions(self, memory_id: str, *, limit: int = 50) -> list[Revision]:
        """A memory's history, newest first."""
        return self.read(lambda snapshot: revisions_of(snapshot, memory_id, limit))

    def _detail(self, snapshot: Snapshot, memory_id: str) -> MemoryDetail:
        memory = snapshot.memories([memory_id]).get(memory_id)
        if memory is None:
            raise not_found(memory_id)
        edges = snapshot.edges_of([memory_id])
        others = snapshot.memories(end for edge in edges for end in (edge.source_id, edge.target_id) if end)
        sides = f"(memory_a_id = {quoted(memory_id)} OR memory_b_id = {quoted(memory_id)})"
        conflicts = snapshot.rows(schema.CONFLICTS, f"status = 'open' AND {sides}")
        return MemoryDetail(
            memory=memory,
            usage=self.usage.of([memory_id]).get(memory_id, Usage()),
            edges_out=tuple(
                _neighbour(edge.relation_type, edge.target_id, edge.target_label, others)
                for edge in edges
                if edge.source_id == memory_id
            ),
            edges_in=tuple(
                _neighbour(edge.relation_type, edge.source_id, "", others)
                for edge in edges
                if edge.target_id == memory_id
            ),
            conflicts=tuple(conflict_of(row) for row in conflicts),
            revisions=tuple(revisions_of(snapshot, memory_id, REVISIONS_SHOWN)),
        )


def _neighbour(kind: str, memory_id: str, label: str, others: dict[str, StoredMemory]) -> Neighbour:
    other = others.get(memory_id)
    return Neighbour(kind, memory_id, label, first_line(other.content) if other else "")
