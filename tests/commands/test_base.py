"""What holds for every command, seen from outside: a process of its own, with its exit code and streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memories.settings import load_settings
from tests.support.commands import Run

CHECKOUT = Path(__file__).parents[2]
MEMORY = (
    "--domain",
    "Hyttebok",
    "--subject",
    "kø",
    "--fact",
    "Køen på øya",
    "--tier",
    "2",
    "--category",
    "fact",
)


def manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"MEMSUITE_EMBED_MODEL": "builtin:static"} | environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_wrong_arguments_end_with_two() -> None:
    assert manage("search_memories", "--no-such-option", "port").returncode == 2


def test_a_terminal_that_knows_ascii_only_still_gets_json_that_says_the_same() -> None:
    done = manage("add_memory", *MEMORY, "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["canonical_content"] == "Hyttebok:kø Køen på øya. [Tier=2]"


def test_a_terminal_that_knows_ascii_only_gets_words_and_no_traceback() -> None:
    done = manage("add_memory", *MEMORY, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("created")


@pytest.mark.parametrize("command", ["add_memory", "search_memories", "demo_data", "doctor"])
def test_help_comes_without_loading_the_engine_or_a_model(command: str) -> None:
    program = (
        "import sys, django; from django.core.management import load_command_class, get_commands\n"
        "django.setup()\n"
        f"name = {command!r}\n"
        "load_command_class(get_commands()[name], name).create_parser('manage.py', name).format_help()\n"
        "print(sorted({'lancedb', 'onnxruntime', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_program_that_feeds_a_pipe_gets_each_answer_before_it_sends_the_next() -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "add_memory", "-", "--json"],
        cwd=CHECKOUT,
        env=os.environ | {"MEMSUITE_EMBED_MODEL": "builtin:static"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for subject in ("gateway", "api"):
            memory = {"domain": "T", "subject": subject, "facts": ["x"], "tier": 2, "category": "tech"}
            process.stdin.write(json.dumps(memory) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["status"] == "created"
        process.stdin.close()
        assert process.wait() == 0


def test_a_search_where_no_database_is_says_so_and_makes_none(run: Run) -> None:
    done = run("search_memories", "port", "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (1, "store_unavailable")
    assert not load_settings().db_path.exists()
