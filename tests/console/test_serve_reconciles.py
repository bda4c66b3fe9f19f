"""A server killed between what it meant to do and saying that it did: the next one settles it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from console.audit_processes import ROOT, environment
from console.test_serve import free_port

from memories.console.audit_chain import chain_key
from memories.console.audit_check import check
from memories.settings import load_settings

PASSWORD = "tide-tables-per-harbour"
PATIENCE = 60.0

HANGS = """
import pathlib, sys, threading
from memories.repository import MemoryRepository

real = MemoryRepository.add

def add(self, *given, **named):
    if {after}:
        real(self, *given, **named)
    pathlib.Path({mark!r}).touch()
    threading.Event().wait()

MemoryRepository.add = add
sys.argv = ["manage.py", "serve", "--port", {port!r}]
exec(compile(pathlib.Path("manage.py").read_text(), "manage.py", "exec"))
"""
"""``manage.py serve``, of which adding a memory never ends: before the store has it, or after."""


@contextmanager
def serving(home: Path, *command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address it serves at. Killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(home) | {"MEMSUITE_ADMIN_PASSWORD": PASSWORD},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = next(
            (found[0] for line in process.stdout if (found := re.search(r"http://\S+:\d+", line))), ""
        )
        assert address, "it never served"
        yield process, address
    finally:
        process.kill()
        process.wait(PATIENCE)


class Browser:
    """As much of one as it takes to log in and send the form of a memory."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def log_in(self) -> None:
        self.send("/login/", username="admin", password=PASSWORD)

    def send(self, path: str, **fields: str) -> None:
        page = self._opener.open(self._address + path, timeout=PATIENCE).read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token is not None
        sent = urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
        self._opener.open(Request(self._address + path, sent), timeout=PATIENCE).read()


def kill_while_adding(home: Path, mark: Path, *, after: bool) -> None:
    """Serve, add a memory as a person does, and kill the server where adding hangs."""
    script = HANGS.format(after=after, mark=str(mark), port=str(free_port()))
    with serving(home, "-c", script) as (process, address):
        browser = Browser(address)
        browser.log_in()
        sender = Thread(target=_add, args=(browser,), daemon=True)
        sender.start()
        until = time.monotonic() + PATIENCE
        while not mark.exists():
            assert time.monotonic() < until, "adding never began"
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        sender.join(PATIENCE)


def _add(browser: Browser) -> None:
    form = {"domain": "Havlys", "subject": "Tide_API", "fact": "port=8410", "tier": "2", "category": "tech"}
    try:
        browser.send("/memories/add/", **form)
    except (URLError, ConnectionError):
        return  # cut off, as it is meant to be
    raise AssertionError("the server answered before it was killed")


def events(home: Path) -> list[tuple[str, str | None, int | None, int | None]]:
    """Every event: what it was, how it ended, whether the store has it, whether that was found out later."""
    file = load_settings(hermes_home=home).console_db
    asks = (
        "SELECT e.action, c.result, c.stored, c.recovered FROM memories_audit_event e "
        "LEFT JOIN memories_audit_completion c ON c.event_id = e.position ORDER BY e.position"
    )
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(asks).fetchall()


@pytest.mark.parametrize(("after", "result"), [(False, "not_done"), (True, "done")])
def test_what_the_kill_left_open_is_settled_when_it_serves_again(
    after: bool, result: str, hermes_home: Path, tmp_path: Path
) -> None:
    kill_while_adding(hermes_home, tmp_path / "hangs", after=after)
    assert events(hermes_home) == [("add", None, None, None)]

    with serving(hermes_home, "manage.py", "serve", "--port", str(free_port())):
        assert events(hermes_home) == [("add", result, int(after), 1)]

    settings = load_settings(hermes_home=hermes_home)
    found = check(settings.console_db, chain_key(settings.secret_file.read_text().strip()))
    assert (found.rows, found.faults) == (2, [])
