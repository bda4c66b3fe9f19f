"""A real server and what is watched on a page of it: ``manage.py serve`` on a free port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.error import URLError
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Page

    Open: TypeAlias = Callable[..., "Watched"]

CHECKOUT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
# Chromium asks its maker's hosts at every start unless told not to.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PASSWORD = "tide-tables-per-harbour"
WIDE, NARROW = (1440, 900), (390, 844)

# Run before serving: one person in each group, named as the group is.
PEOPLE: tuple[tuple[str, ...], ...] = (
    ("migrate", "--verbosity", "0"),
    (
        "shell",
        "--verbosity",
        "0",
        "--command",
        "from django.contrib.auth.models import Group, User\n"
        "for group in Group.objects.all():\n"
        f"    User.objects.create_user(group.name.lower(), password={PASSWORD!r}).groups.add(group)\n",
    ),
)


@dataclass(frozen=True)
class Served:
    """A console that answers at ``url``; ``admin`` with ``PASSWORD`` may everything."""

    url: str
    home: Path


@dataclass
class Watched:
    """A page and what went wrong on it: console errors, policy violations, requests to elsewhere."""

    page: Page
    server: Served
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> int:
        answer = self.page.goto(self.server.url + path)
        assert answer is not None
        return answer.status

    def log_in(self, name: str = "admin", password: str = PASSWORD) -> None:
        self.open("/login/")
        self.page.fill("#u", name)
        self.page.fill("#p", password)
        # Expected before it is asked for: the page that is there has long been loaded.
        with self.page.expect_navigation():
            self.page.click("button[type=submit]")

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(
            self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        )


@contextmanager
def serving(home: Path, *commands: tuple[str, ...]) -> Iterator[Served]:
    """Run ``manage.py`` with each of ``commands``, then serve what they left in ``home``."""
    environ = os.environ | {
        "HERMES_HOME": str(home),
        "MEMSUITE_ADMIN_PASSWORD": PASSWORD,
        "MEMSUITE_EMBED_MODEL": "builtin:static",
    }
    for command in commands:
        subprocess.run([sys.executable, "manage.py", *command], cwd=CHECKOUT, env=environ, check=True)
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        cwd=CHECKOUT,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until_up(process, f"http://127.0.0.1:{port}/healthz")
        yield Served(f"http://127.0.0.1:{port}", home)
    finally:
        process.terminate()
        assert process.wait(30) == 0


# Its own words: on the status of a page that is meant to be an error, and on drawing without a GPU.
_OF_THE_BROWSER = ("the server responded with a status of", "GL Driver Message")


def listen(watched: Watched) -> None:
    def said(message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind in ("error", "warning") and not any(said in text for said in _OF_THE_BROWSER):
            watched.faults.append(f"console: {text}")

    def asked(request: object) -> None:
        url = str(getattr(request, "url", ""))
        if urlsplit(url).netloc != urlsplit(watched.server.url).netloc:
            watched.faults.append(f"request elsewhere: {url}")

    watched.page.on("console", said)
    watched.page.on("pageerror", lambda error: watched.faults.append(f"script: {error}"))
    watched.page.on("request", asked)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(process: subprocess.Popen[str], url: str) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the console does not answer; it ended with {process.poll()}")
