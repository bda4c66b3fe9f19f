"""Every address, every method, every role. A page added later is walked without a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.addresses import ADMINS, OURS, Address, expected, named, outcome
from console.people import BACKEND, ROLES
from console.samples import AUTHOR, World, payload
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories.console.access import Access, access_of
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs, Person

pytestmark = pytest.mark.usefixtures("jobs_wait")

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
CHANGES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER")


@pytest.fixture
def world(repository: MemoryRepository) -> World:
    return World(repository, repository.add(payload(), AUTHOR))


@pytest.mark.parametrize("address", OURS, ids=named)
def test_every_view_says_who_may_open_it_and_how(address: Address) -> None:
    access = access_of(address.view)

    assert access is not None, f"{address.name} needs decorators of memories.console.access"
    assert access.methods, f"{address.name} needs @accepts"


@pytest.mark.parametrize("address", OURS, ids=named)
def test_each_role_gets_what_the_view_says(
    address: Address, world: World, client_as: ClientAs, person: Person
) -> None:
    access = access_of(address.view)
    assert access is not None
    users = {role: None if role == "anonymous" else person(role) for role in ROLES}
    path = address.path(world)

    found = {
        (role, method): outcome(client_as(role).generic(method, path)) for role in ROLES for method in METHODS
    }

    assert found == {
        (role, method): expected(access, users[role], method) for role in ROLES for method in METHODS
    }


@pytest.mark.parametrize("address", OURS, ids=named)
def test_looking_changes_nothing(address: Address, world: World, client_as: ClientAs) -> None:
    client, path = client_as("administrator"), address.path(world)
    before = world.repository.snapshot().generation

    with CaptureQueriesContext(connection) as queries:
        client.get(path)
        client.head(path)

    changes = [query["sql"] for query in queries.captured_queries if query["sql"].startswith(CHANGES)]
    assert [sql for sql in changes if "django_session" not in sql] == []
    assert world.repository.snapshot().generation == before


@pytest.mark.parametrize("address", OURS, ids=named)
def test_a_change_without_the_token_is_refused(address: Address, world: World, person: Person) -> None:
    access = access_of(address.view)
    assert access is not None
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.force_login(person("administrator"), backend=BACKEND)

    for method in sorted(access.methods - {"GET", "HEAD"}):
        answer = client.generic(method, address.path(world))
        assert answer.status_code == 403
        assert b"csrf_failed" in answer.content or b"X-CSRFToken" in answer.content


def test_nothing_is_open_to_all_but_login_and_health() -> None:
    public = {address.name for address in OURS if (access_of(address.view) or Access()).public}

    assert public == {"console:login", "console:health"}


@pytest.mark.parametrize("path", ADMINS)
def test_the_admin_is_the_administrators_alone(path: str, client_as: ClientAs) -> None:
    assert outcome(client_as("anonymous").get(path)) == "login"
    for role in ("stranger", "viewer", "curator", "operator"):
        assert client_as(role).get(path).status_code == 403
    assert client_as("administrator").get(path, follow=True).status_code == (404 if "no/" in path else 200)
