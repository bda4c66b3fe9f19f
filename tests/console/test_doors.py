"""Host, token, method, headers, cookies and single rights, over every address there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.addresses import ADMINS, OURS, READ, Address, expected, named, outcome
from console.people import BACKEND
from console.samples import AUTHOR, World, payload
from console.test_headers import ALWAYS, POLICY
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from memories.console.access import Access, access_of
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs, Person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("jobs_wait")]

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
FRAGMENT = {"HX-Request": "true", "HX-Current-URL": "http://localhost/memories/"}
ELSEWHERE = ("evil.example", "evil.example:7777", "localhost.evil.example", "192.168.1.5", "0.0.0.0", "")
PASSWORD = "tide-tables-per-harbour"


@pytest.fixture
def world(repository: MemoryRepository) -> World:
    return World(repository, repository.add(payload(), AUTHOR))


@pytest.fixture
def strict(person: Person) -> Client:
    """An administrator's browser that must prove its forms."""
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(person("administrator"), backend=BACKEND)
    return client


# --- host ----------------------------------------------------------------------------


@pytest.mark.parametrize("address", OURS, ids=named)
def test_under_another_name_no_address_answers(address: Address, world: World, client_as: ClientAs) -> None:
    before = world.repository.snapshot().generation
    for role in ("anonymous", "administrator"):
        client = client_as(role)
        for host in ELSEWHERE:
            for method in ("GET", "HEAD", "POST", "OPTIONS"):
                answer = client.generic(
                    method, address.path(world), headers={"host": host, "X-Forwarded-Host": "localhost"}
                )
                assert (answer.status_code, answer.cookies.output()) == (400, ""), (host, method)
    assert world.repository.snapshot().generation == before


@pytest.mark.parametrize("path", [*ADMINS, "/no/such/page", "/static/no-such.css", "/static/"])
def test_under_another_name_nothing_else_answers(path: str, client_as: ClientAs) -> None:
    for host in ELSEWHERE:
        assert client_as("administrator").get(path, headers={"host": host}).status_code == 400


def test_a_name_that_is_not_ours_is_not_named_back(client_as: ClientAs) -> None:
    for path in ("/login/", "/memories/", "/no/such/page"):
        answer = client_as("anonymous").get(path, headers={"host": "evil.example"})
        assert b"evil.example" not in answer.content
        assert "Location" not in answer.headers


# --- the token -----------------------------------------------------------------------


@pytest.mark.parametrize("address", OURS, ids=named)
def test_no_change_without_the_token_of_this_browser(address: Address, world: World, strict: Client) -> None:
    other = Client(headers={"host": "localhost"})
    other.get("/login/")
    strict.get("/password/")
    ours = strict.cookies["memsuite_csrf"].value
    attempts: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({}, {"X-CSRFToken": other.cookies["memsuite_csrf"].value}),
        ({"csrfmiddlewaretoken": other.cookies["memsuite_csrf"].value}, {}),
        ({"csrfmiddlewaretoken": ours}, {"Origin": "https://evil.example"}),
        ({"csrfmiddlewaretoken": ours}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}),
        ({}, FRAGMENT),
    ]
    before = world.repository.snapshot().generation

    for fields, headers in attempts:
        answer = strict.post(address.path(world), fields, headers=headers)
        assert answer.status_code == 403, (fields, headers)
    for method in UNSAFE[1:]:
        assert strict.generic(method, address.path(world)).status_code == 403
    assert world.repository.snapshot().generation == before


@pytest.mark.parametrize("path", ADMINS)
def test_the_admin_asks_for_the_token_too(path: str, strict: Client) -> None:
    people = User.objects.count()

    assert strict.post(path, {"username": "eve", "usable_password": "false"}).status_code in (403, 404)
    assert User.objects.count() == people


# --- methods -------------------------------------------------------------------------


