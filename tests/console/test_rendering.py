"""Page and fragment from one view, messages with Undo, and taking an operation back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.messages.storage import default_storage
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from memories.console.rendering import render_page, toast

if TYPE_CHECKING:
    from console.people import ClientAs, Person

    from memories.repository import MemoryRepository

pytestmark = pytest.mark.django_db
FRAGMENT = "console/parts/fact_list.html"


@pytest.fixture
def request_of(person: Person, repository: MemoryRepository) -> HttpRequest:
    request = RequestFactory().get("/welcome/", headers={"host": "localhost"})
    request.user = person("curator")
    for middleware in (SessionMiddleware, MessageMiddleware):
        middleware(lambda _: HttpResponse()).process_request(request)
    return request


def body(request: HttpRequest) -> str:
    context = {"title": "Facts", "facts": ("port=8410",)}
    return render_page(request, "console/base.html", context, fragment=FRAGMENT).content.decode()


def test_a_browser_gets_the_page_and_htmx_the_part(request_of: HttpRequest) -> None:
    assert "<!DOCTYPE html>" in body(request_of)
    request_of.META["HTTP_HX_REQUEST"] = "true"
    del request_of.headers
    assert "<!DOCTYPE html>" not in body(request_of)


@pytest.mark.parametrize("header", ["HX-Boosted", "HX-History-Restore-Request"])
def test_htmx_gets_the_page_where_it_wants_one(request_of: HttpRequest, header: str) -> None:
    request_of.META |= {"HTTP_HX_REQUEST": "true", f"HTTP_{header.upper().replace('-', '_')}": "true"}

    assert "<!DOCTYPE html>" in body(request_of)


def test_the_answer_says_that_it_varies(request_of: HttpRequest) -> None:
    assert "HX-Request" in render_page(request_of, "console/base.html", {"title": "x"})["Vary"]


def test_a_message_shows_once_on_the_next_page(request_of: HttpRequest) -> None:
    toast(request_of, "Moved 3 memories to the trash", undo="0193-op")

    first = body(request_of)
    request_of._messages.update(HttpResponse())
    request_of._messages = default_storage(request_of)
    second = body(request_of)
    assert "Moved 3 memories to the trash" in first
    assert 'action="/operations/0193-op/undo/"' in first
    assert "Moved 3" not in second


def test_a_message_comes_beside_a_fragment(request_of: HttpRequest) -> None:
    toast(request_of, "Saved <b>", bad=True)
    request_of.META["HTTP_HX_REQUEST"] = "true"
    content = body(request_of)

    assert '<div id="toasts" hx-swap-oob="beforeend">' in content
    assert 'role="alert"' in content
    assert "Saved &lt;b&gt;" in content


def test_undo_takes_an_operation_back_and_says_so(client_as: ClientAs, repository: MemoryRepository) -> None:
    added = repository.add(payload(), AUTHOR)
    deleted = repository.delete(added.memory_id, AUTHOR)
    client = client_as("curator")

    answer = client.post(f"/operations/{deleted.operation_id}/undo/", {"next": "/welcome/"})

    assert answer.headers["Location"] == "/welcome/"
    assert repository.get(added.memory_id).memory.subject == "Tide_API"
    assert "Undone, 1 memory as before" in client.get("/welcome/").content.decode()
