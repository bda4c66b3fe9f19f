from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memories.capture import consolidate as consolidating
from memories.capture.consolidate import Consolidated, consolidate
from memories.repository import Author, MemoryRepository
from memories.repository.lessons import LessonStatus
from memories.repository.turn_records import NewTurn, TurnKind

from .made_up_history import FIRST, write_history

AUTHOR = Author("command", source="command")

# What a person who reads the made-up talk would write down, and how often it was said.
EXPECTED = {
    "Svar alltid på norsk.": 4,
    "Butikken åpner klokka ti.": 4,
    "Lageret ligger i Moss.": 4,
    "Fakturaene skal til Siri.": 3,
    "Oppgi alltid priser med mva.": 3,
    "Aldri send e-post til kunder uten å spørre.": 3,
    "Slett aldri en bestilling uten å spørre.": 2,
    "The gateway listens on port 7788.": 3,
    "Never push to main without a review.": 3,
    "Always run the linter before you commit.": 3,
    "Use pnpm instead of npm.": 3,
    "Don't restart the router during work hours.": 3,
    "The backup starts at 03:00.": 3,
    "The NAS has four disks.": 3,
    "The licence is MIT.": 3,
    "The photos are stored on the NAS.": 3,
    "Ann is on leave until June.": 3,
    "Write dates as 2026-11-30.": 2,
}


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return write_history(tmp_path / "state.db")


def run(repository: MemoryRepository, history: Path | None, **more: object) -> Consolidated:
    return consolidate(repository, AUTHOR, state_db=history, **more)


def test_sixty_corrections_become_the_lessons_a_person_would_draw(
    repository: MemoryRepository, history: Path
):
    result = run(repository, history)
    counts = {lesson.rule: lesson.count for lesson in repository.lessons.all()}
    assert result.corrections == 60
    assert {rule: counts.get(rule, 0) for rule in EXPECTED} == EXPECTED
    assert len(counts) <= len(EXPECTED) + 6


def test_a_second_run_adds_nothing(repository: MemoryRepository, history: Path):
    run(repository, history)
    before = repository.lessons.all()
    again = run(repository, history)
    assert (again.created, again.extended, again.known) == ((), (), 60)
    assert repository.lessons.all() == before


def test_a_rejected_lesson_stays_rejected_while_its_evidence_is_the_same(
    repository: MemoryRepository, history: Path
):
    run(repository, history)
    rejected = repository.lessons.all()[0]
    repository.lessons.decide(rejected.id, LessonStatus.REJECTED, AUTHOR)
    run(repository, history)
    statuses = Counter(lesson.status for lesson in repository.lessons.all() if lesson.rule == rejected.rule)
    assert statuses == {LessonStatus.REJECTED: 1}


def test_new_evidence_goes_to_the_waiting_lesson(repository: MemoryRepository, tmp_path: Path):
    run(repository, write_history(tmp_path / "state.db"))
    later = write_history(tmp_path / "later.db", more=[("On npm.", "Use pnpm instead of npm!")])
    result = run(repository, later)
    assert [(lesson.rule, lesson.count) for lesson in result.extended] == [("Use pnpm instead of npm.", 4)]


def test_a_dry_run_writes_nothing(repository: MemoryRepository, history: Path):
    result = run(repository, history, dry_run=True)
    assert len(result.found) >= len(EXPECTED)
    assert repository.lessons.all() == ()
    assert result.as_answer()["lessons"][0]["count"] == 4


def test_since_reads_only_what_is_newer(repository: MemoryRepository, history: Path):
    late = datetime.fromtimestamp(FIRST, UTC) + timedelta(days=400)
    assert run(repository, history, since=late).corrections == 0


def test_without_the_history_only_turns_are_read(repository: MemoryRepository):
    assert run(repository, None).read == 0


def test_a_message_that_was_captured_is_not_counted_twice(repository: MemoryRepository, tmp_path: Path):
    said = "Use pnpm instead of npm!"
    turn = NewTurn(
        "t-1",
        TurnKind.EXCHANGE,
        said,
        "Noted.",
        datetime.now(UTC),
        "general",
        "conversations",
        session_id="tom-12",
        user_id="tom",
    )
    vectors = repository.turns.embed([turn])
    repository.turns.file([turn], vectors, AUTHOR, threshold=0.88)
    history = write_history(tmp_path / "state.db", more=[("On npm.", said)])
    run(repository, history)
    (lesson,) = (one for one in repository.lessons.all() if "pnpm" in one.rule)
    assert Counter(piece.source for piece in lesson.evidence) == {"message": 3, "turn": 1}


def test_a_run_that_was_stopped_goes_on_where_it_was(
    repository: MemoryRepository, history: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(consolidating, "PORTION", 5)
    propose = consolidating.propose
    calls = []

    def stopped(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return propose(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(consolidating, "propose", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(repository, history)
    assert len(repository.lessons.all()) == 10
    monkeypatch.setattr(consolidating, "propose", propose)
    run(repository, history)
    counts = {lesson.rule: lesson.count for lesson in repository.lessons.all()}
    assert {rule: counts.get(rule, 0) for rule in EXPECTED} == EXPECTED


def test_prune_moves_only_what_nobody_has_seen_for_long(repository: MemoryRepository):
    old, new = (
        NewTurn(
            name, TurnKind.EXCHANGE, f"How is the {name} weather?", "Fine.", at, "general", "conversations"
        )
        for name, at in (
            ("old", datetime.now(UTC) - timedelta(days=200)),
            ("new", datetime.now(UTC)),
        )
    )
    repository.turns.file([old, new], repository.turns.embed([old, new]), AUTHOR, threshold=1.0)
    assert run(repository, None).prunable == 1
    assert run(repository, None, prune=True).pruned == 1
    assert repository.turns.ids() == ["new"]
