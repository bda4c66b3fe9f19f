"""One view for a page and its fragment, and the messages that go with either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from memories.console.navigation import page_url

_UNDO, _ADDRESS = "undo:", "address:"
_BAD = "bad"


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    fragment: str = "",
    status: int = 200,
) -> HttpResponse:
    """The whole page, or ``fragment`` alone when htmx asks for a part of it.

    The page's template includes the fragment's, so both show the same. Messages that wait come along: in
    the page where they belong, with a fragment as a piece swapped in beside it.
    """
    if fragment and wants_fragment(request):
        body = render_to_string(fragment, dict(context or {}), request)
        body += render_to_string("console/parts/toasts_oob.html", {}, request)
    else:
        body = render_to_string(template, dict(context or {}), request)
    response = HttpResponse(body, status=status)
    patch_vary_headers(response, ("HX-Request",))
    return response


def wants_fragment(request: HttpRequest) -> bool:
    """Whether htmx asks for a part; not for a page it restores after going back."""
    asked = request.headers.get("HX-Request") == "true" and request.headers.get("HX-Boosted") != "true"
    return asked and request.headers.get("HX-History-Restore-Request") != "true"


def toast(request: HttpRequest, text: str, *, undo: str = "", undo_url: str = "", bad: bool = False) -> None:
    """Say what was done, on this answer or, after a redirect, on the next.

    ``undo`` is the operation that the Undo button takes back; ``undo_url`` the address it posts to instead,
    for what is no operation of the store. ``text`` names counts and subjects; it is kept in the session, so
    it holds no facts.
    """
    level = messages.ERROR if bad else messages.SUCCESS
    offers = f"{_UNDO}{undo}" if undo else f"{_ADDRESS}{undo_url}" if undo_url else ""
    messages.add_message(request, level, text, extra_tags=offers)


def undo_of(extra_tags: str) -> str:
    """The address that takes back what a message tells of, or ""."""
    if extra_tags.startswith(_UNDO):
        return page_url("undo", extra_tags.removeprefix(_UNDO))
    return extra_tags.removeprefix(_ADDRESS) if extra_tags.startswith(_ADDRESS) else ""
