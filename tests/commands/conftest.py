from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from tests.support.commands import Ran, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command over the test's own Hermes home, with the model that needs no time."""
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:static")

    def run_command(name: str, *arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(name, *arguments, stdout=out, stderr=err)
        except SystemExit as ended:
            return Ran(int(ended.code or 0), out.getvalue(), err.getvalue())
        return Ran(0, out.getvalue(), err.getvalue())

    return run_command
