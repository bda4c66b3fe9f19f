"""CSRF for a site that sends no referrer."""

from __future__ import annotations

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware


class CsrfMiddleware(CsrfViewMiddleware):
    """Django's, with one case added: a form of our own says ``Origin: null``.

    Under ``Referrer-Policy: no-referrer`` browsers send that with every form. Whether it is ours then
    follows from Sec-Fetch-Site, which no script can set. Browsers leave it out on plain HTTP beyond
    localhost, where the token and the SameSite cookie decide alone, as they do for requests without Origin.
    """

    def _origin_verified(self, request: HttpRequest) -> bool:
        if request.META.get("HTTP_ORIGIN") == "null":
            return self._sent_by_us(request)
        return super()._origin_verified(request)  # type: ignore[misc]  # not in the stubs

    def _check_referer(self, request: HttpRequest) -> None:
        # Asked over TLS when there is no Origin. Old browsers alone; there is no referrer to look at.
        if not self._sent_by_us(request):
            super()._check_referer(request)  # type: ignore[misc]

    @staticmethod
    def _sent_by_us(request: HttpRequest) -> bool:
        site = request.headers.get("Sec-Fetch-Site")
        return site == "same-origin" or (site is None and not request.is_secure())
