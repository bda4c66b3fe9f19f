"""The real Hermes Agent, driven by the tools in ../shared; only there can these tests run.

`environment_with_suite` makes a virtual environment that sees Hermes' packages first and this
checkout with its dependencies after them, as an installation beside Hermes' own pins would.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT.parent / "shared" / "tools" / "hermes_e2e"
PLUGIN = ROOT / "hermes_plugin" / "lancedb_suite"

MISSING = "" if TOOLS.is_dir() else f"the tools that drive Hermes Agent are not at {TOOLS}"


def hermes_environment() -> Path:
    """The virtual environment holding Hermes Agent, made by the tools' own set-up where it is missing."""
    folder = Path(os.environ.get("HERMES_E2E_VENV") or Path.home() / ".cache" / "hermes-e2e")
    if not (folder / "bin" / "hermes").exists():
        subprocess.run(["sh", str(TOOLS / "setup.sh"), str(folder)], check=True)
    return folder


def environment_with_suite(folder: Path) -> Path:
    """A virtual environment at `folder` in which Hermes and this checkout are both importable."""
    hermes = hermes_environment()
    base = hermes / "bin" / "python"
    subprocess.run([str(base), "-m", "venv", "--without-pip", str(folder)], check=True)
    own = _packages(folder / "bin" / "python")
    lines = [_packages(base), Path(sysconfig.get_path("purelib")), ROOT]
    (own / "hermes_and_suite.pth").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def run(turns: list[dict[str, Any]], *arguments: str, hermes: Path, home: Path) -> dict[str, Any]:
    """One run of the real host; returns the tool's report and fails when it could not be set up."""
    script = home.parent / f"{home.name}-script.json"
    script.write_text(json.dumps(turns), encoding="utf-8")
    command = [
        sys.executable,
        str(TOOLS / "run_e2e.py"),
        "--plugin",
        str(PLUGIN),
        "--hermes",
        str(hermes),
        "--hermes-home",
        str(home),
        "--script",
        f"@{script}",
        "--timeout",
        "180",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    assert "checks" in report, report
    return report


def install_from_repository(repository: Path, *, hermes: Path, home: Path) -> None:
    """`hermes plugins install <repository>#hermes_plugin/lancedb_suite`, from a repository made for it."""
    home.mkdir(parents=True, exist_ok=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PLUGIN, repository / "hermes_plugin" / PLUGIN.name, ignore=ignored)
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "plugin")):
        subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
    source = f"{repository.as_uri()}#hermes_plugin/{PLUGIN.name}"
    command("plugins", "install", source, "--no-enable", hermes=hermes, home=home)


def command(*words: str, hermes: Path, home: Path) -> str:
    """Standard output of one `hermes` command that must succeed."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HERMES_HOME": str(home), "TERM": "dumb"}
    arguments = [str(hermes / "bin" / "python"), "-m", "hermes_cli.main", *words]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environ, cwd=home.parent, check=True)
    return done.stdout


def failures(report: dict[str, Any]) -> list[str]:
    """What went wrong in a run, each as one line; empty when all went well."""
    failed = [name for name, passed in report["checks"].items() if not passed]
    return failed + report["unmet_expectations"] + report["problems"]


def _packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())
