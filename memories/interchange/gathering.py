"""Items of a source turned into rows of ours: checked by the contract, screened, embedded in batches."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.contract import MemoryForm, MemsuiteError, validate_add
from memories.embedding import Embedder
from memories.interchange.items import (
    ConflictItem,
    Item,
    LessonItem,
    MemoryItem,
    MisfitItem,
    Note,
    RowItem,
    TurnItem,
)
from memories.interchange.masking import kept_row, masked, refuse_secrets_in
from memories.interchange.systems import System
from memories.repository import schema
from memories.repository.edges import edges_of_form
from memories.repository.import_stage import USAGE
from memories.repository.lessons import Evidence, LessonStatus
from memories.repository.quarantine import Misfit
from memories.repository.records import Row, derived_columns, embedding_text, now
from memories.repository.turn_records import FIRST_TRUST, context_of, searchable
from memories.repository.vectors import Vector
from memories.screening import refuse_secrets

SIDE_MAX = 4_000
"""Characters of one side of a turn, as in capture."""

SESSIONS_REMEMBERED = 1_000
"""Sessions whose last turn is kept at hand, for the vector of the next one with the one before it."""


Known = Callable[[Collection[str]], Mapping[str, str]]
"""The fingerprints of those of some ids that are stored."""


def _nothing_known(ids: Collection[str]) -> Mapping[str, str]:
    return {}


@dataclass
class _Pending:
    """A row whose vector is still to be made."""

    row: Row
    column: str
    text: str


@dataclass
class Step:
    """What a run of items came to."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    pending: list[_Pending] = field(default_factory=list)

    def add(self, table: str, row: Row) -> None:
        self.tables.setdefault(table, []).append(row)


