"""The throttle of the login over the life of a server."""

from __future__ import annotations

from pathlib import Path
from urllib.error import HTTPError

from console.test_serve import free_port
from console.test_serve_reconciles import PASSWORD, Browser, serving


def test_a_restart_forgives_no_wrong_try(hermes_home: Path) -> None:
    serve = ("manage.py", "serve", "--port", str(free_port()))
    with serving(hermes_home, *serve) as (_, address):
        assert [_tried(address, "wrong") for _ in range(5)] == [401] * 5

    with serving(hermes_home, *serve) as (_, address):
        assert _tried(address, PASSWORD) == 401


def _tried(address: str, password: str) -> int:
    try:
        Browser(address).send("/login/", username="admin", password=password)
    except HTTPError as error:
        return error.code
    return 200
