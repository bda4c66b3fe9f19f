"""A real Mnemosyne in a process of its own: it makes the databases that the recall tool only reads.

Its own process, since the package reads its settings at import, and a writer beside the reader is one too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

_CHILD = """
import json, sys
from mnemosyne.core.memory import Mnemosyne

memory = Mnemosyne(session_id="tests")
print(json.dumps(str(memory.db_path)), flush=True)
for line in sys.stdin:
    method, args, kwargs = json.loads(line)
    print(json.dumps(getattr(memory, method)(*args, **kwargs)), flush=True)
"""


class Mnemosyne:
    """The package at work on `<hermes home>/mnemosyne/data/mnemosyne.db`, until it is closed."""

    def __init__(self, hermes_home: Path, *, journal_mode: str = "wal") -> None:
        if importlib.util.find_spec("mnemosyne") is None:
            raise RuntimeError("the development dependency mnemosyne-memory is not installed")
        data = hermes_home / "mnemosyne" / "data"
        data.mkdir(parents=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            env=os.environ | _settings(hermes_home, data, journal_mode),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.database = Path(self._answer())

    def remember(self, content: str, **details: Any) -> str:
        """The id of the new memory."""
        return str(self._call("remember", content, **details))

    def update(self, memory_id: str, **changes: Any) -> None:
        assert self._call("update", memory_id, **changes) is True

    def forget(self, memory_id: str) -> None:
        assert self._call("forget", memory_id) is True

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps([method, args, kwargs]), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def _settings(hermes_home: Path, data: Path, journal_mode: str) -> dict[str, str]:
    """Nothing of this machine's own Mnemosyne, and no model."""
    own = hermes_home / "mnemosyne"
    return {
        "HOME": str(own),
        "HERMES_HOME": str(hermes_home),
        "MNEMOSYNE_HOME": str(own),
        "MNEMOSYNE_DATA_DIR": str(data),
        "MNEMOSYNE_JOURNAL_MODE": journal_mode,
        "MNEMOSYNE_NO_EMBEDDINGS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONIOENCODING": "utf-8",
    }
