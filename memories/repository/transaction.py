"""What a writer and what maintenance work with while they hold the write lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memories.embedding import EmbeddingIdentity
from memories.repository import schema
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head
from memories.repository.ids import new_id
from memories.repository.records import Row
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Snapshot
from memories.repository.tables import TableChange, Tables

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Transaction:
    """Changes gathered under the write lock; they become the database when the block ends.

    ``snapshot`` is the state they apply to. Reads in here do not see what was gathered.
    """

    snapshot: Snapshot
    stamp: Stamp
    changes: dict[str, TableChange] = field(default_factory=dict)
    reembedded: Reembedded | None = None
    another_history: bool = False
    """The rows bring their own generations: what was cached of this database is no beginning of it."""

    def add(self, table: str, row: Row) -> None:
        """A row whose key is known to be new."""
        self._change(table).added[row[schema.KEYS[table]]] = row

    def replace(self, table: str, row: Row) -> None:
        """A row that takes the place of the one with its key, if there is one."""
        self._change(table).replaced[row[schema.KEYS[table]]] = row

    def delete(self, table: str, key: str) -> None:
        self._change(table).deleted.add(key)

    def stream(self, table: str, batches: Callable[[], Iterable[pa.RecordBatch]]) -> None:
        """Rows with new keys, read only as they are written."""
        self._change(table).streamed = batches

    def empty(self, table: str) -> None:
        """Remove every row of a table."""
        self._change(table).emptied = True

    def _change(self, table: str) -> TableChange:
        return self.changes.setdefault(table, TableChange())


@dataclass(frozen=True, slots=True)
class Reembedded:
    """Everything that holds vectors with those of another model: for each such table its rows, which
    have the schema of that model's dimension."""

    identity: EmbeddingIdentity
    tables: Mapping[str, Callable[[], Iterable[pa.RecordBatch]]]


@dataclass
class Upkeep:
    """The tables for maintenance, which changes no content, under the write lock. ``head`` is the
    state as it was moved last."""

    head: Head
    tables: Tables
    fsync: bool
    files: DatabaseFiles
    _move: Callable[[Head], Head]

    def move(self, versions: Mapping[str, int], *, forget_previous: bool = False) -> None:
        """Make other versions of the same content the database. ``forget_previous`` gives the versions
        before up as well: for one who knows that nobody reads them."""
        tables = {**self.head.tables, **versions}
        if tables == self.head.tables and not forget_previous:
            return
        previous = tables if forget_previous else dict(self.head.tables)
        self.head = self._move(replace(self.head, tables=tables, previous=previous))

    def begin_history(self, versions: Mapping[str, int]) -> None:
        """Make versions of other content the database, without a way back: a history of its own, so
        that no cache of what was there before is a beginning of it."""
        tables = {**self.head.tables, **versions}
        generation = self.head.generation + 1
        self.head = self._move(
            replace(self.head, tables=tables, previous=tables, generation=generation, lineage=new_id())
        )

    def snapshot(self, versions: Mapping[str, int] | None = None) -> Snapshot:
        """The state, or what it would be with other versions; read without the readers' lock."""
        head = replace(self.head, tables={**self.head.tables, **(versions or {})})
        return Snapshot(self.tables.connection, self.files, head)
