"""One page of the memories that a filter lets through, and why there are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memories.console.filters import How, MemoryFilter
from memories.console.parts import Action, Notice
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Catalogue, MemoryRepository, StoredMemory, Usage
from memories.retrieval.request import TOP_K_MAX, SearchRequest
from memories.retrieval.search import search
from memories.screening import find_secrets

OFFERED = 100
"""Values offered while one types a tag or an entity, the most used first."""

_NO_SEARCH = frozenset({ErrorCode.EMBEDDING_FAILED, ErrorCode.EMBEDDING_MODEL_MISMATCH})


@dataclass(frozen=True, slots=True)
class Row:
    memory: StoredMemory
    usage: Usage | None
    conflicts: int
    secret: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """``total`` memories match, of ``stored`` there are; ``rows`` are those from ``offset`` on."""

    stored: int
    total: int
    offset: int
    size: int
    rows: tuple[Row, ...]
    problem: MemsuiteError | None = None


def listing(repository: MemoryRepository, wanted: MemoryFilter, offset: int, size: int) -> Listing:
    """The page of ``size`` rows that holds row ``offset``, or the last one where the list has become shorter.

    A search that the embedding model keeps from being made has no rows and says so as ``problem``.
    Raises MemsuiteError: what reading may raise.
    """
    try:
        ids, problem = wanted.ids(repository), None
    except MemsuiteError as error:
        if not wanted.q or error.code not in _NO_SEARCH:
            raise
        ids, problem = [], error
    last = max(len(ids) - 1, 0) // size * size
    first = min(offset, last)
    rows = _rows(repository, ids[first : first + size])
    return Listing(repository.count(), len(ids), first, size, rows, problem)


def _rows(repository: MemoryRepository, ids: Sequence[str]) -> tuple[Row, ...]:
    memories, conflicts = repository.read(
        lambda snapshot: (snapshot.memories(ids), snapshot.open_conflict_counts(ids))
    )
    usage = repository.usage.of(ids)
    # One that went to the trash since the ids were read is left out.
    shown = (memories[name] for name in ids if name in memories)
    return tuple(
        Row(memory, usage.get(memory.id), conflicts.get(memory.id, 0), bool(find_secrets(memory.content)))
        for memory in shown
    )


def search_notice(
    repository: MemoryRepository, wanted: MemoryFilter, found: Listing, address: Callable[[MemoryFilter], str]
) -> Notice | None:
    """What to tell of a search: how it was made, or why it shows nothing; None for a list without one.
    ``address`` gives the list's address for another filter."""
    if not wanted.q:
        return None
    plain = replace(wanted, how=How.CONTAINS, sort=None)
    meant = replace(wanted, how=How.WORDS, sort=None)
    as_plain = Action("Search as plain text instead", address(plain))
    if found.problem is not None:
        error = found.problem
        return Notice("The search could not be made", error.message, "bad", str(error.code), "", (as_plain,))
    if wanted.how is How.CONTAINS:
        as_agent = Action("Search as the agent does", address(meant))
        return None if not found.total else Notice(_plainly(found.total), "", "", "", "search", (as_agent,))
    if found.total:
        return Notice(_by_meaning(found.total), "", "", "", "search", (as_plain,))
    title, text, code = _why_nothing(repository, wanted)
    return Notice(title, text, "warn" if code else "", code, "", (as_plain,))


def _plainly(total: int) -> str:
    return f"{total:,} with exactly this text" if total != 1 else "1 with exactly this text"


def _by_meaning(total: int) -> str:
    best = f"The best {TOP_K_MAX}" if total == TOP_K_MAX else f"{total:,}"
    return f"{best} found as the agent would find {'it' if total == 1 else 'them'}"


def _why_nothing(repository: MemoryRepository, wanted: MemoryFilter) -> tuple[str, str, str]:
    """The agent's own answer, asked for without the filters that a search by the agent does not have."""
    answer = search(repository, SearchRequest(wanted.q, top_k=TOP_K_MAX, relation_depth=0, neighbor_budget=0))
    if answer.results:
        found = len(answer.results)
        said = f"{found:,} found" if found < TOP_K_MAX else f"The best {TOP_K_MAX} found"
        return "Nothing here passes the other filters", f"{said} without them.", ""
    message = answer.message or (answer.abstention.message if answer.abstention else "")
    if answer.degraded_reason:
        return "The search could not be made", message, answer.degraded_reason
    return "The agent would find nothing for this", message, ""


@dataclass(frozen=True, slots=True)
class Choices:
    """The values there are to filter by, the most used first."""

    types: tuple[str, ...]
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[str, ...]

    @classmethod
    def of(cls, catalogue: Catalogue) -> Choices:
        used = {name: tuple(catalogue.counts(name)) for name in ("type", "source", "tags", "entities")}
        return cls(used["type"], used["source"], used["tags"][:OFFERED], used["entities"][:OFFERED])
