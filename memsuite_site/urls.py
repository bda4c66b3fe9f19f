"""The site's addresses: the console's pages, and the admin for users and groups beside them."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from memories.console import errors
from memories.console.site import site

urlpatterns: list[URLPattern | URLResolver] = [
    path("manage/", site.urls),
    path("", include("memories.console.urls")),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
