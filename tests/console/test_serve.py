"""`serve` as a process: what it prints, refuses and leaves behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LOGIN = re.compile(r"Name +(\S+)\n +Password +(\S+)")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", "serve", *arguments]


def environment(home: Path, **more: str) -> dict[str, str]:
    return os.environ | {"HERMES_HOME": str(home), "MEMSUITE_EMBED_MODEL": "builtin:static"} | more


def refused(home: Path, *arguments: str, **more: str) -> tuple[int, str]:
    done = subprocess.run(
        command(*arguments), cwd=CHECKOUT, env=environment(home, **more), capture_output=True, text=True
    )
    return done.returncode, done.stderr


@contextmanager
def running(home: Path, *arguments: str, **more: str) -> Iterator[tuple[str, str]]:
    """What was printed until it serves, and its address."""
    process = subprocess.Popen(
        command("--port", str(free_port()), *arguments),
        cwd=CHECKOUT,
        env=environment(home, **more),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    printed = ""
    try:
        for line in process.stdout:
            printed += line
            if served := re.search(r"http://\S+:\d+", line):
                break
        else:
            raise AssertionError(f"it never served: {printed}")
        yield printed, served[0]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_first_run_prints_a_login_once_and_closes_what_it_makes(hermes_home: Path) -> None:
    with running(hermes_home, "--first-run") as (printed, url):
        with urllib.request.urlopen(f"{url}/healthz") as answer:
            assert answer.read() == b"up\n"
        assert LOGIN.search(printed)
    with running(hermes_home, "--first-run") as (printed, _):
        assert not LOGIN.search(printed)

    made = [hermes_home / "lancedb-suite" / name for name in ("console.db", "secret")]
    assert [stat.S_IMODE(file.stat().st_mode) for file in made] == [0o600, 0o600]
    assert stat.S_IMODE(made[0].parent.stat().st_mode) == 0o700


def test_a_password_of_ones_own_is_not_printed(hermes_home: Path) -> None:
    password = "tide-tables-per-harbour"
    with running(hermes_home, MEMSUITE_ADMIN_PASSWORD=password) as (printed, _):
        assert "Administrator admin" in printed
        assert password not in printed


def test_a_weak_password_of_ones_own_is_refused(hermes_home: Path) -> None:
    status, said = refused(hermes_home, MEMSUITE_ADMIN_PASSWORD="harbour")

    assert status == 2
    assert "too short" in said
    assert "harbour" not in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_public_address_is_refused_before_anything_is_made(host: str, hermes_home: Path) -> None:
    status, said = refused(hermes_home, "--host", host, "--allow-public")

    assert status == 2
    assert "MEMSUITE_CONSOLE_HOSTS" in said
    assert not hermes_home.exists()


def test_a_port_that_is_taken_is_named(hermes_home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, said = refused(hermes_home, "--port", str(taken.getsockname()[1]))

    assert status == 2
    assert "Choose another --port" in " ".join(said.split())


def test_options_name_another_home_than_the_environment(hermes_home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other home"
    with running(hermes_home, "--hermes-home", str(other)) as (printed, _):
        assert str(other / "lancedb") in printed
    assert (other / "lancedb-suite" / "console.db").exists()
    assert not hermes_home.exists()


def test_html_is_not_kept_and_hashed_files_are_kept_for_good(hermes_home: Path) -> None:
    with running(hermes_home) as (_, url):
        with urllib.request.urlopen(f"{url}/login/") as page:
            style = re.search(r"/static/console/frame\.[0-9a-f]{12}\.css", page.read().decode())
            assert page.headers["Cache-Control"] == "no-store"
            assert "Server" not in page.headers
        assert style is not None
        with urllib.request.urlopen(url + style[0]) as file:
            assert "immutable" in file.headers["Cache-Control"]
            assert "Access-Control-Allow-Origin" not in file.headers
            assert "default-src 'none'" in file.headers["Content-Security-Policy"]
