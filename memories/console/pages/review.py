"""Review: one inbox for all that needs a person's judgement, one item at a time or as a list."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from memories.console import bulk_flow, review_deeds
from memories.console.access import accepts, may
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Action, Empty, Pager
from memories.console.rendering import render_page, toast
from memories.console.repository_access import repository
from memories.console.review_cards import card_of
from memories.console.review_inbox import Inbox, Item, Kind, inbox
from memories.console.review_pass import ACCEPTED, DISMISSED, SKIPPED, Pass, Step, keep, named, pass_of
from memories.console.slowly import GLANCE
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

PAGE, QUEUE = "console/review/queue.html", "console/review/_queue.html"
FOLLOWING = 4


def _count(store: MemoryRepository) -> int:
    return inbox(store, patience=GLANCE).total


register(Page(Section.DECIDE, 10, "Review", "console:review", "review", key="r", count=_count, due=True))


@accepts("GET")
@may("view_memory")
def review(request: HttpRequest) -> HttpResponse:
    """The queue: ``kind`` narrows it, ``item`` is the one to show, ``view=list`` shows all of it."""
    waiting, kind = inbox(repository()), _kind(request.GET.get("kind", ""))
    queue = waiting.queue(kind)
    if request.GET.get("view") == "list":
        return _list(request, waiting, kind, queue)
    return _queue(request, waiting, kind, queue)


@accepts("POST")
@may("view_memory")
@may("change_memory")
def review_decide(request: HttpRequest) -> HttpResponse:
    """Decide about one item: ``do`` is accept, trash, dismiss or skip. What it was when it was shown
    (``state``) is what is decided about; the next item follows."""
    kind = _kind(request.POST.get("kind", ""))
    queue = inbox(repository()).queue(kind)
    key, do = request.POST.get("item", ""), request.POST.get("do", "")
    at = next((at for at, item in enumerate(queue) if item.key == key), None)
    if at is None or queue[at].state != request.POST.get("state", ""):
        toast(request, "It has changed meanwhile, so nothing was decided", bad=True)
        return _to(kind, key if at is not None else "")
    following = queue[at + 1].key if at + 1 < len(queue) else ""
    current = pass_of(request.session, str(kind or ""))
    keep(request.session, current.after(_done(request, queue[at], do)))
    return _to(kind, following)


@accepts("POST")
@may("view_memory")
@may("change_memory")
def review_undo(request: HttpRequest) -> HttpResponse:
    """Take back the last decision of this pass, and show its item again."""
    kind = _kind(request.POST.get("kind", ""))
    current = pass_of(request.session, str(kind or ""))
    if current.last is None:
        toast(request, "Nothing to undo in this pass", bad=True)
        return _to(kind, "")
    _undo(request, current.last)
    keep(request.session, current.before_last())
    return _to(kind, current.last.key)


def _done(request: HttpRequest, item: Item, do: str) -> Step:
    if do == "skip":
        return Step(SKIPPED, item.key, f"Skipped {named(item)}")
    if do == "dismiss":
        key = review_deeds.dismiss(request, item)
        return Step(DISMISSED, item.key, f"Dismissed {named(item)}", str(key))
    deed = {"accept": review_deeds.accept, "trash": review_deeds.trash}.get(do)
    if deed is None:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "do",
            "There is no such decision.",
            received=do,
            expected=["accept", "trash", "dismiss", "skip"],
        )
    if do == "trash" or item.kind is Kind.JUNK:
        _require(request, "memories.delete_memory")
    done = deed(request, repository(), item)
    return Step(ACCEPTED, item.key, done.says, done.operation_id)


def _undo(request: HttpRequest, step: Step) -> None:
    if step.did == DISMISSED:
        review_deeds.take_back(request, int(step.undo))
    elif step.undo:
        outcome = bulk_flow.undo(request, _person(request), step.undo, page_url("review"))
        if isinstance(outcome, bulk_flow.Applied) and outcome.nothing:
            toast(request, outcome.says, bad=True)
    elif step.did == ACCEPTED:
        toast(request, f"{step.says}: this cannot be undone here", bad=True)


def _queue(request: HttpRequest, waiting: Inbox, kind: Kind | None, queue: list[Item]) -> HttpResponse:
    current = pass_of(request.session, str(kind or ""))
    asked = request.GET.get("item", "")
    at = next((at for at, item in enumerate(queue) if item.key == asked), 0)
    # What is gone since the queue was made is passed over.
    card = None
    while at < len(queue) and card is None:
        card = card_of(repository(), queue[at], request.user, _url(kind, queue[at].key))
        at += card is None
    context: dict[str, Any] = {
        "title": "Review",
        "tabs": _tabs(waiting, kind, "queue"),
        "kind": str(kind or ""),
        "urls": {"queue": _url(kind, ""), "list": page_url("review", kind=kind and str(kind), view="list")},
        "view": "queue",
        "current": current,
        "card": card,
        "place": current.decided + at + 1,
        "done": current.decided + at,
        "total": current.decided + len(queue),
        "left": max(0, len(queue) - at - 1),
        "previous_url": _url(kind, queue[at - 1].key) if 0 < at <= len(queue) and card else "",
        "next_url": _url(kind, queue[at + 1].key) if at + 1 < len(queue) else "",
        "following": _following(current, kind, queue, at),
        "empty": _empty(current, kind, queue),
    }
    response = render_page(request, PAGE, context, fragment=QUEUE)
    # After a decision the answer is another address's than the one that was sent to.
    response["HX-Push-Url"] = request.get_full_path()
    return response


def _list(request: HttpRequest, waiting: Inbox, kind: Kind | None, queue: list[Item]) -> HttpResponse:
    offset, size = window(request.GET, len(queue))
    context = {
        "title": "Review",
        "wide": True,
        "tabs": _tabs(waiting, kind, "list"),
        "urls": {"queue": _url(kind, ""), "list": page_url("review", kind=kind and str(kind), view="list")},
        "view": "list",
        "rows": [{"item": item, "url": _url(kind, item.key)} for item in queue[offset : offset + size]],
        "pager": Pager.of(request, len(queue), offset, size),
        "total": len(queue),
        "more": waiting.total - len(queue) if kind is None else 0,
        "empty": _empty(Pass(), kind, queue),
    }
    return render_page(request, "console/review/list.html", context)


def _following(current: Pass, kind: Kind | None, queue: list[Item], at: int) -> list[dict[str, Any]]:
    shown = queue[at + 1 : at + 1 + FOLLOWING]
    first = current.decided + at + 2
    return [
        {"place": first + number, "item": item, "url": _url(kind, item.key)}
        for number, item in enumerate(shown)
    ]


def _tabs(waiting: Inbox, kind: Kind | None, view: str) -> list[dict[str, Any]]:
    shown = "list" if view == "list" else None
    every = {
        "title": "All",
        "count": waiting.total,
        "url": page_url("review", view=shown),
        "current": not kind,
    }
    found = sorted(waiting.of_kind.items(), key=lambda pair: -len(pair[1]))
    named_kinds = [(one, len(items)) for one, items in found]
    if kind is not None and kind not in waiting.of_kind:
        named_kinds.append((kind, 0))
    return [
        every,
        *(
            {
                "title": one.heading,
                "count": count,
                "url": page_url("review", kind=str(one), view=shown),
                "current": one is kind,
            }
            for one, count in named_kinds
        ),
    ]


def _empty(current: Pass, kind: Kind | None, queue: list[Item]) -> Empty:
    actions: tuple[Action, ...] = ()
    if kind is not None:
        actions = (Action("Show all kinds", url=page_url("review")),)
    if queue:
        return Empty("check", "That was the last one", "", (Action("Back to the first", url=_url(kind, "")),))
    said = f"{current.decided:,} decided in this pass." if current.decided else ""
    return Empty("check", "Nothing waits for you", said, actions)


def _kind(text: str) -> Kind | None:
    return Kind(text) if text in list(Kind) else None


def _url(kind: Kind | None, key: str) -> str:
    return page_url("review", kind=str(kind) if kind else None, item=key)


def _to(kind: Kind | None, key: str) -> HttpResponse:
    return HttpResponseRedirect(_url(kind, key))


def _require(request: HttpRequest, permission: str) -> None:
    if not _person(request).has_perm(permission):
        raise PermissionDenied(permission)


def _person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


urlpatterns = [
    path("review/", review, name="review"),
    path("review/decide/", review_decide, name="review_decide"),
    path("review/undo/", review_undo, name="review_undo"),
]
