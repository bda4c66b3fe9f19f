"""Headers that belong on everything that leaves, and the host check in front of everything that comes."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class HostMiddleware:
    """Asks for the host before anything is answered: static files and health too.

    A page on another site that resolves its own name to 127.0.0.1 (DNS rebinding) sends that name here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.get_host()
        return self.get_response(request)


class HeadersMiddleware:
    """Adds what Django and django-csp do not. Everything but static files may hold memory text."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if not request.path_info.startswith(settings.STATIC_URL):
            response.headers["Cache-Control"] = "no-store"
        return response
