"""What a refusal of the core becomes in HTTP."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from memories.console.errors import problem_of
from memories.console.repository_access import status_of
from memories.contract import ErrorCode, MemsuiteError

if TYPE_CHECKING:
    from console.people import ClientAs

STATUSES = {400, 401, 403, 404, 409, 413, 422, 429, 503}


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_a_status_of_the_list_and_a_title(code: ErrorCode) -> None:
    problem = problem_of(MemsuiteError(code, "", "said"))

    assert problem.status in STATUSES
    assert problem.title != "Something broke"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.INVALID_PARAMETER, 400),
        (ErrorCode.NOT_PERMITTED, 403),
        (ErrorCode.MEMORY_NOT_FOUND, 404),
        (ErrorCode.VERSION_CONFLICT, 409),
        (ErrorCode.SELECTION_CHANGED, 409),
        (ErrorCode.PAYLOAD_TOO_LARGE, 413),
        (ErrorCode.SECRET_DETECTED, 422),
        (ErrorCode.FACT_TOO_LONG, 422),
        (ErrorCode.RATE_LIMITED, 429),
        (ErrorCode.STORE_BUSY, 503),
        (ErrorCode.EMBEDDING_FAILED, 503),
    ],
)
def test_the_status_says_whose_turn_it_is(code: ErrorCode, status: int) -> None:
    assert status_of(code) == status


@pytest.mark.parametrize("code", list(ErrorCode))
def test_only_what_may_pass_says_when_to_try_again(code: ErrorCode) -> None:
    problem = problem_of(MemsuiteError(code, "", "said"))

    assert (problem.retry_after > 0) is (problem.status == 503 and code.retryable)


@pytest.mark.django_db
def test_a_missing_operation_is_a_page_with_its_code(client_as: ClientAs) -> None:
    answer = client_as("curator").post("/operations/no-such/undo/")

    assert answer.status_code == 404
    assert '<p class="m-code">404 · not_found' in answer.content.decode()


@pytest.mark.django_db
def test_htmx_gets_a_message_in_the_corner_and_keeps_its_page(client_as: ClientAs) -> None:
    answer = client_as("curator").post("/operations/no-such/undo/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer["HX-Retarget"], answer["HX-Reswap"]) == (404, "#toasts", "beforeend")
    assert "<html" not in answer.content.decode()


def test_the_refused_value_is_never_repeated() -> None:
    error = MemsuiteError(
        ErrorCode.SECRET_DETECTED, "facts[1]", "It holds a secret.", received="hunter2-token"
    )

    assert "hunter2" not in repr(problem_of(error))


def test_a_page_that_broke_is_told_in_the_log_of_the_server() -> None:
    record = logging.makeLogRecord({"name": "django.request", "levelno": logging.ERROR})
    handlers = logging.getLogger("django").handlers

    assert any(type(one) is logging.StreamHandler and one.filter(record) for one in handlers)
