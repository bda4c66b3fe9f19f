"""Duplicates: memories that say the same, fact by fact, merged into one or told apart for good."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from memories.analysis.duplicates import (
    DEFAULT_THRESHOLD,
    LEAST_THRESHOLD,
    MOST_IN_GROUP,
    MOST_THRESHOLD,
    Group,
)
from memories.console.access import accepts, may, page_of
from memories.console.audit import recorded
from memories.console.bulk_actions import memories as counted
from memories.console.duplicate_groups import groups, set_apart, take_back, threshold_of
from memories.console.errors import Problem, problem_of
from memories.console.merge_form import MergeForm, as_sent, merge_form, merged
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Empty, Notice, Pager
from memories.console.rendering import render_page, toast
from memories.console.repository_access import author, repository
from memories.console.slowly import GLANCE
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

PAGE, FORM = "console/duplicates/duplicates.html", "console/duplicates/_form.html"
NOTE_MAX = 500


def _count(store: MemoryRepository) -> int:
    return len(groups(store, patience=GLANCE))


register(Page(Section.DECIDE, 30, "Duplicates", "console:duplicates", "copies", key="u", count=_count))


@accepts("GET")
@may("view_memory")
def duplicates(request: HttpRequest) -> HttpResponse:
    """The groups at a threshold, and one of them to decide about (``group``, else the first)."""
    found, threshold = _found(request)
    group = _chosen(found, request.GET.get("group", ""))
    return _page(request, found, threshold, group, merge_form(repository(), group) if group else None)


@accepts("POST")
@may("view_memory")
@may("change_memory")
@may("delete_memory")
def duplicates_merge(request: HttpRequest) -> HttpResponse:
    """Merge a group as its form says; with ``preview`` only show what that would make."""
    found, threshold = _found(request)
    group = _group_sent(request, found)
    form = as_sent(merge_form(repository(), group), request.POST)
    if "preview" in request.POST:
        return _page(request, found, threshold, group, form)
    following = _after(found, group)
    try:
        result_id = _merge(request, form)
    except MemsuiteError as error:
        return _page(request, found, threshold, group, form, problem_of(error))
    name = _name(form)
    toast(request, f"Merged {counted(len(form.chosen))} into {name}", undo=result_id)
    return HttpResponseRedirect(_back(request, threshold, following))


@accepts("POST")
@may("view_memory")
@may("change_memory")
def duplicates_apart(request: HttpRequest) -> HttpResponse:
    """Remember that no two memories of a group are duplicates."""
    found, threshold = _found(request)
    group = _group_sent(request, found)
    following = _after(found, group)
    names = {"memories": len(group.ids)}
    with recorded(request, "not_duplicates", ids=group.ids, parameters=names) as event:
        keys = set_apart(repository(), group.ids, author(request.user).actor)
        event.complete(unchanged=len(group.ids), operation_id="")
    undo_url = reverse("console:duplicates_again") + "?" + "&".join(f"key={key}" for key in keys)
    says = f"Not duplicates: {counted(len(group.ids))}, as long as they say what they say now"
    toast(request, says, undo_url=undo_url)
    return HttpResponseRedirect(_back(request, threshold, following))


@accepts("POST")
@may("view_memory")
@may("change_memory")
def duplicates_again(request: HttpRequest) -> HttpResponse:
    """Take back that some memories are no duplicates; ``key`` names what was remembered."""
    keys = [int(key) for key in request.GET.getlist("key") if key.isdecimal() and len(key) < 18]
    with recorded(request, "duplicates_again", parameters={"decisions": len(keys)}) as event:
        taken = take_back(keys[:1_000])
        event.complete(unchanged=taken, operation_id="")
    toast(request, "Undone, they may be duplicates again" if taken else "Nothing to undo", bad=not taken)
    return HttpResponseRedirect(page_of(request))


def _found(request: HttpRequest) -> tuple[list[Group], float]:
    given = request.POST if request.method == "POST" else request.GET
    threshold = threshold_of(given.get("threshold", ""))
    return groups(repository(), threshold), threshold


def _group_sent(request: HttpRequest, found: list[Group]) -> Group:
    """The memories that a form is about, whatever the groups are by now."""
    ids = tuple(sorted(dict.fromkeys(request.POST.getlist("id"))))
    stored = repository().read(lambda snapshot: snapshot.memories(ids[: MOST_IN_GROUP + 1]))
    if not 2 <= len(ids) <= MOST_IN_GROUP or len(stored) < len(ids):
        raise MemsuiteError(
            ErrorCode.SELECTION_CHANGED,
            "id",
            "The group is no longer what was shown: a memory of it is gone. Open the page again.",
            received=len(ids),
        )
    pairs = next((group.pairs for group in found if group.ids == ids), ())
    return Group(ids, pairs, 0.0)


def _merge(request: HttpRequest, form: MergeForm) -> str:
    """The id of the operation. What a person saw is what is merged, or nothing."""
    seen = {
        name: int(number)
        for name in form.chosen
        if (number := request.POST.get(f"revision_{name}", "")).isdecimal() and len(number) < 10
    }
    note = " ".join(request.POST.get("note", "").split())[:NOTE_MAX]
    parameters = {"keeper": form.keeper, "facts": len(form.kept_facts)}
    with recorded(request, "merge", ids=form.chosen, parameters=parameters, note=note) as event:
        payload: dict[str, object] = {"facts": list(form.kept_facts)}
        result = repository().merge(
            form.keeper, form.others, payload, event.author, note=note, revisions=seen
        )
        event.complete(changed=len(form.chosen), operation_id=result.operation_id)
    return result.operation_id


def _chosen(found: list[Group], key: str) -> Group | None:
    for group in found:
        if key and key in group.ids:
            return group
    return found[0] if found else None


def _after(found: list[Group], group: Group) -> str:
    """The key of the group that comes after one, "" for none."""
    at = next((at for at, other in enumerate(found) if set(other.ids) & set(group.ids)), None)
    if at is None:
        return ""
    others = [*found[at + 1 :], *found[:at]]
    return others[0].key if others else ""


def _back(request: HttpRequest, threshold: float, key: str) -> str:
    """Where to go after a decision: the page that sent one here, else the next group."""
    if request.POST.get("next"):
        return page_of(request)
    shown = f"{threshold:.2f}" if threshold != DEFAULT_THRESHOLD else None
    return page_url("duplicates", threshold=shown, group=key)


def _page(
    request: HttpRequest,
    found: list[Group],
    threshold: float,
    group: Group | None,
    form: MergeForm | None,
    problem: Problem | None = None,
) -> HttpResponse:
    offset, size = window(request.GET, len(found))
    keys = [other.key for other in found]
    at = keys.index(group.key) if group is not None and group.key in keys else None
    if "offset" not in request.GET and at is not None:
        offset = at // size * size
    context: dict[str, Any] = {
        "title": "Duplicates",
        "wide": True,
        "threshold": threshold,
        "least": LEAST_THRESHOLD,
        "most": MOST_THRESHOLD,
        "groups": _listed(found[offset : offset + size], threshold, group),
        "total": len(found),
        "memories": sum(len(other.ids) for other in found),
        "pager": Pager.of(request, len(found), offset, size) if len(found) > size else None,
        "group": group,
        "form": form,
        "merged": merged(repository(), form) if form else None,
        "place": at + 1 if at is not None else None,
        "previous_url": _group_url(found[at - 1], threshold) if at else "",
        "next_url": _group_url(found[at + 1], threshold) if at is not None and at + 1 < len(found) else "",
        "notice": _notice(problem),
        "next": request.POST.get("next", request.GET.get("next", "")),
        "empty": _empty(threshold),
    }
    status = problem.status if problem else 200
    return render_page(request, PAGE, context, fragment=FORM, status=status)


def _listed(shown: list[Group], threshold: float, current: Group | None) -> list[dict[str, Any]]:
    ids = [other.key for other in shown]
    first = repository().read(lambda snapshot: snapshot.memories(ids))
    return [
        {
            "memory": first.get(other.key),
            "url": _group_url(other, threshold),
            "size": len(other.ids),
            "value": other.value,
            "current": current is not None and other.key == current.key,
        }
        for other in shown
    ]


def _group_url(group: Group, threshold: float) -> str:
    shown = f"{threshold:.2f}" if threshold != DEFAULT_THRESHOLD else None
    return page_url("duplicates", threshold=shown, group=group.key)


def _notice(problem: Problem | None) -> Notice | None:
    if problem is None:
        return None
    return Notice("Nothing was merged", problem.says, kind="bad", code=problem.code)


def _name(form: MergeForm) -> str:
    keeper = next(member.memory for member in form.members if member.memory.id == form.keeper)
    return f"{keeper.domain}:{keeper.subject}"


def _empty(threshold: float) -> Empty:
    text = f"At {threshold:.2f} no two memories say the same."
    if threshold > LEAST_THRESHOLD:
        text += " A lower threshold finds looser likeness."
    return Empty("copies", "No duplicates", text)


urlpatterns = [
    path("duplicates/", duplicates, name="duplicates"),
    path("duplicates/merge/", duplicates_merge, name="duplicates_merge"),
    path("duplicates/apart/", duplicates_apart, name="duplicates_apart"),
    path("duplicates/again/", duplicates_again, name="duplicates_again"),
]
