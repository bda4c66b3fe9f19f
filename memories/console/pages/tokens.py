"""One's own tokens for the JSON API: make one, see it once, revoke it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone

from memories.console.access import accepts, may, recently_authenticated
from memories.console.api import tokens
from memories.console.api.token_models import LONGEST_NAME, ApiToken
from memories.console.errors import Problem, problem_of
from memories.console.navigation import Page, Section, register
from memories.console.parts import Empty
from memories.console.rendering import render_page, toast
from memories.contract import MemsuiteError

PAGE = "console/tokens/tokens.html"

register(Page(Section.MANAGE, 30, "API tokens", "console:tokens", "key"))


@accepts("GET", "POST")
@may("view_memory")
@recently_authenticated
def own_tokens(request: HttpRequest) -> HttpResponse:
    """The list and the form. A new token is in the answer to the form and nowhere afterwards."""
    if request.method != "POST":
        return _page(request)
    name, days = request.POST.get("name", ""), request.POST.get("days", "")
    try:
        token, row = tokens.create(_person(request), name, int(days) if days.isdecimal() else 0)
    except MemsuiteError as error:
        return _page(request, problem=problem_of(error), typed={"name": name, "days": days}, status=422)
    return _page(request, token=token, made=row)


@accepts("POST")
@may("view_memory")
def revoke_token(request: HttpRequest) -> HttpResponse:
    """End a token of one's own at once."""
    row = get_object_or_404(ApiToken, owner=_person(request), digest=request.POST.get("token", ""))
    row.delete()
    toast(request, f"Revoked the token {row.name}")
    return redirect("console:tokens")


def _page(
    request: HttpRequest,
    *,
    token: str = "",
    made: ApiToken | None = None,
    problem: Problem | None = None,
    typed: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "title": "API tokens",
        "purpose": "A token lets a program use the JSON API as you, with what you may do, until it expires.",
        "rows": ApiToken.objects.filter(owner=_person(request)),
        "now": timezone.now(),
        "token": token,
        "made": made,
        "problem": problem,
        "typed": typed or {"name": "", "days": str(tokens.DAYS_USUAL)},
        "longest_name": LONGEST_NAME,
        "days_max": tokens.DAYS_MAX,
        "empty": Empty("key", "No tokens", "Make one where a script needs to read or change memories."),
    }
    return render_page(request, PAGE, context, status=status)


def _person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


urlpatterns = [
    path("tokens/", own_tokens, name="tokens"),
    path("tokens/revoke/", revoke_token, name="revoke_token"),
]
