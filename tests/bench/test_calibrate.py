"""``bench calibrate``: a refit to one's own questions is an explicit act that search then obeys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memories.embedding import create_embedder
from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.retrieval.calibration import OWN_FOLDER
from memories.settings import load_settings
from tests.support.commands import Run

STATIC = ("--model", "builtin:static", "--every", "150")


def _questions(path: Path, expected: str, answered: int = 20, unanswered: int = 10) -> Path:
    rooms = [f"which port does the gate {number} of Orchard use?" for number in range(answered)]
    nothing = [f"what is the capital of country {number}?" for number in range(unanswered)]
    asked = [{"text": text, "expected": [expected]} for text in rooms]
    asked += [{"text": text, "expected": []} for text in nothing]
    path.write_text(json.dumps(asked), encoding="utf-8")
    return path


@pytest.fixture
def stored(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:static")
    about = ("--domain", "Orchard", "--subject", "gate", "--tier", "2", "--category", "tech")
    (added,) = run("add_memory", *about, "--fact", "The gate listens on port=4633", "--json").answers
    name: str = added["memory_id"]
    return name


def test_a_refit_writes_its_own_file_says_what_it_replaces_and_is_used(
    run: Run, stored: str, tmp_path: Path
) -> None:
    questions = _questions(tmp_path / "questions.json", stored)
    done = run("bench", "calibrate", *STATIC, "--questions", str(questions), "--write", "--json")
    figures: dict[str, Any] = json.loads(done.out)["figures"]
    path = Path(figures["file"])
    assert path.parent == load_settings().suite_dir / OWN_FOLDER
    assert Path(figures["replaces"]).name == path.name
    assert figures["replaces"] != figures["file"]
    assert "own" in json.loads(path.read_text(encoding="utf-8"))["notes"]["parts"]
    settings = load_settings()
    with MemoryRepository.open(settings, create_embedder(settings)) as repository:
        shown = search(repository, SearchRequest("gate", diagnostics=True)).diagnostics
    assert shown["calibration"]["origin"] == "own"


@pytest.mark.parametrize(("answered", "unanswered"), [(19, 10), (20, 9)])
def test_too_few_questions_are_refused(
    run: Run, stored: str, tmp_path: Path, answered: int, unanswered: int
) -> None:
    questions = _questions(tmp_path / "questions.json", stored, answered, unanswered)
    assert run("bench", "calibrate", *STATIC, "--questions", str(questions)).exit == 2


def test_questions_about_memories_that_are_not_stored_are_refused(
    run: Run, stored: str, tmp_path: Path
) -> None:
    questions = _questions(tmp_path / "questions.json", "0" * 8)
    assert run("bench", "calibrate", *STATIC, "--questions", str(questions)).exit == 2