@pytest.mark.parametrize("address", OURS, ids=named)
def test_a_method_the_view_does_not_name_is_refused_and_says_which_are(
    address: Address, world: World, client_as: ClientAs
) -> None:
    client, path = client_as("administrator"), address.path(world)
    for method in {"GET", "HEAD", *UNSAFE, "OPTIONS", "TRACE", "PROPFIND"} - address.methods:
        answer = client.generic(method, path, headers={"X-Canary": "echo-me"})
        assert answer.status_code == 405, method
        assert {name.strip() for name in answer.headers["Allow"].split(",")} == address.methods
        assert b"echo-me" not in answer.content


@pytest.mark.parametrize("address", READ, ids=named)
def test_head_is_get_without_the_page(address: Address, world: World, client_as: ClientAs) -> None:
    client, path = client_as("administrator"), address.path(world)
    got, headed = client.get(path), client.head(path)

    assert headed.status_code == got.status_code
    assert not headed.streaming or b"".join(headed.streaming_content) == b""  # type: ignore[attr-defined]
    assert headed.streaming or headed.content == b""
    assert headed.headers.get("Content-Type") == got.headers.get("Content-Type")


@pytest.mark.parametrize("address", READ, ids=named)
def test_what_a_query_says_changes_nothing_either(
    address: Address, world: World, client_as: ClientAs
) -> None:
    # As if a form had been sent with GET: a link on another site can do that.
    client, path = client_as("administrator"), address.path(world)
    asked = {
        "action": "trash", "confirm": "1", "everything": "1", "of": "memories", "filter": "", "edit": "",
        "ids": world.added.memory_id, "revision": "1", "name": "x", "note": "x", "old_password": "x",
        "_method": "DELETE", "delete": "1", "tag": "api",
    }  # fmt: skip
    before = world.repository.snapshot().generation

    with CaptureQueriesContext(connection) as queries:
        for headers in ({}, FRAGMENT, {"X-HTTP-Method-Override": "POST"}):
            answer = client.get(path, asked, headers=headers)
            assert answer.status_code < 500
            read_out(answer)

    changes = ("INSERT", "UPDATE", "DELETE", "REPLACE")
    done = [query["sql"] for query in queries.captured_queries if query["sql"].startswith(changes)]
    assert [sql for sql in done if "django_session" not in sql] == []
    assert world.repository.snapshot().generation == before


# --- headers -------------------------------------------------------------------------


@pytest.mark.parametrize("address", OURS, ids=named)
def test_every_answer_of_every_address_carries_every_header(
    address: Address, world: World, client_as: ClientAs, strict: Client
) -> None:
    path, administrator = address.path(world), client_as("administrator")
    answers = {
        "page": administrator.get(path),
        "fragment": administrator.get(path, headers=FRAGMENT),
        "posted": administrator.post(path),
        "posted fragment": administrator.post(path, headers=FRAGMENT),
        "not allowed": administrator.put(path),
        "to login": client_as("anonymous").get(path),
        "fragment to login": client_as("anonymous").get(path, headers=FRAGMENT),
        "forbidden": client_as("stranger").get(path),
        "no token": strict.post(path),
        "bad host": administrator.get(path, headers={"host": "evil.example"}),
    }

    for kind, answer in answers.items():
        assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS, kind
        assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY, kind
        assert not {"Server", "X-Powered-By", "Access-Control-Allow-Origin"} & set(answer.headers), kind


def test_a_download_is_one_and_carries_every_header(world: World, client_as: ClientAs) -> None:
    answer = client_as("curator").get("/audit/export/")
    read_out(answer)

    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="audit-')
    assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS
    assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY


@pytest.mark.parametrize("path", ADMINS)
def test_the_admin_carries_every_header(path: str, client_as: ClientAs) -> None:
    for role in ("anonymous", "viewer", "administrator"):
        answer = client_as(role).get(path)
        assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS
        assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY


# --- people --------------------------------------------------------------------------


