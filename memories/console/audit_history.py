"""One history of everything that was done: what the console recorded, and what only the store tells of."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Q, QuerySet

from memories.console.audit_blanking import events_naming
from memories.console.audit_check import BLANK_ACTION
from memories.console.audit_filter import OPEN, RESULTS, AuditFilter
from memories.console.audit_models import AuditCompletion, AuditEvent, AuditPayload
from memories.console.audit_store import operations_of, store_operations
from memories.console.memory_history import DONE, who
from memories.repository import MemoryRepository

CHUNK = 500
"""Operations read at once where all of them are wanted."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the history. ``recorded`` tells that the console wrote it down; the others are known
    by what they left in the store. ``memories`` counts those named or touched; other counts are None
    where nobody counted. ``note``, ``parameters`` and ``texts`` are empty after a purge (``blanked``)."""

    operation_id: str
    at: datetime
    actor: str
    action: str
    result: str
    memories: int
    recorded: bool
    session_id: str = ""
    user_id: str = ""
    address: str = ""
    code: str = ""
    changed: int | None = None
    unchanged: int | None = None
    refused: int | None = None
    note: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, Any] = field(default_factory=dict)
    blanked: bool = False
    stored: bool = False
    recovered: bool = False
    ended_at: datetime | None = None
    undoes: str = ""
    undone_by: str = ""

    @property
    def by(self) -> str:
        return who(self.actor, self.session_id)

    @property
    def did(self) -> str:
        return action_label(self.action)

    @property
    def came_to(self) -> str:
        return RESULTS[self.result]

    @property
    def kind(self) -> str:
        """The kind of chip: nothing for what went well, which is nearly all."""
        return {"done": "", "nothing": "", "failed": "bad"}.get(self.result, "warn")

    @property
    def can_undo(self) -> bool:
        return self.stored and not self.undone_by


_SAID = DONE | {"undo": "operation taken back", BLANK_ACTION: "text of the audit blanked"}


def action_label(action: str) -> str:
    return _SAID.get(action, action.replace("_", " "))


class History:
    """The operations that a filter lets through, newest first."""

    def __init__(self, repository: MemoryRepository, asked: AuditFilter) -> None:
        touching = operations_of(repository, asked.memory) if asked.memory else None
        self._events = _events(asked, touching)
        self._others = _others(store_operations(repository), asked, touching)

    @property
    def total(self) -> int:
        return self._events.count() + int(self._others.num_rows)

    def page(self, offset: int, size: int) -> list[Operation]:
        end = offset + size
        recorded = self._events.values_list("at", "operation_id")[:end]
        others = self._others.slice(0, end).select(["at", "operation_id"])
        keys = zip(others["at"].to_pylist(), others["operation_id"].to_pylist(), strict=True)
        chosen = [name for _, name in islice(heapq.merge(recorded, keys, reverse=True), offset, end)]
        return self._loaded(chosen)

    def every(self) -> Iterator[Operation]:
        """All of them, a chunk of either kind in memory at a time."""
        recorded = _operations(_with_ends(self._events).iterator(CHUNK))
        others = (
            _other(row) for batch in self._others.to_batches(max_chunksize=CHUNK) for row in batch.to_pylist()
        )
        return heapq.merge(recorded, others, key=lambda one: (one.at, one.operation_id), reverse=True)

    def _loaded(self, names: Sequence[str]) -> list[Operation]:
        events = _with_ends(AuditEvent.objects.filter(operation_id__in=names))
        found = {one.operation_id: one for one in _operations(events)}
        mine = pc.is_in(self._others["operation_id"], value_set=pa.array(names, pa.string()))
        for row in self._others.filter(mine).to_pylist():
            found.setdefault(row["operation_id"], _other(row))
        return _marked([found[name] for name in names if name in found])


def find(repository: MemoryRepository, operation_id: str) -> Operation | None:
    """One operation by its id."""
    events = _with_ends(AuditEvent.objects.filter(operation_id=operation_id))
    for one in _operations(events):
        return _marked([one])[0]
    known = store_operations(repository)
    for row in known.filter(pc.equal(known["operation_id"], operation_id)).to_pylist():
        return _marked([_other(row)])[0]
    return None


def named_ids(operation_id: str) -> list[str]:
    """The memories that a recorded operation was asked to change."""
    event = AuditEvent.objects.filter(operation_id=operation_id).first()
    if event is None:
        return []
    whole = event.payloads.filter(part="ids").first()
    return list(json.loads(whole.body if whole is not None and whole.body else event.ids))


def actors_and_actions(repository: MemoryRepository) -> tuple[list[str], list[str]]:
    """What the filters can be set to."""
    known = store_operations(repository)

    def values(column: str) -> list[str]:
        recorded = AuditEvent.objects.values_list(column, flat=True).distinct()
        return sorted({*recorded, *pc.unique(known[column]).to_pylist()} - {"", None})

    return values("actor"), values("action")


def _events(asked: AuditFilter, touching: frozenset[str] | None) -> QuerySet[AuditEvent]:
    wanted = Q()
    if asked.who:
        wanted &= Q(actor=asked.who)
    if asked.action:
        wanted &= Q(action=asked.action)
    if asked.result:
        wanted &= Q(completion=None) if asked.result == OPEN else Q(completion__result=asked.result)
    if asked.from_moment:
        wanted &= Q(at__gte=asked.from_moment)
    if asked.before_moment:
        wanted &= Q(at__lt=asked.before_moment)
    if touching is not None:
        wanted &= events_naming(asked.memory) | Q(operation_id__in=touching)
    return AuditEvent.objects.filter(wanted).order_by("-at", "-operation_id")


def _others(table: pa.Table, asked: AuditFilter, touching: frozenset[str] | None) -> pa.Table:
    """What only the store tells of: everything in it was done, or it would not be there."""
    recorded = pa.array(AuditEvent.objects.values_list("operation_id", flat=True), pa.string())
    keep = [pc.invert(pc.is_in(table["operation_id"], value_set=recorded))]
    if asked.result not in ("", "done"):
        return table.slice(0, 0)
    if asked.who:
        keep.append(pc.equal(table["actor"], asked.who))
    if asked.action:
        keep.append(pc.equal(table["action"], asked.action))
    if asked.from_moment:
        keep.append(pc.greater_equal(table["at"], pa.scalar(asked.from_moment, table["at"].type)))
    if asked.before_moment:
        keep.append(pc.less(table["at"], pa.scalar(asked.before_moment, table["at"].type)))
    if touching is not None:
        keep.append(pc.is_in(table["operation_id"], value_set=pa.array(sorted(touching), pa.string())))
    for mask in keep[1:]:
        keep[0] = pc.and_(keep[0], mask)
    return table.filter(keep[0])


def _with_ends(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    return events.select_related("completion").prefetch_related("payloads")


def _operations(events: Iterable[AuditEvent]) -> Iterator[Operation]:
    for event in events:
        end: AuditCompletion | None = getattr(event, "completion", None)
        text = next((payload for payload in event.payloads.all() if payload.part == "text"), None)
        yield Operation(
            operation_id=event.operation_id,
            at=event.at,
            actor=event.actor,
            action=event.action,
            result=OPEN if end is None else end.result,
            memories=event.ids_total,
            recorded=True,
            user_id=event.user_id,
            address=event.address,
            undoes=event.undoes,
            **_text(text),
            **({} if end is None else _end(end)),
        )


def _text(payload: AuditPayload | None) -> dict[str, Any]:
    if payload is None:
        return {}
    return {"blanked": True} if payload.blanked_at is not None else dict(json.loads(payload.body))


def _end(end: AuditCompletion) -> dict[str, Any]:
    names = ("code", "changed", "unchanged", "refused", "stored", "recovered")
    return {name: getattr(end, name) for name in names} | {"ended_at": end.at}


def _other(row: dict[str, Any]) -> Operation:
    return Operation(
        operation_id=row["operation_id"],
        at=row["at"].astimezone(UTC),
        actor=row["actor"],
        action=row["action"],
        result="done",
        memories=row["memories"],
        recorded=False,
        session_id=row["session_id"] or "",
        note=row["note"] or "",
        stored=True,
    )


def _marked(operations: Sequence[Operation]) -> list[Operation]:
    """The same, each that was taken back naming the operation that did."""
    names = [one.operation_id for one in operations]
    undone = AuditEvent.objects.filter(undoes__in=names, completion__stored=True)
    by = dict(undone.order_by("position").values_list("undoes", "operation_id"))
    return [replace(one, undone_by=by.get(one.operation_id, "")) for one in operations]