class Gathering:
    """Turns items into rows. Without an embedder (a dry run) vectors are left out."""

    def __init__(
        self,
        system: System,
        embedder: Embedder | None,
        *,
        user_id: str = "",
        allowed_secrets: Collection[str] = (),
        known: Known = _nothing_known,
    ) -> None:
        self._system = system
        self._embedder = embedder
        self._identity = str(embedder.identity) if embedder is not None else ""
        self._user_id = user_id
        self._allowed = allowed_secrets
        self._known = known
        self._at = now()
        self._last: OrderedDict[str, Vector] = OrderedDict()

    def step(self, items: Sequence[Item]) -> Step:
        """The rows of some items. Raises ``embedding_failed``; whatever is wrong with a single item makes
        it a misfit."""
        step = Step()
        for item in items:
            try:
                self._take(step, item)
            except MemsuiteError as error:
                self._set_aside(step, _misfit_of(item, error))
        self._embed(step)
        self._contexts(step)
        return step

    def _take(self, step: Step, item: Item) -> None:
        if isinstance(item, MemoryItem):
            self._memory(step, item)
        elif isinstance(item, TurnItem):
            self._turn(step, item)
        elif isinstance(item, LessonItem):
            self._lesson(step, item)
        elif isinstance(item, ConflictItem):
            conflict = item.conflict
            refuse_secrets_in(conflict.as_row())
            step.add(schema.ARCHIVE if conflict.archived_at else schema.CONFLICTS, conflict.as_row())
            step.counts["read conflict"] += 1
        elif isinstance(item, RowItem):
            self._row(step, item)
        elif isinstance(item, MisfitItem):
            self._set_aside(step, item)
        elif isinstance(item, Note):
            step.counts[f"note {item.text}"] += 1

    # -- memories ---------------------------------------------------------------------

    def _memory(self, step: Step, item: MemoryItem) -> None:
        request = validate_add(item.payload)
        refuse_secrets(request.form, allowed=self._allowed)
        form = request.form
        kept_tags = "tags_manual" in item.columns
        row = derived_columns(form, tags_manual=kept_tags) | self._memory_columns(item, form)
        # An export of ours says which fingerprint a row had: of relations that may have gone since.
        fallback = made_id(self._system, item.id, row["fingerprint"])
        row |= {"id": item.id or fallback, "fallback_id": fallback}
        self._vector(step, row, "vector", item.vector, item.embedding_id, embedding_text(form))
        step.add(schema.MEMORIES, row)
        for edge in item.edges or edges_of_form(row["id"], form, row["created_at"]):
            step.add(schema.EDGES, edge.as_row())
        if item.recalls:
            step.add(USAGE, _usage(row["id"], item, self._at))
        step.counts["read memory"] += 1

    def _memory_columns(self, item: MemoryItem, form: MemoryForm) -> Row:
        made_at = item.created_at or item.updated_at or self._at
        original = json.dumps(kept_row(dict(item.original)), ensure_ascii=False) if item.original else ""
        return {
            "source": f"import:{self._system}",
            "session_id": item.session_id,
            "user_id": item.user_id or self._user_id,
            "platform": item.platform,
            "created_at": made_at,
            "updated_at": item.updated_at or made_at,
            "reviewed_at": None,
            "approved_by": "",
            "revision": 1,
            "operation_id": "",
            "generation": 0,
            "content_hash": "",
            "embedding_id": self._identity,
            "original": original,
        } | dict(item.columns)

    # -- turns and lessons ------------------------------------------------------------

    def _turn(self, step: Step, item: TurnItem) -> None:
        columns = dict(item.columns)
        user, user_cut = _side(columns.pop("user_text", ""))
        assistant, assistant_cut = _side(columns.pop("assistant_text", ""))
        text, cut = _side(item.text, 2 * SIDE_MAX + 64)
        said_at: datetime = columns.pop("occurred_at", None) or self._at
        row: Row = {
            "id": item.id,
            "kind": "exchange",
            "wing": "general",
            "room": "conversations",
            "session_id": "",
            "user_id": "",
            "platform": "",
            "trust": FIRST_TRUST,
            "seen_count": 1,
            "is_correction": False,
            "variants": [],
            "merged": [],
            "trashed_at": None,
            "generation": 0,
        } | columns
        row |= {
            "text": text,
            "user_text": user,
            "assistant_text": assistant,
            "truncated": bool(row.get("truncated")) or cut or user_cut or assistant_cut,
            "occurred_at": said_at,
            "last_seen_at": row.get("last_seen_at") or said_at,
            "user_id": row["user_id"] or self._user_id,
            "variants": [masked(variant) for variant in row["variants"] or []],
            "embedding_id": self._identity,
        }
        row["search_text"] = searchable((text, *row["variants"]), said_at)
        for column in ("vector", "context_vector"):
            given = item.vectors.get(column)
            if column == "vector" or given is not None:
                self._vector(step, row, column, given, item.embedding_id, text)
        step.add(schema.TURNS, row)
        step.counts["read turn"] += 1

    def _contexts(self, step: Step) -> None:
        """The vector of a turn with the one before it, where the source did not bring one."""
        for row in step.tables.get(schema.TURNS, ()):
            if row.get("context_vector") is None and row.get("vector") is not None:
                row["context_vector"] = context_of(self._last.get(row["session_id"]), row["vector"])
            if row.get("vector") is not None:
                self._last[row["session_id"]] = row["vector"]
                self._last.move_to_end(row["session_id"])
        while len(self._last) > SESSIONS_REMEMBERED:
            self._last.popitem(last=False)

    def _lesson(self, step: Step, item: LessonItem) -> None:
        request = validate_add(item.proposed)
        refuse_secrets(request.form, allowed=self._allowed)
        said_at = item.said_at or self._at
        evidence = Evidence(
            source=str(self._system),
            id=item.id,
            user_id=self._user_id,
            at=said_at.isoformat(timespec="seconds"),
            said=masked(item.rule),
        )
        form = request.form
        row: Row = {
            "id": item.id,
            "rule": masked(item.rule),
            "evidence": json.dumps([asdict(evidence)], ensure_ascii=False),
            "count": 1,
            "category": str(form.category),
            "tier": int(form.tier),
            "proposed": json.dumps(dict(item.proposed), ensure_ascii=False),
            "status": str(LessonStatus.WAITING),
            "merged_into": "",
            "memory_id": "",
            "user_id": self._user_id,
            "created_at": said_at,
            "updated_at": said_at,
            "decided_by": "",
            "decided_at": None,
            "note": item.note,
            "generation": 0,
        }
        step.add(schema.LESSONS, row)
        step.counts["read lesson"] += 1

    # -- the rest ---------------------------------------------------------------------

    def _row(self, step: Step, item: RowItem) -> None:
        if item.table != schema.QUARANTINE:
            refuse_secrets_in(item.row)
        if item.table == schema.REVISIONS and item.text and item.row.get("before_vector") is None:
            self._vector(step, item.row, "before_vector", None, "", item.text)
        step.add(item.table, item.row)
        step.counts[f"read {item.table}"] += 1

    def _set_aside(self, step: Step, item: MisfitItem) -> None:
        misfit = Misfit(
            system=str(self._system),
            kind=item.kind,
            place=item.place,
            source_id=masked(item.id[:80]),
            code=str(item.error.code),
            field=item.error.field,
            message=item.error.message,
            row=kept_row(dict(item.row)),
        )
        step.add(schema.QUARANTINE, misfit.as_row(self._at))
        step.counts[f"read {item.kind}"] += 1
        step.counts[f"quarantined {item.error.code}"] += 1

    def _vector(self, step: Step, row: Row, column: str, given: Any, embedding_id: str, text: str) -> None:
        row[column] = None
        if given is not None and embedding_id == self._identity:
            row[column] = given
            step.counts["vectors taken over"] += 1
        elif self._embedder is not None:
            step.pending.append(_Pending(row, column, text))

    def _leave_out_stored(self, step: Step) -> None:
        """A memory that is stored as it is needs no vector: an import that is run again is quick. Should it
        be gone when the rest is written, it gets its vector then."""
        rows = [pending.row for pending in step.pending if _is_memory(pending.row)]
        known = self._known([row[name] for row in rows for name in ("id", "fallback_id")]) if rows else {}
        step.pending = [
            pending
            for pending in step.pending
            if not _is_memory(pending.row) or not _is_stored(pending.row, known)
        ]

    def _embed(self, step: Step) -> None:
        self._leave_out_stored(step)
        if not step.pending or self._embedder is None:
            return
        texts = list(dict.fromkeys(pending.text for pending in step.pending))
        vectors = dict(zip(texts, self._embedder.embed_documents(texts), strict=True))
        for pending in step.pending:
            pending.row[pending.column] = vectors[pending.text]
        step.counts["vectors made"] += len(step.pending)