@pytest.mark.parametrize("address", OURS, ids=named)
def test_a_single_right_opens_what_asks_for_it_and_no_more(address: Address, world: World) -> None:
    access = access_of(address.view)
    assert access is not None
    path = address.path(world)
    for right in Permission.objects.filter(content_type__app_label__in=("memories", "maintenance")):
        user = User.objects.create(username=f"only {right.codename}")
        user.user_permissions.add(right)
        user = User.objects.get(pk=user.pk)
        for method in sorted(access.methods):
            client = Client(headers={"host": "localhost"}, raise_request_exception=False)
            client.force_login(user, backend=BACKEND)
            got = outcome(client.generic(method, path))
            assert got == expected(access, user, method), (right.codename, method)


def test_every_right_that_a_page_asks_for_exists() -> None:
    rights = Permission.objects.values_list("content_type__app_label", "codename")
    asked = {name for address in OURS for _, name in (access_of(address.view) or Access()).permissions}

    assert asked
    assert asked <= {f"{label}.{codename}" for label, codename in rights}


def test_a_stranger_is_told_so_and_sees_nothing(world: World, client_as: ClientAs) -> None:
    stranger = client_as("stranger")

    assert stranger.get("/").status_code == 200
    assert b"Tide_API" not in stranger.get("/").content
    for address in OURS:
        access = access_of(address.view)
        assert access is not None
        if access.permissions:
            assert stranger.get(address.path(world)).status_code in (403, 405)


# --- sessions and cookies ------------------------------------------------------------


def test_a_new_password_gives_this_browser_a_new_session_key(repository: MemoryRepository) -> None:
    User.objects.create_user("ingrid", password=PASSWORD)
    browser = Client(headers={"host": "localhost"})
    browser.post("/login/", {"username": "ingrid", "password": PASSWORD})
    before = browser.cookies["memsuite_session"].value
    new = "codes-are-four-letters"

    browser.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})

    assert browser.cookies["memsuite_session"].value != before
    stolen = Client(headers={"host": "localhost"})
    stolen.cookies["memsuite_session"] = before
    assert outcome(stolen.get("/password/")) == "login"


def test_a_person_who_is_switched_off_or_gone_is_out_at_once(
    world: World, client_as: ClientAs, person: Person
) -> None:
    client, user = client_as("curator"), person("curator")
    assert client.get("/memories/").status_code == 200

    user.is_active = False
    user.save()
    assert outcome(client.get("/memories/")) == "login"
    user.is_active = True
    user.save()
    user.delete()
    assert outcome(client.get("/memories/")) == "login"


def test_a_right_that_is_taken_away_is_gone_at_once(
    world: World, client_as: ClientAs, person: Person
) -> None:
    client, user = client_as("curator"), person("curator")
    assert client.get("/memories/add/").status_code == 200

    user.groups.clear()
    assert client.get("/memories/add/").status_code == 403


@pytest.mark.parametrize("over_tls", [False, True])
def test_cookies_have_every_flag(over_tls: bool, repository: MemoryRepository) -> None:
    User.objects.create_user("ingrid", password=PASSWORD)
    with override_settings(SESSION_COOKIE_SECURE=over_tls, CSRF_COOKIE_SECURE=over_tls):
        browser = Client(headers={"host": "localhost"})
        browser.get("/login/", secure=over_tls)
        browser.post("/login/", {"username": "ingrid", "password": PASSWORD}, secure=over_tls)

    assert set(browser.cookies) == {"memsuite_session", "memsuite_csrf"}
    for cookie in browser.cookies.values():
        assert (cookie["httponly"], cookie["samesite"], bool(cookie["secure"])) == (True, "Strict", over_tls)
        assert (cookie["path"], cookie["domain"]) == ("/", "")


def read_out(answer: HttpResponse) -> None:
    """Read a download to its end, as what it reads happens only then."""
    if answer.streaming:
        b"".join(answer.streaming_content)  # type: ignore[attr-defined]
