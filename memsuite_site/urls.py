"""The site's addresses: the console's pages, the JSON API, and the admin for users and groups."""

from __future__ import annotations

from importlib import import_module

from django.urls import URLPattern, URLResolver, include, path

from memories.console import errors
from memories.console.api.site import patterns
from memories.console.site import site

API_MODULES = (
    "maintenance.console.api",
    "memories.console.api.analysing",
    "memories.console.api.changing",
    "memories.console.api.many",
    "memories.console.api.moving",
    "memories.console.api.reading",
)
"""Each registers its addresses as it is imported."""

for module in API_MODULES:
    import_module(module)

urlpatterns: list[URLPattern | URLResolver] = [
    path("manage/", site.urls),
    path("api/", include((patterns(), "api"))),
    path("", include("memories.console.urls")),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
