"""What a memory's page shows around its form: disagreements, similar memories, edges, recall."""

from __future__ import annotations

from dataclasses import dataclass

from memories.console.memory_form import stored_draft
from memories.console.memory_history import HistoryEntry, history_of, who
from memories.console.navigation import page_url
from memories.console.preview import listed
from memories.console.relation_targets import RelationRow, pointed_at, rows_of
from memories.repository import MemoryRepository, StoredMemory
from memories.repository.history import revisions_of
from memories.repository.ledger import Conflict
from memories.repository.repository import REVISIONS_SHOWN
from memories.repository.results import MemoryDetail
from memories.repository.revisions import Revision
from memories.repository.snapshot import Snapshot
from memories.repository.usage import Signals

MOST_SIMILAR = 5
MOST_REVISIONS = 50
LEAST_ALIKE = 0.35
"""Cosine below which a neighbour is near only because nothing is nearer."""


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """One open disagreement, told from this memory's side."""

    key: str
    ours: str
    theirs: str
    other: StoredMemory | None
    other_id: str


@dataclass(frozen=True, slots=True)
class EdgeIn:
    """A relation that another memory declares to this one."""

    type: str
    source: StoredMemory


@dataclass(frozen=True, slots=True)
class MemoryView:
    """Everything of one memory's page but its form."""

    detail: MemoryDetail
    signals: Signals
    conflicts: tuple[OpenConflict, ...]
    similar: tuple[tuple[StoredMemory, float], ...]
    edges_in: tuple[EdgeIn, ...]
    edges_out: tuple[RelationRow, ...]
    history: tuple[HistoryEntry, ...]

    @property
    def memory(self) -> StoredMemory:
        return self.detail.memory

    @property
    def disagreement(self) -> str:
        """``2 memories disagree about port``, "" where none do."""
        if not self.conflicts:
            return ""
        count = 1 + len({conflict.other_id for conflict in self.conflicts})
        return f"{count} memories disagree about {listed(dict.fromkeys(c.key for c in self.conflicts))}"

    @property
    def reviewer(self) -> str:
        return who(self.memory.approved_by)

    @property
    def conflicts_url(self) -> str:
        return page_url("conflicts", memory=self.memory.id)


@dataclass(frozen=True, slots=True)
class _Gathered:
    revisions: list[Revision]
    near: list[tuple[str, float]]
    known: dict[str, StoredMemory]


def memory_view(repository: MemoryRepository, memory_id: str) -> MemoryView:
    """Gather the page of a memory. Raises ``memory_not_found``."""
    detail = repository.get(memory_id)
    draft = stored_draft(detail)
    pointed = pointed_at(repository, draft, detail)
    others = [edge.memory_id for edge in detail.edges_in]
    others += [_other_side(conflict, memory_id) for conflict in detail.conflicts]

    def gathered(snapshot: Snapshot) -> _Gathered:
        near = _near(snapshot, memory_id)
        wanted = dict.fromkeys([*others, *filter(None, pointed), *(name for name, _ in near)])
        # Together, since a look into the table costs nearly the same for one memory as for fifty.
        return _Gathered(_revisions(snapshot, detail), near, snapshot.memories(wanted))

    found = repository.read(gathered)
    known = found.known
    return MemoryView(
        detail=detail,
        signals=detail.usage.signals(detail.memory),
        conflicts=tuple(_seen_from(conflict, memory_id, known) for conflict in detail.conflicts),
        similar=tuple((known[name], cosine) for name, cosine in found.near if name in known),
        edges_in=tuple(
            EdgeIn(edge.relation_type, known[edge.memory_id])
            for edge in detail.edges_in
            if edge.memory_id in known
        ),
        edges_out=tuple(rows_of(draft, pointed, known)),
        history=tuple(history_of(detail, found.revisions)),
    )


def _revisions(snapshot: Snapshot, detail: MemoryDetail) -> list[Revision]:
    """The history, which is read once more only where the newest few are not all of it."""
    if len(detail.revisions) < REVISIONS_SHOWN:
        return list(detail.revisions)
    return revisions_of(snapshot, detail.memory.id, MOST_REVISIONS)


def _near(snapshot: Snapshot, memory_id: str) -> list[tuple[str, float]]:
    """The nearest by the stored vectors, with their cosines; nothing is embedded for it."""
    vector = snapshot.vectors_of([memory_id]).by_id().get(memory_id)
    if vector is None:
        return []
    near = snapshot.nearest(vector, limit=MOST_SIMILAR + 1)
    return [(name, cosine) for name, cosine in near if name != memory_id and cosine >= LEAST_ALIKE][
        :MOST_SIMILAR
    ]


def _other_side(conflict: Conflict, memory_id: str) -> str:
    return conflict.memory_b_id if conflict.memory_a_id == memory_id else conflict.memory_a_id


def _seen_from(conflict: Conflict, memory_id: str, known: dict[str, StoredMemory]) -> OpenConflict:
    ours, theirs = conflict.value_a, conflict.value_b
    if conflict.memory_a_id != memory_id:
        ours, theirs = theirs, ours
    other = _other_side(conflict, memory_id)
    return OpenConflict(conflict.claim_key, ours, theirs, known.get(other), other)
