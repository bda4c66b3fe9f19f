"""The site in a process of its own, since Django reads its settings once per process."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def manage(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"HERMES_HOME": str(home)} | environ,
        capture_output=True,
        text=True,
    )


def test_a_command_without_need_of_the_database_leaves_no_file(hermes_home: Path) -> None:
    done = manage(hermes_home, "check")

    assert done.returncode == 0, done.stderr
    assert not hermes_home.exists()


def test_behind_tls_the_deployment_check_has_nothing_to_say(hermes_home: Path) -> None:
    done = manage(hermes_home, "check", "--deploy", "--fail-level", "WARNING", MEMSUITE_CONSOLE_HTTPS="on")

    assert (done.returncode, done.stderr) == (0, "")


def test_migrating_makes_a_private_database_in_write_ahead_mode(hermes_home: Path) -> None:
    done = manage(hermes_home, "migrate", "--verbosity", "0")
    file = hermes_home / "lancedb-suite" / "console.db"

    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("SELECT count(*) FROM auth_user").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 200), ("127.0.0.1:7777", 200), ("evil.example", 400)]
)
def test_only_local_host_names_are_answered(host: str, status: int) -> None:
    from django.test import Client

    assert Client(headers={"host": host}).get("/healthz").status_code == status


def test_answers_carry_the_protective_headers() -> None:
    from django.test import Client

    answer = Client(headers={"host": "localhost"}).get("/healthz")

    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
