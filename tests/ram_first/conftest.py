"""Mnemosyne databases, each made once by the real package and copied into the Hermes home of the test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hermes_plugin.ram_first_context.tool import recall
from tests.support.mnemosyne import Mnemosyne

Ask = Callable[..., list[dict[str, Any]]]

NOTES: dict[str, dict[str, Any]] = {
    "terminal": {
        "content": "The terminal on the bench is a serial console; the AND gate sits next to it.",
        "source": "user",
        "importance": 0.9,
        "metadata": {"room": "målerom", "shelf": 3},
    },
    "terminals": {"content": "All terminals upstairs run zsh.", "source": "conversation", "importance": 0.6},
    "discount": {"content": "Discount 50% on server_01 and path C:\\srv\\x.", "importance": 0.4},
    "deploy": {"content": "Deploys happen on Monday.", "source": "document", "importance": 0.7},
    "river": {"content": 'She said "left NEAR(the river): wait*', "importance": 0.2},
    "cafe": {"content": "Café résumé: smørbrød, 漢字 and 🧪 in the lab.", "importance": 0.3},
    "gone": {"content": "Nobody remembers the umbrella.", "importance": 0.5},
}


@dataclass(frozen=True)
class Notes:
    """A database as it lies in a Hermes home."""

    database: Path
    ids: dict[str, str]  # name in NOTES -> id

    def named(self, rows: list[dict[str, Any]]) -> list[str]:
        """The rows' names in NOTES; a row of another kind fails here."""
        names = {value: key for key, value in self.ids.items()}
        return [names[row["id"]] for row in rows]


@pytest.fixture(scope="session", params=["wal", "delete"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Notes:
    """The notes in one of the two journal modes; one was updated and one forgotten, so every trigger ran."""
    home = tmp_path_factory.mktemp("made")
    with Mnemosyne(home, journal_mode=request.param) as mnemosyne:
        ids = {name: mnemosyne.remember(**note) for name, note in NOTES.items()}
        mnemosyne.update(ids["deploy"], content="Deploys happen on Thursday: never after 16:00.")
        mnemosyne.forget(ids.pop("gone"))
    return Notes(mnemosyne.database, ids)


@pytest.fixture
def notes(made: Notes, hermes_home: Path) -> Notes:
    """This test's own copy, where the tool looks."""
    folder = hermes_home / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    return Notes(Path(shutil.copy(made.database, folder)), made.ids)


@pytest.fixture
def database_place(hermes_home: Path) -> Path:
    """Where the tool looks, with nothing there yet."""
    folder = hermes_home / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    return folder / "mnemosyne.db"


@pytest.fixture
def ask() -> Ask:
    """The tool as the host calls it, its answer parsed."""

    def call(query: object, **arguments: object) -> list[dict[str, Any]]:
        answer = json.loads(recall({"query": query, **arguments}, task_id="t-1"))
        assert isinstance(answer, list)
        return answer

    return call
