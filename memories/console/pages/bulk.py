"""The one flow for every change of many: select, preview, confirm, undo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.http import urlencode

from memories.console import bulk_actions, bulk_flow, undoing
from memories.console.access import accepts, may, page_of
from memories.console.bulk_actions import KINDS, Asked, Kind
from memories.console.confirmation import preview
from memories.console.errors import Problem, problem_of
from memories.console.job_models import Job
from memories.console.relation_targets import targets
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.selection import By, Drift, changed_since_shown, drift_of, select, selection_of
from memories.console.selection_models import Selection
from memories.contract import Category, ErrorCode, MemsuiteError, Tier
from memories.repository import Action

NOTE_MAX = 500
DRIFT_NAMED = 5
MOST_PASSED_OVER = 1_000
"""Selected memories that are not offered as what supersedes them; beyond these the change refuses it."""

_PLACES = {"": By.FILTER, "memories": By.FILTER, "trash": By.TRASH, "tags": By.TAGS, "stale": By.STALE}
"""Where a form stands (its field ``of``), and what selects everything there."""


@accepts("POST")
@may("view_memory")
@may("change_memory", on="POST")
def bulk(request: HttpRequest) -> HttpResponse:
    """Keep what a list's form selects, then show what the change would do.

    Fields: ``ids`` (ticked rows), or ``only`` (one row, whatever is ticked), or ``everything=1`` with
    ``filter`` (the list's query), or ``tag`` with ``of=tags``; ``of`` says which list; ``action``,
    ``value``, ``target`` the change, which may also be chosen on the next page; ``again`` a selection to
    make anew; ``next`` the page to return to.
    """
    person, asked = _person(request), _asked(request)
    made = _selected(request, person, asked)
    if not made.count:
        toast(
            request, "No memory carries this tag" if made.kind == By.TAGS else "Nothing is selected", bad=True
        )
        return HttpResponseRedirect(made.back)
    if asked.action:
        _require(person, made, asked)
    return HttpResponseRedirect(asked.address(reverse("console:bulk_preview", args=[made.pk])))


@accepts("GET", "POST")
@may("change_memory")
def bulk_preview(request: HttpRequest, selection_key: str) -> HttpResponse:
    """What a change would do; confirmed, it is made: at once or as a job."""
    person = _person(request)
    selection = selection_of(person, selection_key)
    asked = Asked.of(request.POST if request.method == "POST" else request.GET)
    if not asked.is_complete:
        return _chooser(request, person, selection, asked)
    _require(person, selection, asked)
    try:
        asked.change()
    except MemsuiteError as error:
        return _chooser(request, person, selection, asked, problem_of(error))
    if request.method == "POST" and "confirm" in request.POST:
        return _confirmed(request, person, selection, asked)
    return _previewed(request, selection, asked)


def _previewed(request: HttpRequest, selection: Selection, asked: Asked) -> HttpResponse:
    shown = preview(repository(), selection, asked, request.path)
    context = {"title": "Confirm a change", "selection": selection, "shown": shown, "again": asked.pairs()}
    return render_page(request, "console/bulk/preview.html", context)


def _confirmed(request: HttpRequest, person: User, selection: Selection, asked: Asked) -> HttpResponse:
    if drift := drift_of(repository(), selection):
        return _refused(request, selection, asked, drift)
    note = " ".join(request.POST.get("note", "").split())[:NOTE_MAX]
    outcome = bulk_flow.apply(request, person, selection, asked, note)
    if isinstance(outcome, Job):
        return redirect("console:job", outcome.pk)
    toast(request, outcome.says, undo=outcome.operation_id, bad=outcome.nothing)
    return HttpResponseRedirect(selection.back)


def _refused(request: HttpRequest, selection: Selection, asked: Asked, drift: Drift) -> HttpResponse:
    """The set differs from what was shown: how, and the way to a new preview."""
    problem = problem_of(changed_since_shown(drift))
    context = {
        "title": "The selection has changed",
        "selection": selection,
        "problem": problem,
        "joined": _named(drift.joined),
        "left": _named(drift.left),
        "again": asked.pairs(),
    }
    return render_page(request, "console/bulk/changed.html", context, status=problem.status)


def _chooser(
    request: HttpRequest, person: User, selection: Selection, asked: Asked, problem: Problem | None = None
) -> HttpResponse:
    """What to do with the selection, each action with its value; the one asked for first."""
    offered = sorted(_offered(person, selection), key=lambda kind: kind.action != asked.action)
    tags = QueryDict(selection.query).getlist("tag") if selection.kind == By.TAGS else []
    what = bulk_actions.memories(selection.count)
    context = {
        # Tags are text of memories, which stays out of the browser's history.
        "title": "Change tags" if tags else f"Change {what}",
        "heading": f"Change {bulk_actions.tags_named(tuple(tags))}" if tags else f"Change {what}",
        "selection": selection,
        "kinds": offered,
        "asked": asked,
        "problem": problem,
        "tags": tags,
        "known_tags": list(repository().catalogue().counts("tags"))[:500],
        "categories": list(Category),
        "tiers": list(Tier),
        "sought": (sought := request.GET.get("find", "").strip()),
        "found": targets(repository(), sought, without=set(selection.memory_ids[:MOST_PASSED_OVER])),
    }
    return render_page(
        request, "console/bulk/choose.html", context, status=problem.status if problem else 200
    )


def _asked(request: HttpRequest) -> Asked:
    """The change a list's form names. Ticked rows of the tags page are its tags."""
    asked = Asked.of(request.POST)
    if request.POST.get("of") == "tags":
        return replace(asked, tags=tuple(dict.fromkeys((*asked.tags, *request.POST.getlist("id")))))
    return asked


def _selected(request: HttpRequest, person: User, asked: Asked) -> Selection:
    post, back = request.POST, page_of(request)
    if post.get("again"):
        old = selection_of(person, post["again"])
        by, query, chosen = By(old.kind), old.query, old.memory_ids
        return select(person, repository(), by, query=query, chosen=chosen, back=old.back)
    everywhere = _PLACES.get(post.get("of", ""))
    if everywhere is None:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, "of", "There is no such list.", expected=list(_PLACES)[1:]
        )
    if everywhere is By.TAGS:
        query = urlencode([("tag", tag) for tag in asked.tags])
        return select(person, repository(), By.TAGS, query=query, back=back)
    if post.get("everything") == "1":
        if "filter" not in post:
            raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "filter", "The filter of the list is missing.")
        return select(person, repository(), everywhere, query=post["filter"], back=back)
    by = By.HAND_TRASH if everywhere is By.TRASH else By.HAND
    chosen = [post["only"]] if post.get("only") else [*post.getlist("ids"), *post.getlist("id")]
    return select(person, repository(), by, chosen=chosen, back=back)


