"""Conflicts: two memories of one subject that state different values; a person decides, with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from memories.console import conflict_desk
from memories.console.access import accepts, may, page_of
from memories.console.conflict_desk import conflict_with, decisions_about
from memories.console.conflict_view import STATES, ConflictView, conflict_view, counted, listed
from memories.console.errors import problem_of
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Action, Empty, Notice, Pager
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.review_inbox import named
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Conflict, Decision, MemoryRepository, schema

NOTE_MAX = 1_000


def open_count(store: MemoryRepository) -> int:
    return store.read(lambda snapshot: snapshot.row_count(schema.CONFLICTS, "status = 'open'"))


register(
    Page(
        Section.DECIDE, 20, "Conflicts", "console:conflicts", "conflict", key="c", count=open_count, due=True
    )
)


@accepts("GET")
@may("view_memory")
def conflicts(request: HttpRequest) -> HttpResponse:
    """The conflicts of one state; ``memory`` narrows them to those of one memory."""
    state = request.GET.get("state", "open")
    state = state if state in STATES else "open"
    memory_id = request.GET.get("memory", "")
    found = listed(repository(), state, memory_id)
    offset, size = window(request.GET, len(found))
    context = {
        "title": "Conflicts",
        "wide": True,
        "tabs": _tabs(state, memory_id),
        "state": state,
        "total": len(found),
        "rows": _rows(found[offset : offset + size]),
        "pager": Pager.of(request, len(found), offset, size),
        "memory": _memory_named(memory_id),
        "empty": _empty(state, memory_id),
    }
    return render_page(request, "console/conflicts/list.html", context)


@accepts("GET", "POST")
@may("view_memory")
@may("resolve_conflict", on="POST")
def conflict(request: HttpRequest, conflict_id: str) -> HttpResponse:
    """Both claims side by side; a decision resolves it, ``reopen`` takes one back."""
    found = conflict_with(repository(), conflict_id)
    if request.method == "POST":
        return _posted(request, found)
    return _shown(request, found)


def _posted(request: HttpRequest, found: Conflict) -> HttpResponse:
    post = request.POST
    note = " ".join(post.get("note", "").split())[:NOTE_MAX]
    following = _next_open(found)
    try:
        if post.get("reopen"):
            result = conflict_desk.reopen(request, repository(), found.id, note)
        else:
            decision = _decision(found, post, note)
            result = conflict_desk.resolve(request, repository(), found.id, decision)
    except MemsuiteError as error:
        return _refused(request, found, error)
    toast(request, _told(result.conflict), undo=result.operation_id)
    if result.conflict.is_open:
        return HttpResponseRedirect(reverse("console:conflict", args=[found.id]))
    back = page_of(request) if post.get("next") else page_url("conflict", following)
    return HttpResponseRedirect(back or page_url("conflicts"))


def _decision(found: Conflict, post: Mapping[str, str], note: str) -> Decision:
    """What the form says. Facts are typed one a line; a side whose lines are as they were is not edited."""
    resolution = post.get("resolution", "")
    edits = _edits(found, post) if resolution == "edited" else None
    sides = {"a": found.memory_a_id, "b": found.memory_b_id}
    seen = {name: post.get(f"revision_{side}", "") for side, name in sides.items()}
    return Decision.of(
        resolution,
        note,
        loser=post.get("loser", "corrected"),
        edits=edits,
        revisions={name: int(number) for name, number in seen.items() if number.isdecimal()},
    )


def _edits(found: Conflict, post: Mapping[str, str]) -> dict[str, object]:
    stored = repository().read(lambda snapshot: snapshot.memories((found.memory_a_id, found.memory_b_id)))
    edits: dict[str, object] = {}
    for side, name in (("a", found.memory_a_id), ("b", found.memory_b_id)):
        typed = [line.strip() for line in post.get(f"facts_{side}", "").splitlines() if line.strip()]
        if name in stored and typed and typed != list(stored[name].facts):
            edits[side] = {"facts": typed}
    if not edits:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "edits", "Nothing was edited. Change a fact of A or of B."
        )
    return edits


def _refused(request: HttpRequest, found: Conflict, error: MemsuiteError) -> HttpResponse:
    """The page again with what stood in the way, and what was typed."""
    problem = problem_of(error)
    actions: tuple[Action, ...] = ()
    if error.code in (ErrorCode.VERSION_CONFLICT, ErrorCode.CONFLICT_NOT_OPEN):
        actions = (Action("Show it as it is now", url=reverse("console:conflict", args=[found.id])),)
    title = "Nothing was decided"
    notice = Notice(title, problem.says, kind="bad", code=problem.code, actions=actions)
    return _shown(request, found, notice, problem.status)


def _shown(
    request: HttpRequest, found: Conflict, notice: Notice | None = None, status: int = 200
) -> HttpResponse:
    view = conflict_view(repository(), found)
    order = listed(repository(), view.state)
    context: dict[str, Any] = {
        "title": "Conflict",
        "view": view,
        "notice": notice,
        "tabs": _tabs(view.state, ""),
        "typed": _typed(request, view),
        "decisions": decisions_about(found.id),
        "next": request.POST.get("next", request.GET.get("next", "")),
        **_place(found, order),
    }
    return render_page(request, "console/conflicts/conflict.html", context, status=status)


def _typed(request: HttpRequest, view: ConflictView) -> dict[str, str]:
    """What the form holds: what was sent, else what it begins with."""
    given = request.POST
    facts = {side.letter.lower(): side.memory.facts if side.memory else () for side in view.sides}
    return {
        "resolution": given.get("resolution", "keep_a"),
        "loser": given.get("loser", "corrected"),
        "note": given.get("note", ""),
        "facts_a": given.get("facts_a", "\n".join(facts["a"])),
        "facts_b": given.get("facts_b", "\n".join(facts["b"])),
    }


def _place(found: Conflict, order: list[Conflict]) -> dict[str, Any]:
    """Where the conflict stands among those of its state, and its neighbours' addresses."""
    ids = [conflict.id for conflict in order]
    at = ids.index(found.id) if found.id in ids else 0
    return {
        "place": at + 1,
        "total": len(ids),
        "previous_url": page_url("conflict", ids[at - 1]) if at > 0 else "",
        "next_url": page_url("conflict", ids[at + 1]) if at + 1 < len(ids) else "",
    }


