"""Headers on every kind of answer, and which hosts are answered at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings

from memories.contract import ErrorCode, MemsuiteError

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def broken(client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception) -> HttpResponse:
    def fail() -> None:
        raise error

    monkeypatch.setattr("memories.console.pages.home.look_around", fail)
    client.raise_request_exception = False
    return client.get("/welcome/")


KINDS: dict[str, tuple[int, Callable[[Client, pytest.MonkeyPatch], HttpResponse]]] = {
    "page": (200, lambda client, _: client.get("/welcome/")),
    "fragment": (200, lambda client, _: client.get("/welcome/", headers={"HX-Request": "true"})),
    "health": (200, lambda client, _: client.get("/healthz")),
    "redirect": (302, lambda client, _: client.get("/manage/")),
    "bad host": (400, lambda client, _: client.get("/welcome/", headers={"host": "evil.example"})),
    "refused": (
        403,
        lambda client, _: Client(headers={"host": "localhost"}, enforce_csrf_checks=True).post("/login/"),
    ),
    "no such page": (404, lambda client, _: client.get("/no/such/page")),
    "no such method": (405, lambda client, _: client.post("/welcome/")),
    "too large": (413, lambda client, _: client.post("/password/", {"old_password": "x" * 2_700_000})),
    "broken": (500, lambda client, patch: broken(client, patch, RuntimeError("a fault of ours"))),
    "busy": (
        503,
        lambda client, patch: broken(
            client, patch, MemsuiteError(ErrorCode.STORE_BUSY, "", "Locked elsewhere.")
        ),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_answer_carries_every_header(
    kind: str, client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, ask = KINDS[kind]
    answer = ask(client_as("administrator"), monkeypatch)

    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS
    assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY


@pytest.mark.parametrize("kind", [kind for kind, (status, _) in KINDS.items() if status >= 400])
def test_every_error_is_a_page_of_ours(
    kind: str, client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, ask = KINDS[kind]
    content = ask(client_as("administrator"), monkeypatch).content.decode()

    assert '<body class="m-app' in content or 'class="m-app"' in content
    assert f'<p class="m-code">{status}' in content
    assert "a fault of ours" not in content


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost", True),
        ("localhost:7777", True),
        ("127.0.0.1", True),
        ("127.0.0.1:7777", True),
        ("[::1]:7777", True),
        ("LOCALHOST", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.nip.io", False),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("localhost@evil.example", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("path", ["/healthz", "/login/", "/static/console/frame.css"])
def test_only_names_of_this_machine_are_answered(
    path: str, host: str, answered: bool, repository: MemoryRepository
) -> None:
    answer = Client(headers={"host": host}).get(path, headers={"X-Forwarded-Host": "localhost"})

    assert (answer.status_code != 400) is answered


def test_a_configured_name_is_answered_and_no_pattern_can_be_one(repository: MemoryRepository) -> None:
    from django.conf import settings

    from memories.settings import load_settings

    hosts = load_settings(environ={"MEMSUITE_CONSOLE_HOSTS": "Memory.example, 10.0.0.5"}).console_hosts
    assert hosts == ("memory.example", "10.0.0.5")
    with override_settings(ALLOWED_HOSTS=[*settings.ALLOWED_HOSTS, *hosts]):
        assert Client(headers={"host": "memory.example"}).get("/healthz").status_code == 200
    for pattern in ("*", ".example", "a.example, *"):
        refused = load_settings(environ={"MEMSUITE_CONSOLE_HOSTS": pattern})
        assert refused.console_hosts == ()
        assert len(refused.warnings) == 1