def _require(person: User, selection: Selection, asked: Asked) -> None:
    """Refuse what this selection does not take, or this person may not do."""
    kind = asked.kind
    if kind is None or kind.action not in _taken(By(selection.kind)):
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "action",
            "This cannot be done with what is selected.",
            received=asked.action,
            expected=[str(action) for action in _taken(By(selection.kind))],
        )
    if not bulk_actions.may_apply(person, kind) or (
        selection.kind == By.TAGS and not person.has_perm("memories.merge_tags")
    ):
        raise PermissionDenied(kind.permission)


def _taken(by: By) -> list[Action]:
    """The actions that make sense for what is selected."""
    if by.of_trash:
        return [Action.RESTORE]
    if by is By.TAGS:
        return [Action.MERGE_TAGS, Action.REMOVE_TAGS]
    return [action for action in KINDS if action not in (Action.RESTORE, Action.MERGE_TAGS)]


def _offered(person: User, selection: Selection) -> Iterable[Kind]:
    kinds = (KINDS[action] for action in _taken(By(selection.kind)))
    return (kind for kind in kinds if bulk_actions.may_apply(person, kind))


def _named(ids: tuple[str, ...]) -> dict[str, object]:
    names = undoing.subjects_of(repository(), ids, DRIFT_NAMED)
    return {"count": len(ids), "names": names, "more": len(ids) - len(names)}


def _person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


urlpatterns = [
    path("bulk/", bulk, name="bulk"),
    path("bulk/<str:selection_key>/", bulk_preview, name="bulk_preview"),
]
