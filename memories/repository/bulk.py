"""One change of many memories in one commit. Nothing in here needs the embedder: what is embedded
(subject and facts) stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memories.contract import (
    Category,
    ErrorCode,
    MemsuiteError,
    Relation,
    Tier,
    canonical_text,
    fingerprint,
)
from memories.contract import fields as checks
from memories.contract.limits import TAGS_MAX
from memories.repository.changes import ChangeSet
from memories.repository.edges import by_memory
from memories.repository.history import newest_numbers, removals, revive
from memories.repository.records import Author, Row
from memories.repository.relations import Superseding
from memories.repository.results import BulkResult
from memories.repository.vectors import Vector
from memories.repository.write_context import WriteContext, not_found
from memories.text.normalise import retagged

Progress = Callable[[int, int], None]
"""Told how many of how many memories are prepared; the commit follows the last call."""

PROGRESS_EVERY = 200


class Action(StrEnum):
    """What can be done to many memories at once."""

    ADD_TAGS = "add_tags"
    REMOVE_TAGS = "remove_tags"
    MERGE_TAGS = "merge_tags"
    SET_CATEGORY = "set_category"
    SET_TYPE = "set_type"
    SET_TIER = "set_tier"
    SET_QUALITY = "set_quality"
    MARK_REVIEWED = "mark_reviewed"
    TRASH = "trash"
    RESTORE = "restore"
    SUPERSEDE = "supersede"


@dataclass(frozen=True, slots=True)
class BulkChange:
    """An action with its checked value. ``target`` is the tag that merged ones become, ``by`` the id
    of the memory that supersedes the others."""

    action: Action
    tags: tuple[str, ...] = ()
    target: str = ""
    category: Category | None = None
    tier: Tier | None = None
    quality: float | None = None
    type: str = ""
    by: str = ""

    @classmethod
    def of(cls, action: str, value: object = None, *, target: object = None) -> BulkChange:
        """Check what a door was given. Raises ``invalid_parameter`` for an unknown action, and for
        a value what the contract says of it."""
        try:
            kind = Action(action)
        except ValueError as error:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER,
                "action",
                "There is no such action.",
                received=action,
                expected=[str(known) for known in Action],
            ) from error
        checked = cls(kind)
        for name, value_of in _VALUES.get(kind, {}).items():
            object.__setattr__(checked, name, value_of(value))
        if kind is Action.MERGE_TAGS:
            object.__setattr__(checked, "target", checks.tags([target])[0])
        return checked

    def columns(self, row: Row, relations: Sequence[Relation], author: Author, at: object) -> Row:
        """The columns of a memory that differ afterwards; none where it is so already."""
        changed = _COLUMNS[self.action](self, row)
        if self.action is Action.MARK_REVIEWED:
            changed = {"reviewed_at": at, "approved_by": author.actor}
        changed = {name: value for name, value in changed.items() if row[name] != value}
        return changed | _derived(row, changed, relations) if changed else {}


class BulkWriter:
    """The changes of many of one repository."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    def apply(
        self,
        change: BulkChange,
        ids: Sequence[str],
        author: Author,
        *,
        note: str = "",
        progress: Progress | None = None,
    ) -> BulkResult:
        """Change all of ``ids``, or none if anything fails; each that cannot be changed is named."""
        return self._context.again(lambda: self._apply(change, ids, author, note, progress or _silent))

    def _apply(
        self, change: BulkChange, ids: Sequence[str], author: Author, note: str, progress: Progress
    ) -> BulkResult:
        context, wanted = self._context, list(dict.fromkeys(ids))
        gathered = _Gathered(progress, len(wanted))
        restores = change.action is Action.RESTORE
        vectors = self._vectors(wanted) if restores else {}
        with context.store.transaction(
            author, str(change.action), wait=context.lock_wait, note=note
        ) as transaction:
            changes = ChangeSet(transaction, context.conflict_limit)
            if restores:
                _restore(changes, wanted, vectors, gathered)
            elif change.action is Action.SUPERSEDE:
                _supersede(changes, change.by, wanted, gathered)
            else:
                _change(changes, change, wanted, author, gathered)
            ledger = changes.write()
        return BulkResult(
            operation_id=transaction.stamp.operation_id if gathered.changed else "",
            changed=tuple(gathered.changed),
            unchanged=tuple(gathered.unchanged),
            refused=gathered.refused,
            conflicts=tuple(row for row in ledger.written if row.is_open),
        )

    def _vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """For what another model had embedded when it was moved to the trash."""
        kept = self._context.store.read(lambda snapshot: removals(snapshot, ids))
        images = (revision.image().row for revision in kept.values())
        return self._context.current_vectors([row for row in images if row is not None])


@dataclass
class _Gathered:
    """What became of each memory so far."""

    progress: Progress
    total: int
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, MemsuiteError] = field(default_factory=dict)

    def tell(self) -> None:
        done = len(self.changed) + len(self.unchanged) + len(self.refused)
        if done % PROGRESS_EVERY == 0 or done == self.total:
            self.progress(done, self.total)


