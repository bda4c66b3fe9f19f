"""Memories that say the same word for word, merged; what says it in other words is left for a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.analysis.duplicates import duplicates
from memories.contract import MemsuiteError
from memories.repository import Author, MemoryRepository, StoredMemory
from memories.repository.usage import Usage
from memories.text.folding import fold

_CLOSING = re.compile(r"[.!?;…]+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class ExactGroup:
    """``others`` would go into the ``keeper``."""

    keeper: StoredMemory
    others: tuple[StoredMemory, ...]

    def as_answer(self) -> dict[str, Any]:
        return {
            "keeper": self.keeper.id,
            "others": [memory.id for memory in self.others],
            "content": self.keeper.content,
        }


@dataclass(frozen=True, slots=True)
class MergePlan:
    """``left`` counts groups at the threshold whose members say it in different words."""

    exact: tuple[ExactGroup, ...]
    left: int


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """One group: the operation that merged it, or why it was left alone."""

    group: ExactGroup
    operation_id: str = ""
    error: MemsuiteError | None = None


def plan_merges(repository: MemoryRepository, threshold: float) -> MergePlan:
    """The groups of exact duplicates, and how many others are alike by ``threshold`` (0 to 1). Raises what
    the neighbour graph raises."""
    alike = duplicates(repository).groups(threshold)
    names = [name for group in alike for name in group.ids]
    stored = repository.read(lambda snapshot: snapshot.memories(names))
    usage = repository.usage.of(names)
    exact: list[ExactGroup] = []
    left = 0
    for group in alike:
        parts = _by_wording([stored[name] for name in group.ids if name in stored])
        exact += [_group(part, usage) for part in parts if len(part) > 1]
        left += len(parts) > 1
    return MergePlan(tuple(sorted(exact, key=lambda group: group.keeper.id)), left)


def merge(repository: MemoryRepository, groups: Sequence[ExactGroup], author: Author) -> list[MergeOutcome]:
    """Merge each group in an operation of its own: tags united, edges re-pointed. One that has changed
    meanwhile is left alone."""
    return [_merged(repository, group, author) for group in groups]


def _merged(repository: MemoryRepository, group: ExactGroup, author: Author) -> MergeOutcome:
    others = [memory.id for memory in group.others]
    seen = {memory.id: memory.revision for memory in (group.keeper, *group.others)}
    try:
        result = repository.merge(
            group.keeper.id, others, {}, author, note="exact duplicates", revisions=seen
        )
    except MemsuiteError as error:
        return MergeOutcome(group, error=error)
    return MergeOutcome(group, result.operation_id)


def _by_wording(memories: Iterable[StoredMemory]) -> list[list[StoredMemory]]:
    found: dict[tuple[str, str, int], list[StoredMemory]] = {}
    for memory in memories:
        found.setdefault((_wording(memory), memory.category, memory.tier), []).append(memory)
    return list(found.values())


def _wording(memory: StoredMemory) -> str:
    """What a memory says, without case, accents, closing marks and how its facts are cut. Claims count as
    they are compared: case matters in a path."""
    said = " ".join(_CLOSING.sub("", fold(fact)) for fact in memory.facts)
    claims = sorted(f"{claim.key}={claim.normal}" for claim in memory.claims)
    return "\0".join((memory.subject_key, " ".join(said.split()), *claims))


def _group(memories: Sequence[StoredMemory], usage: Mapping[str, Usage]) -> ExactGroup:
    keeper, *others = sorted(memories, key=lambda memory: _worth(memory, usage), reverse=True)
    return ExactGroup(keeper, tuple(others))


def _worth(memory: StoredMemory, usage: Mapping[str, Usage]) -> tuple[float, int, int, float, str]:
    """Higher is kept: by quality, then recall count, then length, then age."""
    recalls = usage.get(memory.id, Usage()).recalls
    return memory.quality, recalls, len(memory.content), -memory.created_at.timestamp(), memory.id
