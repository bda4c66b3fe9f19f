"""Tokens of the API: shown once, kept as a hash, theirs alone, gone when they end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from console.samples import payload
from django.test import Client
from django.utils import timezone

from memories.console.api import tokens
from memories.console.api.token_models import ApiToken
from memories.contract import MemsuiteError
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs, Person


def bearing(token: str) -> Client:
    client = Client(
        enforce_csrf_checks=True, headers={"host": "localhost", "authorization": f"Bearer {token}"}
    )
    return client


@pytest.fixture
def token(person: Person, repository: MemoryRepository) -> str:
    return tokens.create(person("curator"), "nightly script", 30)[0]


def test_a_token_does_what_its_owner_may(token: str) -> None:
    client = bearing(token)

    added = client.post("/api/memories", payload(), content_type="application/json")

    assert added.status_code == 200
    assert client.get("/api/memories").json()["total"] == 1


def test_a_token_opens_no_page(token: str) -> None:
    answer = bearing(token).get("/memories/")

    assert answer.status_code == 302


def test_the_token_itself_is_stored_nowhere(token: str) -> None:
    row = ApiToken.objects.get()

    assert token not in [str(value) for value in vars(row).values()]
    assert row.digest == tokens.digest_of(token)


@pytest.mark.parametrize("wrong", ["", "nothing", "memsuite_", "é\x00", "memsuite_" + "x" * 43])
def test_an_unknown_token_is_nobody(token: str, wrong: str) -> None:
    assert tokens.owner_of(wrong) is None


def test_an_expired_token_is_nobody(token: str) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert bearing(token).get("/api/memories").status_code == 401


def test_a_token_ends_with_its_account(token: str, person: Person) -> None:
    person("curator").__class__.objects.filter(username="curator").update(is_active=False)

    assert bearing(token).get("/api/memories").status_code == 401


@pytest.mark.parametrize(("name", "days"), [("", 30), ("x" * 81, 30), ("ok", 0), ("ok", 400)])
def test_a_token_needs_a_name_and_an_end(person: Person, name: str, days: int) -> None:
    with pytest.raises(MemsuiteError):
        tokens.create(person("curator"), name, days)


def test_the_page_makes_shows_once_and_revokes(client_as: ClientAs, person: Person) -> None:
    from memories.console.access import _CONFIRMED_AT

    client = client_as("viewer")
    session = client.session
    session[_CONFIRMED_AT] = int(timezone.now().timestamp())
    session.save()

    made = client.post("/tokens/", {"name": "reader", "days": "7"})
    row = ApiToken.objects.get(owner=person("viewer"))
    shown = made.context["token"]
    listed = client.get("/tokens/")
    client.post("/tokens/revoke/", {"token": row.digest})

    assert tokens.digest_of(shown) == row.digest
    assert shown.encode() in made.content
    assert shown.encode() not in listed.content
    assert not ApiToken.objects.exists()


def test_nobody_revokes_the_token_of_another(client_as: ClientAs, token: str) -> None:
    answer = client_as("viewer").post("/tokens/revoke/", {"token": tokens.digest_of(token)})

    assert answer.status_code == 404
    assert ApiToken.objects.exists()
