"""Compressed answers of the API, where a caller takes them."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

from memories.console.api.answers import ROOT

_REFUSES = re.compile(r"\bgzip\s*;\s*q\s*=\s*0(\.0{0,3})?\s*(,|$)")


class CompressionMiddleware(GZipMiddleware):
    """Django's, for the API alone, and never for who says ``gzip;q=0``.

    Pages stay as they are: they hold the form's token beside what a person typed, and the length of a
    compressed answer tells of both.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith(ROOT):
            return response
        if _REFUSES.search(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        return super().process_response(request, response)
