"""Which forms are believed to be ours."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("repository")]


def post(*, secure: bool = False, token: bool = True, **headers: str) -> int:
    """The status of a wrong login, 401, or 403 where the form itself is not believed."""
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.get("/login/", secure=secure)
    data = {"username": "nobody", "password": "wrong"}
    if token:
        data["csrfmiddlewaretoken"] = client.cookies["memsuite_csrf"].value
    return client.post("/login/", data, secure=secure, headers=headers).status_code


@pytest.mark.parametrize(
    ("headers", "believed"),
    [
        ({}, True),
        ({"Origin": "http://localhost"}, True),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null"}, True),  # plain HTTP beyond localhost: the token decides alone
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "null", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "null", "Sec-Fetch-Site": "none"}, False),
        ({"Origin": "http://localhost:8000"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "https://localhost"}, False),
    ],
)
def test_a_form_with_its_token(headers: dict[str, str], believed: bool) -> None:
    assert post(**headers) == (401 if believed else 403)


@pytest.mark.parametrize(
    ("headers", "believed"),
    [
        ({"Origin": "https://localhost"}, True),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null"}, False),
        ({}, False),
        ({"Origin": "http://localhost"}, False),
        ({"Referer": "https://evil.example/"}, False),
    ],
)
def test_a_form_with_its_token_over_tls(headers: dict[str, str], believed: bool) -> None:
    assert post(secure=True, **headers) == (401 if believed else 403)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}])
def test_without_the_token_no_header_helps(headers: dict[str, str]) -> None:
    assert post(token=False, **headers) == 403


def test_the_token_of_another_browser_is_none() -> None:
    other = Client(headers={"host": "localhost"})
    other.get("/login/")
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.get("/login/")

    answer = client.post("/login/", {"csrfmiddlewaretoken": other.cookies["memsuite_csrf"].value})
    assert answer.status_code == 403