def _is_memory(row: Row) -> bool:
    return "fallback_id" in row


def _is_stored(row: Row, known: Mapping[str, str]) -> bool:
    return row["fingerprint"] in (known.get(row["id"]), known.get(row["fallback_id"]))


def made_id(system: str, source_id: str, fingerprint: str) -> str:
    """An id that the same row gets every time it is read, for a row without one or whose own is taken."""
    digest = hashlib.sha256(f"{system}\0{source_id}\0{fingerprint}".encode()).digest()
    return str(UUID(bytes=digest[:16], version=5))


def _side(text: str, limit: int = SIDE_MAX) -> tuple[str, bool]:
    """One side of a turn, secrets masked, cut at a word; and whether it was cut."""
    text = masked(text)
    if len(text) <= limit:
        return text, False
    kept, _, _ = text[: limit + 1].rpartition(" ")
    return (kept or text[:limit]).rstrip(), True


def _usage(memory_id: str, item: MemoryItem, at: datetime) -> Row:
    recalled = item.recalled_at or item.updated_at or at
    return {
        "memory_id": memory_id,
        "day": recalled.date().isoformat(),
        "recalls": item.recalls,
        "confirmations": 0,
        "last_recalled_at": recalled.isoformat(timespec="seconds"),
    }


def _misfit_of(item: Item, error: MemsuiteError) -> MisfitItem:
    """An item that turned out to be unusable, as what it was."""
    if isinstance(item, MemoryItem):
        row = dict(item.original or item.payload)
        return MisfitItem(item.place, "memory", item.id, error, row)
    if isinstance(item, TurnItem):
        return MisfitItem(item.place, "turn", item.id, error, {"text": item.text})
    if isinstance(item, LessonItem):
        return MisfitItem(item.place, "lesson", item.id, error, {"rule": item.rule, **item.proposed})
    if isinstance(item, ConflictItem):
        return MisfitItem(item.place, "conflict", item.conflict.id, error, _plain(item.conflict.as_row()))
    assert isinstance(item, RowItem)
    name = str(item.row.get("id") or item.row.get("memory_id") or "")
    return MisfitItem("", item.table, name, error, _plain(item.row))


def _plain(row: Row) -> Row:
    return {name: value for name, value in row.items() if "vector" not in name and value is not None}
