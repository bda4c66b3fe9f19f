"""Every refusal and failure as a page in our look, or as a message when htmx asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse

from memories.console.api.answers import ROOT as API
from memories.console.api.answers import refusal
from memories.console.repository_access import retry_after, status_of
from memories.console.uploads import UPLOAD_MAX, is_signed_in
from memories.contract import ErrorCode, MemsuiteError
from memories.screening import mask_secrets

BAD_REQUEST, FORBIDDEN, NOT_FOUND, TOO_LARGE, BROKEN = 400, 403, 404, 413, 500

_TITLES = {
    BAD_REQUEST: "This request cannot be understood",
    401: "Log in first",
    FORBIDDEN: "Your account may not do this",
    NOT_FOUND: "There is nothing here",
    405: "This address does not take that",
    409: "This no longer fits what is stored",
    TOO_LARGE: "This is too much at once",
    422: "This was refused",
    429: "Too many requests",
    BROKEN: "Something broke",
    503: "The store does not answer now",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What a person is told: what happened, what to do, and the code."""

    status: int
    says: str
    code: str = ""
    field: str = ""
    retry_after: int = 0

    @property
    def title(self) -> str:
        return _TITLES.get(self.status, _TITLES[BROKEN])


def problem_of(error: MemsuiteError) -> Problem:
    """A core error as a person sees it; the refused value is never repeated."""
    status = status_of(error.code)
    wait = retry_after(error.code)
    # A message may name the field that was sent, and that may be anything that was pasted.
    says, field = mask_secrets(error.message)[0], mask_secrets(error.field)[0]
    return Problem(status, says, error.code.value, field, wait)


def error_response(request: HttpRequest, problem: Problem) -> HttpResponse:
    """The problem as a page; for htmx as a message that leaves the page as it is, for a program as JSON."""
    if request.path_info.startswith(API):
        return refusal(problem)
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(
            render_to_string("console/errors/toast.html", {"problem": problem}), status=problem.status
        )
        response["HX-Retarget"] = "#toasts"
        response["HX-Reswap"] = "beforeend"
    else:
        response = HttpResponse(_page(request, problem), status=problem.status)
    if problem.retry_after:
        response["Retry-After"] = str(problem.retry_after)
    return response


def _page(request: HttpRequest, problem: Problem) -> str:
    # The frame needs a person and a request that Django could read: what it could not has no code.
    known = getattr(request, "user", None) is not None and request.user.is_authenticated
    unread = problem.status == BAD_REQUEST and not problem.code
    framed = known and not unread and problem.status != BROKEN
    template = "console/errors/framed.html" if framed else "console/errors/plain.html"
    return render_to_string(
        template, {"problem": problem, "title": problem.title}, request if framed else None
    )


class SizeMiddleware:
    """Refuses a body that is too large by what it says of itself, before anything reads it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _length(request) > _most(request):
            says = "Send less at once."
            return error_response(request, Problem(TOO_LARGE, says, ErrorCode.PAYLOAD_TOO_LARGE.value))
        return self.get_response(request)


class ErrorsMiddleware:
    """Turns what the core raises into an answer, and a bare 405 into a page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == 405 and not getattr(response, "content", b""):
            return _with_allow(error_response(request, Problem(405, "Open it from a page.")), response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, MemsuiteError):
            return error_response(request, problem_of(exception))
        return None


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_response(request, Problem(BAD_REQUEST, "Check the address, or go back and try again."))


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    says = "Ask an administrator for the right to do it. Everything you may read stays readable."
    return error_response(request, Problem(FORBIDDEN, says, ErrorCode.NOT_PERMITTED.value))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    says = "The form was too old or came from elsewhere. Reload the page and send it again."
    return error_response(request, Problem(FORBIDDEN, says, "csrf_failed"))


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    says = "The address is wrong, or what was here is gone."
    return error_response(request, Problem(NOT_FOUND, says, ErrorCode.NOT_FOUND.value))


def server_error(request: HttpRequest) -> HttpResponse:
    says = "Nothing was changed by this request unless a page says so. The log of the server tells more."
    return error_response(request, Problem(BROKEN, says))


def _most(request: HttpRequest) -> int:
    """Bytes a request may have; a file to import may be larger, from somebody who has signed in."""
    uploads = request.method == "POST" and request.path == reverse("console:imports")
    if not uploads or not is_signed_in(request):
        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return UPLOAD_MAX


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _with_allow(answer: HttpResponse, refused: HttpResponseBase) -> HttpResponse:
    answer["Allow"] = refused["Allow"]
    return answer
