"""The one command that installs the package into the interpreter that runs this."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from .identity import DISTRIBUTION


def install_command(python: str | None = None) -> str:
    """A shell command; by default for the running interpreter."""
    target = python or sys.executable or "python3"
    wanted = requirement()
    if python is None and find_spec("pip") is None and shutil.which("uv"):
        return shlex.join(["uv", "pip", "install", "--python", target, wanted])
    return shlex.join([target, "-m", "pip", "install", wanted])


def requirement() -> str:
    """What to install: the checkout this runs from, or the distribution's name."""
    checkout = Path(__file__).resolve().parents[2]
    return str(checkout) if (checkout / "pyproject.toml").is_file() else DISTRIBUTION
