"""One function per tool: checked arguments in, the answer's dict out.

Each runs on the host's turn thread inside one use of the shared store, and raises `MemsuiteError`
for everything a model may be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .session import Session

if TYPE_CHECKING:
    from memories.repository import Author, MemoryRepository

Arguments = Mapping[str, Any]
Answer = Mapping[str, Any]

WRITING_TOOLS = frozenset({"lancedb_add", "lancedb_update", "lancedb_delete"})
_UNCHANGED = frozenset({"idempotent", "update_suggested"})


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: where it goes to, and who makes it."""

    repository: MemoryRepository
    session: Session
    arguments: Arguments


def run(tool: str, call: Call) -> Answer:
    """The answer of one tool; `tool` must be one of the eight."""
    return _HANDLERS[tool](call)


def changed_something(answer: Answer) -> bool:
    """Whether a write's answer reports a change, so that it counts towards the session's limit."""
    return bool(answer.get("success")) and answer.get("status") not in _UNCHANGED


def _search(call: Call) -> Answer:
    from memories.retrieval import SearchRequest
    from memories.retrieval.scopes import Scope, search_in

    arguments = dict(call.arguments)
    scope = Scope(arguments.pop("scope"))
    request = SearchRequest.from_arguments(arguments)
    answer, recalled = search_in(call.repository, request, scope, call.session.owner)
    if recalled:
        call.repository.usage.record_recall(recalled)
    return answer


def _add(call: Call) -> Answer:
    return call.repository.add(dict(call.arguments), _author(call.session)).as_answer()


def _update(call: Call) -> Answer:
    payload = dict(call.arguments)
    memory_id = payload.pop("memory_id")
    return call.repository.update(memory_id, payload, _author(call.session)).as_answer()


def _delete(call: Call) -> Answer:
    return call.repository.delete(call.arguments["memory_id"], _author(call.session)).as_answer()


def _get(call: Call) -> Answer:
    memory_id = call.arguments["memory_id"]
    answer = call.repository.get(memory_id).as_answer()
    call.repository.usage.record_recall([memory_id])
    return answer


def _list(call: Call) -> Answer:
    return call.repository.list_memories(**call.arguments).as_answer()


def _graph(call: Call) -> Answer:
    arguments = dict(call.arguments)
    memory_id = arguments.pop("memory_id", None)
    if memory_id is None:
        return call.repository.graph_summary().as_answer()
    return call.repository.graph(memory_id, **arguments).as_answer()


def _conflicts(call: Call) -> Answer:
    from memories.repository.results import conflict_answer

    rows = [conflict_answer(conflict) for conflict in call.repository.conflicts(**call.arguments)]
    ids = {row[side] for row in rows for side in ("memory_a_id", "memory_b_id")}
    memories = call.repository.read(lambda snapshot: snapshot.memories(ids))
    for row in rows:
        for side in ("a", "b"):
            memory = memories.get(row[f"memory_{side}_id"])
            row[f"content_{side}"] = memory.content if memory else ""  # deleted since
    return {"success": True, "count": len(rows), "conflicts": rows}


_HANDLERS: dict[str, Callable[[Call], Answer]] = {
    "lancedb_search": _search,
    "lancedb_add": _add,
    "lancedb_update": _update,
    "lancedb_delete": _delete,
    "lancedb_get": _get,
    "lancedb_list": _list,
    "lancedb_graph": _graph,
    "lancedb_conflicts": _conflicts,
}


def _author(session: Session) -> Author:
    from memories.repository import Author

    return Author(
        actor="agent",
        session_id=session.session_id,
        user_id=session.user_id,
        platform=session.platform,
        source="agent",
    )
