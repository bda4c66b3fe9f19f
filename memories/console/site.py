"""The admin as our shell: Users and Groups under the console's frame, login and logout through its doors."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from memories.console.access import to_login
from memories.console.navigation import Page, Section, register
from memories.console.people import PersonAdmin, TeamAdmin

_DOORS = ("login", "logout", "password_change", "password_change_done")


class ConsoleSite(admin.AdminSite):
    """Open to whoever may see users; what else they may do there, the models say."""

    site_header = site_title = "Memory console"
    site_url = None
    enable_nav_sidebar = True  # the block that our rail fills

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.has_perm("auth.view_user"))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("admin:auth_user_changelist")

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Refuses whoever may not be here itself: the admin would send them to log in once more."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return to_login(request)
            if not self.has_permission(request):
                raise PermissionDenied("auth.view_user")
            return inner(request, *args, **kwargs)

        guarded.admin_site = self  # type: ignore[attr-defined]  # how the gate knows the admin's views
        return guarded

    def get_urls(self) -> list[Any]:
        """Without the admin's own doors: people log in, out and change passwords at the console's."""
        return [pattern for pattern in super().get_urls() if getattr(pattern, "name", "") not in _DOORS]


site = ConsoleSite(name="admin")
site.register(User, PersonAdmin)
site.register(Group, TeamAdmin)

register(Page(Section.MANAGE, 10, "Users", "admin:auth_user_changelist", "user", "auth.view_user"))
register(Page(Section.MANAGE, 20, "Groups", "admin:auth_group_changelist", "group", "auth.view_group"))