def _next_open(found: Conflict) -> str:
    """The open conflict that comes after this one, or the one before it; this one where it is the last."""
    ids = [conflict.id for conflict in listed(repository(), "open")]
    if found.id not in ids or len(ids) == 1:
        return found.id
    at = ids.index(found.id)
    return ids[at + 1] if at + 1 < len(ids) else ids[at - 1]


def _told(conflict: Conflict) -> str:
    key = conflict.claim_key
    return {
        "keep_a": f"Kept A for {key}",
        "keep_b": f"Kept B for {key}",
        "both_stand": f"Both stand for {key}",
        "edited": f"Edited, {key} agrees",
    }.get(conflict.resolution, f"Reopened the conflict about {key}")


def _rows(shown: list[Conflict]) -> list[dict[str, Any]]:
    names = named(repository(), (conflict.memory_a_id for conflict in shown))
    return [
        {
            "conflict": conflict,
            "name": names[conflict.memory_a_id].name if conflict.memory_a_id in names else conflict.subject,
            "url": page_url("conflict", conflict.id),
        }
        for conflict in shown
    ]


def _tabs(state: str, memory_id: str) -> list[dict[str, Any]]:
    counts = counted(repository(), memory_id)
    return [
        {
            "title": name.capitalize(),
            "url": page_url("conflicts", state=name, memory=memory_id),
            "count": counts[name],
            "current": name == state,
        }
        for name in STATES
    ]


def _memory_named(memory_id: str) -> dict[str, str] | None:
    if not memory_id:
        return None
    found = repository().read(lambda snapshot: snapshot.memories([memory_id])).get(memory_id)
    name = f"{found.domain}:{found.subject}" if found else "a memory that is gone"
    return {"name": name, "url": page_url("memory", memory_id), "all_url": page_url("conflicts")}


def _empty(state: str, memory_id: str) -> Empty:
    if memory_id:
        every = (Action("All conflicts", url=page_url("conflicts")),)
        return Empty("conflict", f"No {state} conflict of this memory", "", every)
    title, text = _NOTHING[state]
    return Empty("conflict", title, text)


_NOTHING = {
    "open": ("No memories disagree", "A conflict is two memories of one subject with different values."),
    "resolved": ("Nothing decided yet", "Decisions stay here, with their reasons."),
    "archived": ("The archive is empty", "The oldest decisions go here once there are many."),
}

urlpatterns = [
    path("conflicts/", conflicts, name="conflicts"),
    path("conflicts/<str:conflict_id>/", conflict, name="conflict"),
]
