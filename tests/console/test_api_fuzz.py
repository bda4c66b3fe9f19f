"""Made-up requests from the API's own description: nothing breaks, nothing is answered to nobody.

``TEST_API_CASES=400 pytest tests/console/test_api_fuzz.py`` asks 400 times at each address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from console.addresses import served
from console.samples import AUTHOR, payload
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from memories.console.api import tokens
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import Person

pytestmark = pytest.mark.usefixtures("jobs_wait")

CASES = int(os.environ.get("TEST_API_CASES", "12"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def bearer(person: Person, repository: MemoryRepository) -> dict[str, str]:
    for number in range(3):
        repository.add(payload(f"Tide_{number}", facts=[f"Serves table {number}"]), AUTHOR)
    token, _ = tokens.create(person("administrator"), "made-up requests", 1)
    # In this process nothing stands between that would unpack a compressed answer.
    return {"Host": "localhost", "Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}


@pytest.fixture
def one_connection() -> Iterator[None]:
    """What a request ends with would close the connection that holds this test's database."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def described(bearer: dict[str, str], one_connection: None) -> Any:
    from memsuite_site.wsgi import application

    return schemathesis.openapi.from_wsgi("/api/openapi.json", application, headers=bearer)


@pytest.mark.parametrize("operation", sorted(set(served())))
def test_no_request_breaks_an_address(operation: str, described: Any, bearer: dict[str, str]) -> None:
    method, path = operation.split(" ", 1)

    @settings(
        max_examples=CASES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=described[path][method].as_strategy())
    def asked(case: schemathesis.Case) -> None:
        assert case.call(headers={"Host": "localhost"}).status_code == 401
        case.call_and_validate(headers=bearer, checks=CHECKS)

    asked()