def _change(
    changes: ChangeSet, change: BulkChange, ids: Sequence[str], author: Author, gathered: _Gathered
) -> None:
    rows = changes.load(ids)
    edges = by_memory(changes.snapshot.edges_of(ids))
    moment = changes.transaction.stamp.at
    for memory_id in ids:
        row = rows.get(memory_id)
        if row is None:
            gathered.refused[memory_id] = not_found(memory_id)
        elif change.action is Action.TRASH:
            changes.remove(row)
            gathered.changed.append(memory_id)
        else:
            mine = [edge.relation for edge in edges.get(memory_id, ()) if edge.source_id == memory_id]
            try:
                columns = change.columns(row, mine, author, moment)
            except MemsuiteError as error:
                gathered.refused[memory_id] = error
                continue
            if columns:
                changes.replace(row | columns | {"updated_at": moment}, None)
            (gathered.changed if columns else gathered.unchanged).append(memory_id)
        gathered.tell()


def _restore(
    changes: ChangeSet, ids: Sequence[str], vectors: Mapping[str, Vector], gathered: _Gathered
) -> None:
    stored = changes.load(ids)
    last = removals(changes.snapshot, [name for name in ids if name not in stored])
    numbers = newest_numbers(changes.snapshot, list(last))
    for memory_id in ids:
        if memory_id in stored:
            gathered.unchanged.append(memory_id)
        elif memory_id not in last:
            gathered.refused[memory_id] = not_found(memory_id)
        else:
            revive(changes, last[memory_id], None, vectors, numbers)
            gathered.changed.append(memory_id)
        gathered.tell()


def _supersede(changes: ChangeSet, by: str, ids: Sequence[str], gathered: _Gathered) -> None:
    """Declare that one memory supersedes the others. Only that one changes; ``gathered`` counts the
    superseded. Raises ``memory_not_found`` where the one is not stored."""
    rows = changes.load([by, *ids])
    if by not in rows:
        raise not_found(by)
    superseding = Superseding.by(changes, rows[by])
    for memory_id in ids:
        try:
            if memory_id not in rows:
                raise not_found(memory_id)
            if superseding.already(memory_id):
                gathered.unchanged.append(memory_id)
            else:
                superseding.add(memory_id)
                gathered.changed.append(memory_id)
        except MemsuiteError as error:
            gathered.refused[memory_id] = error
        gathered.tell()
    if gathered.changed:
        superseding.write()


def _tags_of(tags: Sequence[str]) -> Row:
    """Tags as a person leaves them; each once, whatever its case, the first spelling kept."""
    kept: dict[str, str] = {}
    for tag in tags:
        kept.setdefault(tag.casefold(), tag)
    if len(kept) > TAGS_MAX:
        raise MemsuiteError(
            ErrorCode.TOO_MANY_TAGS,
            "tags",
            f"The memory would have {len(kept)} tags.",
            received=len(kept),
            expected=TAGS_MAX,
        )
    return {"tags": list(kept.values())}


def _removed(change: BulkChange, row: Row) -> Row:
    folded = {tag.casefold() for tag in change.tags}
    return _tags_of([tag for tag in row["tags"] if tag.casefold() not in folded])


def _merged(change: BulkChange, row: Row) -> Row:
    folded = {tag.casefold() for tag in change.tags}
    return _tags_of([change.target if tag.casefold() in folded else tag for tag in row["tags"]])


def _category(change: BulkChange, row: Row) -> Row:
    """A type that only echoed the category goes on doing so."""
    follows = row["type"] == row["category"]
    return {"category": str(change.category)} | ({"type": str(change.category)} if follows else {})


def _memory_id(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "by",
            "The id of the memory that supersedes the others is needed.",
            received=value,
        )
    return value


_VALUES: Mapping[Action, Mapping[str, Callable[[object], object]]] = {
    Action.ADD_TAGS: {"tags": checks.tags},
    Action.REMOVE_TAGS: {"tags": checks.tags},
    Action.MERGE_TAGS: {"tags": checks.tags},
    Action.SET_CATEGORY: {"category": checks.category},
    Action.SET_TYPE: {"type": checks.type_label},
    Action.SET_TIER: {"tier": checks.tier},
    Action.SET_QUALITY: {"quality": checks.quality},
    Action.SUPERSEDE: {"by": _memory_id},
}

_COLUMNS: Mapping[Action, Callable[[BulkChange, Row], Row]] = {
    Action.ADD_TAGS: lambda change, row: _tags_of([*row["tags"], *change.tags]),
    Action.REMOVE_TAGS: _removed,
    Action.MERGE_TAGS: _merged,
    Action.SET_CATEGORY: _category,
    Action.SET_TYPE: lambda change, row: {"type": change.type},
    Action.SET_TIER: lambda change, row: {"tier": int(change.tier or row["tier"])},
    Action.SET_QUALITY: lambda change, row: {"quality": change.quality},
    Action.MARK_REVIEWED: lambda change, row: {},
}


def _derived(before: Row, changed: Row, relations: Sequence[Relation]) -> Row:
    """What follows from the columns that changed, and nothing that does not."""
    derived: Row = {}
    row = before | changed
    if "tags" in changed:
        words = retagged(
            before["search_text"],
            domain=row["domain"],
            subject=row["subject"],
            facts=row["facts"],
            before=before["tags"],
            tags=row["tags"],
        )
        derived |= {"search_text": words, "tags_manual": True}
    if changed.keys() & {"tier", "category"}:
        content = canonical_text(row["domain"], row["subject"], row["facts"], Tier(row["tier"]))
        derived |= {
            "content": content,
            "fingerprint": fingerprint(row["category"], content, relations),
        }
    return derived


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
