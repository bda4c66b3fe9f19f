"""Who may open an address, said in decorators above the view.

    @accepts("GET", "POST")
    @may("view_memory")
    @may("change_memory", on="POST")
    def memory(request, memory_id): ...

Each decorator refuses by itself and also leaves on the view what it asks for (``access_of``), which the
tests walk. A view that says nothing is refused by ``memories.console.gate``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_http_methods

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

RECENT_SECONDS = 15 * 60
"""How long a password counts as just given, for what cannot be undone."""

_CONFIRMED_AT = "password_confirmed_at"


@dataclass(frozen=True, slots=True)
class Access:
    """What a view asks of who opens it. ``permissions`` are pairs of a method ("" for all) and a full
    permission name; ``recent`` are the methods that want the password given again ("" for all)."""

    methods: frozenset[str] = frozenset()
    public: bool = False
    permissions: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    recent: frozenset[str] = frozenset()

    def needed(self, method: str) -> frozenset[str]:
        """The permissions that a method needs."""
        return frozenset(name for on, name in self.permissions if on in ("", _as_read(method)))

    def wants_password(self, method: str) -> bool:
        return bool(self.recent & {"", _as_read(method)})


def access_of(view: Any) -> Access | None:
    """What the decorators above a view ask for, None when there are none."""
    return getattr(view, "console_access", None)


def accepts(*methods: str) -> Callable[[View], View]:
    """The methods a view answers, HEAD with GET; others get 405."""
    taken = frozenset(methods) | ({"HEAD"} if "GET" in methods else frozenset())

    def decorate(view: View) -> View:
        return _noted(require_http_methods(sorted(taken))(view), view, methods=taken)

    return decorate


def open_to_all(view: View) -> View:
    """Needs no login: health, login itself."""

    @wraps(view)
    def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs)

    return login_not_required(_noted(opened, view, public=True))


def signed_in(view: View) -> View:
    """Anyone with an account, whatever they may do."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return to_login(request)
        return view(request, *args, **kwargs)

    return _noted(guarded, view)


def may(permission: str, *, on: str = "") -> Callable[[View], View]:
    """Only who holds a permission (``change_memory``, or ``app.codename``), for one method or for all."""
    name = full_name(permission)

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return to_login(request)
            if on in ("", _as_read(request.method)) and not allows(request.user, name):
                raise PermissionDenied(name)
            return view(request, *args, **kwargs)

        before = _before(view)
        return _noted(guarded, view, permissions=before.permissions | {(on, name)})

    return decorate


def recently_authenticated(view: View | None = None, *, on: str = "") -> Any:
    """Only within 15 minutes of giving the password; otherwise the person is asked for it first."""

    def decorate(inner: View) -> View:
        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if on in ("", _as_read(request.method)) and not password_is_recent(request):
                return to_password(request)
            return inner(request, *args, **kwargs)

        return _noted(guarded, inner, recent=_before(inner).recent | {on})

    return decorate if view is None else decorate(view)


def allows(user: User | AnonymousUser, full: str) -> bool:
    """Whether a person holds a permission given by its full name."""
    return user.is_active and user.has_perm(full)


def full_name(permission: str) -> str:
    return permission if "." in permission else f"memories.{permission}"


def remember_password(request: HttpRequest) -> None:
    """The person has just given their password."""
    request.session[_CONFIRMED_AT] = int(time.time())


def password_is_recent(request: HttpRequest) -> bool:
    age = time.time() - request.session.get(_CONFIRMED_AT, 0)
    # A clock that stepped back makes the age negative: that is no proof of anything.
    return 0 <= age < RECENT_SECONDS


def to_login(request: HttpRequest) -> HttpResponse:
    """Send a person to log in and back to where they were."""
    return _sent(request, "console:login")


def to_password(request: HttpRequest) -> HttpResponse:
    """Send a person to give their password again and back. What a form held is lost, so pages ask on
    the GET that shows the form and again on the POST."""
    return _sent(request, "console:confirm_password")


def _sent(request: HttpRequest, name: str) -> HttpResponse:
    address = f"{resolve_url(name)}?{urlencode({'next': page_of(request)})}"
    if request.headers.get("HX-Request"):
        # A redirect would be followed inside the request, and the login page swapped into a fragment.
        return HttpResponse(status=401, headers={"HX-Redirect": address})
    return HttpResponseRedirect(address)


def page_of(request: HttpRequest) -> str:
    """The page a person is on: for a fragment what htmx names, for a form its field ``next``.

    Nothing else tells: this site sends no referrer, not even to itself.
    """
    if request.headers.get("HX-Request"):
        seen = urlsplit(request.headers.get("HX-Current-URL", ""))
        return safe_path(request, f"{seen.path}?{seen.query}" if seen.query else seen.path)
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    return safe_path(request, request.POST.get("next", ""))


def safe_path(request: HttpRequest, address: str) -> str:
    """``address`` when it is a path on this site, else the front page."""
    stays = address.startswith("/") and url_has_allowed_host_and_scheme(
        address, {request.get_host()}, require_https=request.is_secure()
    )
    return address if stays else "/"


def _as_read(method: str | None) -> str:
    return "GET" if method == "HEAD" else method or "GET"


def _before(view: Any) -> Access:
    return access_of(view) or Access()


def _noted(decorated: Any, view: Any, **changes: Any) -> Any:
    decorated.console_access = replace(_before(view), **changes)
    return decorated
