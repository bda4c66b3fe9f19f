"""Where Hermes itself is installed, told from its `hermes` command and its usual checkout."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

_SHEBANG = re.compile(rb"^#!\s*(\S*python\S*)")


@dataclass(frozen=True, slots=True)
class Host:
    """`trees` hold Hermes' bundled plugins; `python` runs it, None where that could not be told."""

    trees: tuple[Path, ...]
    python: Path | None

    @property
    def python_without_package(self) -> Path | None:
        """Hermes' interpreter, when none of its package folders holds this suite."""
        if self.python is None:
            return None
        return None if any(_holds_suite(folder) for folder in _package_folders(self.python)) else self.python


def find_host(home: Path) -> Host:
    """Look, without running anything, at the `hermes` script and at `<home>/hermes-agent`."""
    python = _interpreter_of_command()
    candidates = [home / "hermes-agent", *(_package_folders(python) if python else ())]
    return Host(tuple(tree for tree in candidates if (tree / "plugins" / "memory").is_dir()), python)


def _interpreter_of_command() -> Path | None:
    command = shutil.which("hermes")
    if command is None:
        return None
    try:
        with Path(command).open("rb") as stream:
            found = _SHEBANG.match(stream.readline(512))
    except OSError:
        return None
    return Path(found[1].decode("utf-8", "replace")) if found else None


def _package_folders(python: Path) -> list[Path]:
    """site-packages of the environment an interpreter belongs to (not resolved: a link is how venvs work)."""
    return sorted(python.parent.parent.glob("lib/python3*/site-packages"))


def _holds_suite(folder: Path) -> bool:
    return (folder / "hermes_plugin").is_dir() or any(folder.glob("hermes_memory_suite-*.dist-info"))
