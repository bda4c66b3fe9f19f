"""Real processes that write an audit history into a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SETUP = """
import sys, threading
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from memories.console.audit import recorded_as
from memories.console.repository_access import repository
from memories.repository import Author
call_command("migrate", verbosity=0)
PAYLOAD = dict(domain="Havlys", subject="Tide_API", facts=["port=8410"], tier=2, category="tech")
WHO = Author("console:ingrid", source="console")
"""


def command(script: str) -> list[str]:
    return [sys.executable, "-c", SETUP + script]


def environment(home: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMSUITE_", "HERMES_"))
    }
    return kept | {
        "HERMES_HOME": str(home),
        "MEMSUITE_EMBED_MODEL": "builtin:static",
        "DJANGO_SETTINGS_MODULE": "memsuite_site.settings",
        "PYTHONPATH": str(ROOT),
    }


def run(script: str, home: Path) -> str:
    """What the script prints; it must end well."""
    ended = subprocess.run(
        command(script), env=environment(home), capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def killed_at(mark: str, script: str, home: Path) -> None:
    """Run the script until it prints ``mark``, then kill it without a chance to tidy up."""
    with subprocess.Popen(
        command(script), env=environment(home), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        process.kill()
        assert said == mark
