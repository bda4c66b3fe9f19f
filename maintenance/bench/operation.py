"""A change that the crash benchmark makes, as a value that goes through a pipe, and how it is made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from memories.contract import MemsuiteError
from memories.repository import AddResult, Author, BulkChange, MemoryRepository

BENCH = Author("command", source="command")
"""A person's hand, so that tags are exactly those given."""


class Kind(StrEnum):
    """The kinds of change; each is one operation with one id."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    ADD_TAGS = "add_tags"
    REMOVE_TAGS = "remove_tags"
    TRASH = "trash"
    RESTORE_MANY = "restore_many"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change. ``ids`` are the memories it is about, ``payloads`` what an add adds, ``patch`` what
    an update sets, ``tag`` what a tag edit is about, ``undone`` the operation an undo takes back."""

    kind: Kind
    ids: tuple[str, ...] = ()
    payloads: tuple[Mapping[str, Any], ...] = ()
    patch: Mapping[str, Any] | None = None
    tag: str = ""
    undone: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, raw: Mapping[str, Any]) -> Operation:
        values = dict(raw) | {
            "kind": Kind(raw["kind"]),
            "ids": tuple(raw["ids"]),
            "payloads": tuple(raw["payloads"]),
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was acknowledged: the operation's id ("" where nothing changed) and the memories that it
    changed, for an add in the order of its payloads, "" for each that was refused."""

    operation_id: str
    ids: tuple[str, ...]

    @classmethod
    def of_json(cls, raw: Mapping[str, Any]) -> Outcome:
        return cls(raw["operation_id"], tuple(raw["ids"]))


def perform(repository: MemoryRepository, operation: Operation) -> Outcome:
    """Make the change. Raises the ``MemsuiteError`` that refused it."""
    one = operation.ids[0] if operation.ids else ""
    match operation.kind:
        case Kind.ADD:
            return _added(repository.add_many(operation.payloads, BENCH))
        case Kind.UPDATE:
            changed = repository.update(one, operation.patch, BENCH, patch=True).operation_id
            return Outcome(changed, (one,) if changed else ())
        case Kind.DELETE:
            return Outcome(repository.delete(one, BENCH).operation_id, (one,))
        case Kind.RESTORE:
            return Outcome(repository.restore(one, BENCH).operation_id, (one,))
        case Kind.UNDO:
            undone = repository.undo(operation.undone, BENCH)
            return Outcome(undone.operation_id, undone.undone)
        case Kind.TRASH | Kind.RESTORE_MANY:
            action = "trash" if operation.kind is Kind.TRASH else "restore"
            found = repository.apply(BulkChange.of(action), operation.ids, BENCH)
            return Outcome(found.operation_id, found.changed)
        case Kind.ADD_TAGS | Kind.REMOVE_TAGS:
            change = BulkChange.of(str(operation.kind), [operation.tag])
            found = repository.apply(change, operation.ids, BENCH)
            return Outcome(found.operation_id, found.changed)


def line(name: str, value: object) -> str:
    """A line of the log."""
    return json.dumps({name: value}, separators=(",", ":")) + "\n"


def _added(results: Sequence[AddResult | MemsuiteError]) -> Outcome:
    """Those refused have no id; where all are, the first one's reason is raised."""
    added = [result for result in results if isinstance(result, AddResult)]
    refused = [result for result in results if isinstance(result, MemsuiteError)]
    if not added:
        raise refused[0]
    ids = tuple(result.memory_id if isinstance(result, AddResult) else "" for result in results)
    return Outcome(added[0].operation_id, ids)
