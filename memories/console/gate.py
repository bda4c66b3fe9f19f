"""The gate in front of every view: logged in unless it says otherwise, refused unless it says for whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from memories.console.access import access_of, to_login


class GateMiddleware(LoginRequiredMiddleware):
    """Nobody reaches a view without an account, and no view is reached that names no access."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        refused = super().process_view(request, view_func, view_args, view_kwargs)
        if refused is not None:
            return refused
        if access_of(view_func) is None and not is_admin_view(view_func):
            raise PermissionDenied("this view does not say who may open it")
        return None

    def handle_no_permission(  # type: ignore[override]  # Django's own is a redirect; htmx needs another
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        return to_login(request)


def is_admin_view(view: Any) -> bool:
    """Whether Django's admin guards this view itself."""
    return hasattr(view, "admin_site") or hasattr(view, "model_admin")
