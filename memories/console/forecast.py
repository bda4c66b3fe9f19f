"""What a change of many would do, told from the catalogue without doing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from memories.console.filtering import holding
from memories.console.trash_contents import in_trash
from memories.contract import ErrorCode, RelationType
from memories.contract.limits import RELATIONS_MAX, TAGS_MAX
from memories.repository import Action, BulkChange, MemoryRepository
from memories.repository.write_context import not_found


@dataclass(frozen=True, slots=True)
class Forecast:
    """The selected memories by what would become of each, in the order of the selection: changed,
    so already, or refused with the code of the refusal."""

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    refused: Mapping[str, ErrorCode]


def forecast(repository: MemoryRepository, change: BulkChange, ids: Sequence[str]) -> Forecast:
    """What ``repository.apply(change, ids, …)`` would answer now."""
    if change.action is Action.RESTORE:
        return _restoring(repository, ids)
    if change.action is Action.SUPERSEDE:
        return _superseding(repository, change.by, ids)
    table = repository.catalogue().table
    wanted = pa.array(ids, pa.string())
    places = pc.index_in(wanted, value_set=table["id"].combine_chunks())
    stored = table.take(places.drop_null())
    so = _so_already(change, stored)
    full = _too_many_tags(change, stored)
    missing = wanted.filter(pc.is_null(places)).to_pylist()
    return Forecast(
        changed=_named(stored, pc.invert(pc.or_(so, full))),
        unchanged=_named(stored, so),
        refused=dict.fromkeys(_named(stored, full), ErrorCode.TOO_MANY_TAGS)
        | dict.fromkeys(missing, ErrorCode.MEMORY_NOT_FOUND),
    )


def _restoring(repository: MemoryRepository, ids: Sequence[str]) -> Forecast:
    trash = {trashed.id for trashed in in_trash(repository)}
    stored = set(repository.catalogue().table["id"].to_pylist())
    gone = [name for name in ids if name not in trash and name not in stored]
    return Forecast(
        changed=tuple(name for name in ids if name in trash),
        unchanged=tuple(name for name in ids if name in stored),
        refused=dict.fromkeys(gone, ErrorCode.MEMORY_NOT_FOUND),
    )


def _superseding(repository: MemoryRepository, by: str, ids: Sequence[str]) -> Forecast:
    """Raises ``memory_not_found`` where the memory that supersedes is not stored."""
    edges = repository.read(lambda snapshot: snapshot.edges_of([by]))
    stored = set(repository.catalogue().table["id"].to_pylist())
    if by not in stored:
        raise not_found(by)
    says = [edge for edge in edges if edge.relation_type == RelationType.SUPERSEDES]
    already = {edge.target_id for edge in says if edge.source_id == by}
    over = {by} | {edge.source_id for edge in says if edge.target_id == by}
    room = RELATIONS_MAX - sum(edge.source_id == by for edge in edges)
    free = [name for name in ids if name in stored and name not in already | over]
    return Forecast(
        changed=tuple(free[: max(room, 0)]),
        unchanged=tuple(name for name in ids if name in stored and name in already),
        refused=dict.fromkeys(
            (name for name in ids if name in stored and name in over - already),
            ErrorCode.INVALID_RELATION_TARGET,
        )
        | dict.fromkeys(free[max(room, 0) :], ErrorCode.TOO_MANY_RELATIONS)
        | dict.fromkeys((name for name in ids if name not in stored), ErrorCode.MEMORY_NOT_FOUND),
    )


def _so_already(change: BulkChange, table: pa.Table) -> pa.Array:
    """A mask of the rows that would not change."""
    return _SO.get(change.action, lambda _, rows: _none(rows))(change, table)


def _too_many_tags(change: BulkChange, table: pa.Table) -> pa.Array:
    """A mask of the rows that would get more tags than a memory may have."""
    if change.action is not Action.ADD_TAGS:
        return _none(table)
    missing = _missing_tags(change, table)
    full = pc.greater(pc.add(pc.list_value_length(table["tags"].combine_chunks()), missing), TAGS_MAX)
    return pc.and_(full, pc.greater(missing, 0))


def _missing_tags(change: BulkChange, table: pa.Table) -> pa.Array:
    """How many of the change's tags each row lacks."""
    missing = pa.array([0] * table.num_rows, pa.int32())
    for tag in change.tags:
        lacks = pc.invert(holding(table, "tags", spellings(table, [tag])))
        missing = pc.add(missing, lacks.cast(pa.int32()))
    return missing


def _has_none(change: BulkChange, table: pa.Table) -> pa.Array:
    return pc.invert(holding(table, "tags", spellings(table, change.tags)))


def _has_only_target(change: BulkChange, table: pa.Table) -> pa.Array:
    others = [tag for tag in spellings(table, change.tags) if tag != change.target]
    return pc.invert(holding(table, "tags", others))


def spellings(table: pa.Table, tags: Iterable[str]) -> list[str]:
    """The tags in use that differ from one of these in case alone, these included."""
    folded = {tag.casefold() for tag in tags}
    used = pc.unique(pc.list_flatten(table["tags"].combine_chunks())).to_pylist()
    return [tag for tag in used if tag.casefold() in folded]


def _is(column: str, value: Callable[[BulkChange], object]) -> Callable[[BulkChange, pa.Table], pa.Array]:
    return lambda change, table: pc.equal(table[column].combine_chunks(), value(change))


_SO: Mapping[Action, Callable[[BulkChange, pa.Table], pa.Array]] = {
    Action.ADD_TAGS: lambda change, table: pc.equal(_missing_tags(change, table), 0),
    Action.REMOVE_TAGS: _has_none,
    Action.MERGE_TAGS: _has_only_target,
    Action.SET_CATEGORY: _is("category", lambda change: str(change.category)),
    Action.SET_TYPE: _is("type", lambda change: change.type),
    Action.SET_TIER: _is("tier", lambda change: int(change.tier or 0)),
    Action.SET_QUALITY: _is("quality", lambda change: change.quality),
}


def _none(table: pa.Table) -> pa.Array:
    return pa.array([False] * table.num_rows, pa.bool_())


def _named(table: pa.Table, mask: pa.Array) -> tuple[str, ...]:
    return tuple(table.filter(mask)["id"].to_pylist())
