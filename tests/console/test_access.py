"""What the decorators refuse, on views made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from memories.console import access
from memories.console.access import accepts, access_of, may, recently_authenticated
from memories.console.gate import GateMiddleware

if TYPE_CHECKING:
    from console.people import Person

pytestmark = pytest.mark.django_db


@accepts("GET", "POST")
@may("view_memory")
@may("purge_memory", on="POST")
@recently_authenticated(on="POST")
def purge(request: HttpRequest) -> HttpResponse:
    return HttpResponse("done")


def asked(
    user: Any, method: str = "GET", *, confirmed_at: float | None = None, **headers: str
) -> HttpRequest:
    request = RequestFactory().generic(method, "/purge/?of=7", headers={"host": "localhost", **headers})
    request.user = user
    request.session = {} if confirmed_at is None else {access._CONFIRMED_AT: confirmed_at}  # type: ignore[assignment]
    return request


def test_what_the_decorators_ask_for_can_be_read_off_the_view() -> None:
    asks = access_of(purge)
    assert asks is not None

    assert asks.methods == {"GET", "HEAD", "POST"}
    assert asks.needed("HEAD") == {"memories.view_memory"}
    assert asks.needed("POST") == {"memories.view_memory", "memories.purge_memory"}
    assert (asks.wants_password("GET"), asks.wants_password("POST")) == (False, True)


def test_a_curator_may_look_and_not_purge(person: Person) -> None:
    assert purge(asked(person("curator"))).content == b"done"
    with pytest.raises(PermissionDenied):
        purge(asked(person("curator"), "POST"))


def test_nobody_is_sent_to_log_in_and_back() -> None:
    assert purge(asked(AnonymousUser())).headers["Location"] == "/login/?next=%2Fpurge%2F%3Fof%3D7"


def test_a_fragment_sends_the_whole_page_to_log_in() -> None:
    answer = purge(
        asked(AnonymousUser(), **{"HX-Request": "true", "HX-Current-URL": "http://localhost/memories/?q=a"})
    )

    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/login/?next=%2Fmemories%2F%3Fq%3Da"


@pytest.mark.parametrize(
    ("age", "passes"), [(None, False), (0, True), (899, True), (901, False), (-60, False)]
)
def test_the_password_counts_for_fifteen_minutes(
    person: Person, monkeypatch: pytest.MonkeyPatch, age: int | None, passes: bool
) -> None:
    monkeypatch.setattr(access.time, "time", lambda: 1_000_000.0)
    confirmed_at = None if age is None else 1_000_000.0 - age
    answer = purge(asked(person("operator"), "POST", confirmed_at=confirmed_at))

    assert (answer.status_code == 200) is passes
    if not passes:
        assert answer.headers["Location"].startswith("/password/again/")


def test_a_person_who_is_switched_off_may_nothing(person: Person) -> None:
    user = person("operator")
    user.is_active = False

    with pytest.raises(PermissionDenied):
        purge(asked(user))


def test_a_view_that_says_nothing_is_refused(person: Person) -> None:
    def undeclared(request: HttpRequest) -> HttpResponse:
        return HttpResponse("open")

    gate = GateMiddleware(lambda request: HttpResponse())
    with pytest.raises(PermissionDenied):
        gate.process_view(asked(person("administrator")), undeclared, (), {})


def test_the_page_one_is_on_is_told_by_the_form_and_never_leads_away() -> None:
    def back(address: str) -> str:
        request = RequestFactory().post("/x/", {"next": address}, headers={"host": "localhost"})
        return access.page_of(request)

    assert back("/memories/?tag=a") == "/memories/?tag=a"
    assert back("https://evil.example/") == "/"
    assert back("") == "/"
