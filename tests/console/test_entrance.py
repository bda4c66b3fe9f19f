"""Log in and out, the throttle, changing the password, giving it once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.people import BACKEND
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from memories.console import access

if TYPE_CHECKING:
    from console.people import ClientAs


PASSWORD = "tide-tables-per-harbour"
SESSION = "memsuite_session"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("repository")]


@pytest.fixture
def ingrid() -> User:
    return User.objects.create_user("ingrid", password=PASSWORD)


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "localhost"})


def log_in(browser: Client, name: str = "ingrid", password: str = PASSWORD, **more: str) -> tuple[int, str]:
    answer = browser.post("/login/", {"username": name, "password": password, **more})
    return answer.status_code, answer.headers.get("Location", "")


def test_the_right_password_leads_to_where_one_was_going(ingrid: User, browser: Client) -> None:
    assert log_in(browser, next="/password/") == (302, "/password/")


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example",
        "javascript:alert(1)",
        "/\\evil.example",
        "evil.example",
        "<script>alert(1)</script>",
        "",
    ],
)
def test_login_leads_nowhere_but_into_the_console(ingrid: User, browser: Client, elsewhere: str) -> None:
    assert log_in(browser, next=elsewhere) == (302, "/")


def test_login_starts_a_session_under_a_new_key(ingrid: User, browser: Client) -> None:
    browser.cookies[SESSION] = "a" * 32
    log_in(browser)

    assert browser.cookies[SESSION].value not in ("", "a" * 32)


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(ingrid: User, browser: Client) -> None:
    browser.get("/login/")
    log_in(browser)

    for name in (SESSION, "memsuite_csrf"):
        assert browser.cookies[name]["httponly"]
        assert browser.cookies[name]["samesite"] == "Strict"


def test_an_unknown_name_gets_the_answer_of_a_wrong_password(ingrid: User, browser: Client) -> None:
    wrong = browser.post("/login/", {"username": "ingrid", "password": "no"})
    unknown = browser.post("/login/", {"username": "nobody", "password": "no"})

    assert (wrong.status_code, unknown.status_code) == (401, 401)
    strip = {"ingrid": "", "nobody": ""}
    assert _without(wrong.content.decode(), strip) == _without(unknown.content.decode(), strip)


@pytest.mark.parametrize("name", ["ingrid", "nobody"])
def test_after_five_wrong_tries_the_right_password_is_refused_too(
    ingrid: User, browser: Client, name: str
) -> None:
    for _ in range(5):
        assert log_in(browser, name, "wrong")[0] == 401

    answer = browser.post("/login/", {"username": name, "password": PASSWORD})
    assert answer.status_code == 401
    assert "After 5 tries the form rests for 15 minutes" in answer.content.decode()


def test_the_rest_is_that_name_from_that_address_alone(ingrid: User, browser: Client) -> None:
    User.objects.create_user("erik", password=PASSWORD)
    for _ in range(5):
        log_in(browser, password="wrong")

    assert log_in(browser)[0] == 401
    assert log_in(browser, "erik")[0] == 302
    elsewhere = Client(headers={"host": "localhost"}, REMOTE_ADDR="10.0.0.9")
    assert log_in(elsewhere)[0] == 302


def test_an_account_that_is_switched_off_gets_no_answer_of_its_own(ingrid: User, browser: Client) -> None:
    ingrid.is_active = False
    ingrid.save()

    answer = browser.post("/login/", {"username": "ingrid", "password": PASSWORD})
    assert answer.status_code == 401
    assert "Name or password not right" in answer.content.decode()


def test_logging_out_ends_the_session_on_the_server(ingrid: User, browser: Client) -> None:
    log_in(browser)
    kept = browser.cookies[SESSION].value
    browser.post("/logout/")

    browser.cookies[SESSION] = kept
    assert browser.get("/password/").status_code == 302


def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(ingrid: User, browser: Client) -> None:
    other = Client(headers={"host": "localhost"})
    log_in(browser)
    log_in(other)
    new = "codes-are-four-letters"
    answer = browser.post(
        "/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    )

    assert answer.status_code == 302
    assert browser.get("/password/").status_code == 200
    assert other.get("/password/").status_code == 302
    assert log_in(Client(headers={"host": "localhost"}))[0] == 401


@pytest.mark.parametrize("weak", ["short", "123456789012345", "password1234"])
def test_a_weak_password_is_refused_and_says_why(ingrid: User, browser: Client, weak: str) -> None:
    log_in(browser)
    answer = browser.post(
        "/password/", {"old_password": PASSWORD, "new_password1": weak, "new_password2": weak}
    )

    assert answer.status_code == 422
    assert "m-field__bad" in answer.content.decode()


def test_the_password_once_more_counts_from_then_on(ingrid: User, browser: Client) -> None:
    browser.force_login(ingrid, backend=BACKEND)
    before = browser.cookies[SESSION].value
    where = f"{reverse('console:confirm_password')}?next=/password/"

    assert browser.post(where, {"password": "wrong"}).status_code == 401
    assert access._CONFIRMED_AT not in browser.session
    assert browser.post(where, {"password": PASSWORD}).headers["Location"] == "/password/"
    assert access._CONFIRMED_AT in browser.session
    assert browser.cookies[SESSION].value != before


def test_wrong_passwords_once_more_count_towards_the_rest(ingrid: User, browser: Client) -> None:
    browser.force_login(ingrid, backend=BACKEND)
    for _ in range(5):
        browser.post(reverse("console:confirm_password"), {"password": "wrong"})

    assert log_in(Client(headers={"host": "localhost"}))[0] == 401


def test_whoever_is_logged_in_has_no_need_of_the_form(client_as: ClientAs) -> None:
    assert client_as("viewer").get("/login/?next=/password/").headers["Location"] == "/password/"


def _without(text: str, words: dict[str, str]) -> str:
    import re

    for word, instead in words.items():
        text = text.replace(word, instead)
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
