"""What leaves the API: one JSON object, and the one error shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.http import JsonResponse

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.screening import safe_answer

if TYPE_CHECKING:
    from memories.console.errors import Problem

ROOT = "/api/"


def answer(values: Mapping[str, Any], status: int = 200) -> JsonResponse:
    """An object with ``success`` and ``contract_version``, text as it is rather than escaped."""
    body = {"success": True} | dict(values) | {"contract_version": CONTRACT_VERSION}
    return JsonResponse(body, status=status, json_dumps_params={"ensure_ascii": False})


def refusal(problem: Problem) -> JsonResponse:
    """A problem of the site (no such address, too large, no right) in the core's shape of an error."""
    code, field = _NAMED.get(problem.status, (ErrorCode.STORE_UNAVAILABLE, ""))
    known = problem.code in list(ErrorCode)
    error = MemsuiteError(ErrorCode(problem.code) if known else code, problem.field or field, problem.says)
    response = refused(error, problem.status)
    if problem.retry_after:
        response["Retry-After"] = str(problem.retry_after)
    return response


def refused(error: MemsuiteError, status: int) -> JsonResponse:
    """An error of the core, with the value that was refused."""
    return answer(safe_answer(error), status)


_NAMED = {
    400: (ErrorCode.INVALID_PARAMETER, ""),
    401: (ErrorCode.NOT_AUTHENTICATED, ""),
    403: (ErrorCode.NOT_PERMITTED, ""),
    404: (ErrorCode.NOT_FOUND, ""),
    405: (ErrorCode.INVALID_PARAMETER, "method"),
    413: (ErrorCode.PAYLOAD_TOO_LARGE, ""),
    415: (ErrorCode.INVALID_TYPE, "content-type"),
}
"""Code and field of the site's own refusals, which bring none of the core's."""
