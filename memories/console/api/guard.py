"""In front of every address of the API: who asks, by session or token, and whether they may.

The checks stand here and not in django-ninja, so that the API is refused in the order and by the means
of the pages: who, which method, which permission, from where. They leave on the view what it asks for
(``access_of``), so that the same walk tests both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from memories.console.access import Access, allows, password_is_recent
from memories.console.api.answers import refusal
from memories.console.api.tokens import owner_of
from memories.console.csrf import CsrfMiddleware
from memories.console.errors import Problem

SCHEME = "Bearer "
TAKEN = ("application/json", "application/x-ndjson")
READ = ("GET", "HEAD")


def guarded(view: Callable[..., HttpResponseBase], access: Access) -> Callable[..., HttpResponseBase]:
    """The view behind its checks, answering in JSON whatever they find."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        token = request.headers.get("Authorization", "")
        user = owner_of(token[len(SCHEME) :].strip()) if token.startswith(SCHEME) else request.user
        if token and not token.startswith(SCHEME):
            user = None
        if user is None or not user.is_authenticated:
            return _who()
        request.user = user
        problem = _problem(request, user, access, by_session=not token)
        if problem is None:
            # django-ninja knows no HEAD; the server leaves the body out.
            request.method = "GET" if request.method == "HEAD" else request.method
            return view(request, *args, **kwargs)
        refused = refusal(problem)
        if problem.status == 405:
            refused["Allow"] = ", ".join(sorted(access.methods))
        return refused

    # The gate of the pages would send a program to the login form, and a token needs no CSRF check.
    marked = login_not_required(csrf_exempt(checked))
    marked.console_access = access  # type: ignore[attr-defined]  # as memories.console.access notes it
    return marked


def _problem(
    request: HttpRequest, user: User | AnonymousUser, access: Access, *, by_session: bool
) -> Problem | None:
    method = str(request.method)
    # First, as on the pages, where it stands before any view.
    if by_session and method not in READ and CsrfMiddleware(_unused).process_view(request, _unused, (), {}):
        return Problem(403, "Send the token of the form as X-CSRFToken, or use a token of your own.")
    if method not in access.methods:
        return Problem(405, "This address does not take that method.")
    if not all(allows(user, name) for name in access.needed(method)):
        return Problem(403, "This account may not do that.")
    if access.wants_password(method) and not (by_session and password_is_recent(request)):
        return Problem(403, "Give your password again in the console first; a token may not do this.")
    if method not in READ and request.body and request.content_type not in TAKEN:
        return Problem(415, f"Send the body as {TAKEN[0]}.")
    return None


def _who() -> HttpResponse:
    response = refusal(Problem(401, "Log in, or send a valid token as Authorization: Bearer."))
    response["WWW-Authenticate"] = 'Bearer realm="memsuite"'
    return response


def _unused(request: HttpRequest) -> HttpResponse:
    raise AssertionError("the check answers before any view is called")
